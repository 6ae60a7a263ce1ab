/**
 * grad, vmap, jit and scan in every order. Functions here act on each element by itself, so that every composition has an
 * oracle in plain JavaScript: jit and vmap change nothing, scan applies the function three times, grad takes its slope.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  grad,
  hessian,
  jacobian,
  jit,
  jvp,
  scan,
  type Tensor,
  tensor,
  valueAndGrad,
  vjp,
  vmap,
} from "../../src/index.js";
import { describeOnTensorDevices, numbersOf } from "../support/tensors.js";

type F = (w: Tensor, x: Tensor) => Tensor;
type Plain = (w: number, x: number) => number;

const ROUNDS = 3;

/** The slope by the first argument: central differences, extrapolated twice. */
const slopeOf =
  (f: Plain): Plain =>
  (w, x) => {
    const central = (h: number) => (f(w + h, x) - f(w - h, x)) / (2 * h);
    const [a, b, c] = [central(2 ** -6), central(2 ** -7), central(2 ** -8)];
    const [d, e] = [(4 * b - a) / 3, (4 * c - b) / 3];
    return (16 * e - d) / 15;
  };

const transforms = {
  grad: {
    apply: (f: F): F => grad((w: Tensor, x: Tensor) => f(w, x).sum()),
    plain: slopeOf,
  },
  vmap: {
    apply:
      (f: F): F =>
      (w, x) =>
        vmap(f)(w, x),
    plain: (f: Plain): Plain => f,
  },
  jit: {
    apply: (f: F): F => jit(f),
    plain: (f: Plain): Plain => f,
  },
  scan: {
    apply:
      (f: F): F =>
      (w, x) =>
        scan((c: Tensor, _: null) => [f(c, x), null] as const, w, null, { length: ROUNDS })[0],
    plain:
      (f: Plain): Plain =>
      (w, x) => {
        let c = w;
        for (let i = 0; i < ROUNDS; i++) c = f(c, x);
        return c;
      },
  },
} as const;
type Name = keyof typeof transforms;

const functions: Readonly<Record<string, readonly [F, Plain]>> = {
  waves: [(w, x) => w.mul(x).sin().add(w.mul(0.5)), (w, x) => Math.sin(w * x) + w * 0.5],
  "a choice": [
    (w, x) => w.mul(x).tanh().mul(x.greater(0).cast("f64").add(0.5)).add(w.square().mul(0.1)),
    (w, x) => Math.tanh(w * x) * (x > 0 ? 1.5 : 0.5) + w * w * 0.1,
  ],
};

function permutations<T>(list: readonly T[]): T[][] {
  if (list.length === 0) return [[]];
  return list.flatMap((first, i) => permutations(list.toSpliced(i, 1)).map((rest) => [first, ...rest]));
}

const orders: Name[][] = [
  ...permutations<Name>(["grad", "vmap", "jit", "scan"]),
  ["grad", "scan", "grad"],
  ["scan", "grad", "scan"],
  ["jit", "grad", "scan", "grad"],
  ["vmap", "vmap", "grad", "scan"],
  ["jit", "jit", "scan", "vmap", "vmap"],
  ["scan", "jit", "scan", "jit"],
];

describeOnTensorDevices("compositions", () => {
  const W = [0.3, -0.7, 1.1, 0.2, -0.4, 0.9, -1.2, 0.5];
  const X = [0.8, -0.5, 0.4, 1.2, 0.6, -0.9, 0.3, -1.1];
  const shape = [2, 2, 2];
  const input = (values: readonly number[]) => tensor([...values], { shape, dtype: "f64" });

  for (const order of orders) {
    test(order.join(" of "), () => {
      for (const [name, [f, plain]] of Object.entries(functions)) {
        const composed = order.reduceRight<F>((g, each) => transforms[each].apply(g), f);
        const oracle = order.reduceRight<Plain>((g, each) => transforms[each].plain(g), plain);
        for (let call = 0; call < 2; call++) {
          const got = numbersOf(composed(input(W), input(X.map((x) => x + call / 8))));
          for (const [i, value] of got.entries()) {
            const want = oracle(W[i]!, X[i]! + call / 8);
            assert.ok(Math.abs(value - want) <= 1e-6 * (1 + Math.abs(want)), `${name}: ${value}, not ${want}`);
          }
        }
      }
    });
  }
});

describeOnTensorDevices("a recurrent network", () => {
  interface Weights {
    readonly w: Tensor;
    readonly u: Tensor;
    readonly b: Tensor;
  }
  const values = (shape: readonly number[], seed: number) =>
    tensor(
      Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, i) => Math.sin(1.7 * i + seed)),
      { shape, dtype: "f64" },
    );
  const weights = (): Weights => ({ w: values([3, 3], 1), u: values([3, 2], 2), b: values([3], 3) });
  const cell = ({ w, u, b }: Weights, h: Tensor, x: Tensor) => w.matmul(h).add(u.matmul(x)).add(b).tanh();
  const start = () => values([3], 4);

  /** One sequence [rounds, 2] to one number, by a loop of the library and by one of JavaScript. */
  const looped = (p: Weights, xs: Tensor) => {
    const [last, all] = scan((h: Tensor, x: Tensor) => [cell(p, h, x), h.mul(0.5).sum()] as const, start(), xs);
    return last.square().sum().add(all.sum());
  };
  const unrolled = (p: Weights, xs: Tensor) => {
    let h: Tensor = start();
    let sum: Tensor = tensor(0, { dtype: "f64" });
    for (let i = 0; i < xs.shape[0]!; i++) {
      sum = sum.add(h.mul(0.5).sum());
      h = cell(p, h, xs.at(i));
    }
    return h.square().sum().add(sum);
  };
  function same(got: Tensor, want: Tensor): void {
    const [a, b] = [numbersOf(got), numbersOf(want)];
    assert.deepEqual(got.shape, want.shape);
    for (const [i, x] of a.entries())
      assert.ok(Math.abs(x - b[i]!) <= 1e-12 * (1 + Math.abs(b[i]!)), `${x}, not ${b[i]}`);
  }
  const sequences = () => values([4, 5, 2], 5);

  test("the gradients of a batch, however the transforms are nested, are those of the loop written out", () => {
    const overBatch = (f: typeof looped) => (p: Weights, xs: Tensor) => vmap(f, { in: [null, 0] })(p, xs).mean();
    const want = grad(overBatch(unrolled))(weights(), sequences());
    const ways: Readonly<Record<string, (p: Weights, xs: Tensor) => Weights>> = {
      "grad of vmap of scan": grad(overBatch(looped)),
      "jit of grad of vmap of scan": jit(grad(overBatch(looped))),
      "grad of vmap of jit of scan": grad(overBatch(jit(looped))),
      "grad of jit of vmap of scan": grad(jit(overBatch(looped))),
      "jit of valueAndGrad": jit((p: Weights, xs: Tensor) => valueAndGrad(overBatch(looped))(p, xs)[1]),
      "mean of vmap of jit of grad": (p, xs) => {
        const each = vmap(jit(grad(looped)), { in: [null, 0] })(p, xs);
        return { w: each.w.mean({ axis: 0 }), u: each.u.mean({ axis: 0 }), b: each.b.mean({ axis: 0 }) };
      },
    };
    for (const way of Object.values(ways)) {
      for (let call = 0; call < 2; call++) {
        const got = way(weights(), sequences());
        for (const name of ["w", "u", "b"] as const) same(got[name], want[name]);
      }
    }
  });

  test("Jacobians, Hessians and pullbacks through loops are those of the loop written out", () => {
    const ofBias = (f: typeof looped) => (b: Tensor) => f({ ...weights(), b }, sequences().at(0));
    const b = values([3], 3);
    same(hessian(ofBias(looped))(b), hessian(ofBias(unrolled))(b));
    same(jit(hessian(ofBias(looped)))(b), hessian(ofBias(unrolled))(b));
    const states = (f: "loop" | "plain") => (h: Tensor) => {
      const xs = sequences().at(1);
      if (f === "loop") return scan((c: Tensor, x: Tensor) => [cell(weights(), c, x), null] as const, h, xs)[0];
      return Array.from({ length: 5 }, (_, i) => xs.at(i)).reduce((c, x) => cell(weights(), c, x), h);
    };
    for (const mode of ["forward", "reverse"] as const) {
      same(jacobian(states("loop"), { mode })(b), jacobian(states("plain"), { mode })(b));
    }
    same(jvp(states("loop"), [b], [b])[1], jvp(states("plain"), [b], [b])[1]);
    same(vjp(states("loop"), b)[1](b)[0], vjp(states("plain"), b)[1](b)[0]);
  });

  test("training in a loop of steps, jitted as a whole, is training step by step", () => {
    const xs = sequences();
    const loss = (p: Weights) => vmap(looped, { in: [null, 0] })(p, xs).mean();
    const descend = (p: Weights): Weights => {
      const g = grad(loss)(p);
      return { w: p.w.sub(g.w.mul(0.05)), u: p.u.sub(g.u.mul(0.05)), b: p.b.sub(g.b.mul(0.05)) };
    };
    const whole = jit((p: Weights) =>
      scan((c: Weights, _: null) => [descend(c), loss(c)] as const, p, null, { length: 6 }),
    );
    const [end, losses] = whole(weights());
    let p = weights();
    const want: number[] = [];
    for (let i = 0; i < 6; i++) {
      want.push(loss(p).itemSync() as number);
      p = descend(p);
    }
    for (const name of ["w", "u", "b"] as const) same(end[name], p[name]);
    same(losses, tensor(want, { dtype: "f64" }));
    assert.ok(want[5]! < want[0]!);
  });
});
