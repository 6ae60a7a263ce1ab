/** Derivatives by hand, gradients that stop, and values that are computed again instead of kept. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { ArgumentError, ShapeError, UnsupportedError } from "../../src/core/errors.js";
import {
  checkpoint,
  customGradient,
  full,
  grad,
  hessian,
  jacobian,
  jit,
  jvp,
  scan,
  stopGradient,
  type Tensor,
  tensor,
  valueAndGrad,
  vjp,
  vmap,
  zeros,
} from "../../src/index.js";
import { workOf } from "../support/jit-check.js";
import { kernelCount } from "../support/program-text.js";
import { describeOnTensorDevices, numbersOf } from "../support/tensors.js";

const f64 = { dtype: "f64" } as const;
const x = () => tensor([0.5, -1, 2], f64) as Tensor;
const ones = () => tensor([1, 1, 1], f64) as Tensor;

function near(got: Tensor, want: readonly number[], tolerance = 1e-12): void {
  for (const [i, value] of numbersOf(got).entries()) {
    assert.ok(Math.abs(value - want[i]!) <= tolerance * (1 + Math.abs(want[i]!)), `${value}, not ${want[i]}`);
  }
}

describeOnTensorDevices("customGradient", () => {
  // Wrong on purpose, and each in its own way, so that one sees which was used.
  const byVjp = customGradient((a: Tensor) => a.square(), {
    vjp: (ct: Tensor, _y: Tensor, a: Tensor) => [ct.mul(a).mul(100)],
  });
  const byJvp = customGradient((a: Tensor) => a.square(), {
    jvp: ([t]: readonly [Tensor], a: Tensor) => t.mul(a).mul(10),
  });
  const byBoth = customGradient((a: Tensor) => a.square(), {
    vjp: (ct: Tensor, _y: Tensor, a: Tensor) => [ct.mul(a).mul(100)],
    jvp: ([t]: readonly [Tensor], a: Tensor) => t.mul(a).mul(10),
  });
  const values = [0.5, -1, 2];
  const times = (factor: number) => values.map((value) => value * factor);
  const reverse = (f: (a: Tensor) => Tensor) => grad((a: Tensor) => f(a).sum())(x());
  const forward = (f: (a: Tensor) => Tensor) => jvp(f, [x()], [ones()])[1];

  test("values are the function's; derivatives are those given, each way or by transposing the other", () => {
    for (const f of [byVjp, byJvp, byBoth]) near(f(x()), [0.25, 1, 4]);
    near(reverse(byVjp), times(100));
    near(forward(byVjp), times(100));
    near(reverse(byJvp), times(10));
    near(forward(byJvp), times(10));
    near(reverse(byBoth), times(100));
    near(forward(byBoth), times(10));
  });

  test("the same under jit, vmap, vmap of grad, grad of vmap, and in loops", () => {
    for (const [f, back, there] of [
      [byVjp, 100, 100],
      [byJvp, 10, 10],
      [byBoth, 100, 10],
    ] as const) {
      near(jit(f)(x()), [0.25, 1, 4]);
      near(jit(grad((a: Tensor) => f(a).sum()))(x()), times(back));
      near(vmap(f)(x()), [0.25, 1, 4]);
      near(vmap(grad(f as (a: Tensor) => Tensor))(x()), times(back));
      near(grad((a: Tensor) => vmap(f)(a).sum())(x()), times(back));
      near(
        vmap((a: Tensor) => jvp(f, [a], [a])[1])(x()),
        values.map((v) => v * v * there),
      );
      near(jvp((a: Tensor) => vmap(f)(a), [x()], [ones()])[1], times(there));
      near(vmap(vmap(grad(f as (a: Tensor) => Tensor)))(x().reshape(3, 1)), times(back));
      const summed = (a: Tensor) =>
        scan((c: Tensor, b: Tensor) => [c.add(f(b)), null] as const, tensor(0, f64) as Tensor, a)[0];
      near(grad(summed)(x()), times(back));
      near(jvp(summed, [x()], [ones()])[1], [1.5 * there]);
    }
  });

  test("second order: the rule is differentiated in its turn", () => {
    // The slope of 100·x by hand is 100.
    near(grad((a: Tensor) => reverseOf(byVjp, a).sum())(x()), [100, 100, 100]);
    near(hessian((a: Tensor) => byVjp(a).sum())(x()), [100, 0, 0, 0, 100, 0, 0, 0, 100]);
    near(grad((a: Tensor) => reverseOf(byJvp, a).sum())(x()), [10, 10, 10]);
    near(jvp((a: Tensor) => jvp(byJvp, [a], [ones()])[1], [x()], [ones()])[1], [10, 10, 10]);
    const exp = customGradient((a: Tensor) => a.exp(), { vjp: (ct: Tensor, y: Tensor) => [ct.mul(y)] });
    const want = values.map(Math.exp);
    near(exp(x()), want);
    near(grad((a: Tensor) => exp(a).sum())(x()), want);
    near(grad((a: Tensor) => reverseOf(exp, a).sum())(x()), want);
    near(jvp((a: Tensor) => reverseOf(exp, a), [x()], [ones()])[1], want);
  });
  const reverseOf = (f: (a: Tensor) => Tensor, a: Tensor) => grad((b: Tensor) => f(b).sum())(a);

  test("arguments and results may be trees, gradients may be left out, integers have none", () => {
    interface Pair {
      readonly a: Tensor;
      readonly b: readonly Tensor[];
    }
    const f = customGradient((p: Pair, n: Tensor) => ({ sum: p.a.add(p.b[0]!), taken: p.b[0]!.take(n, { axis: 0 }) }), {
      vjp: (ct, result, _p: Pair, n: Tensor) => {
        assert.deepEqual([ct.sum.shape, result.taken.shape, n.dtype], [[3], [], "i32"]);
        return [{ a: ct.sum.mul(7), b: [null] }, null];
      },
    });
    const n = tensor(1, { dtype: "i32" }) as Tensor;
    const loss = (p: Pair) => {
      const { sum, taken } = f(p, n);
      return sum.sum().add(taken);
    };
    const gradient = grad(loss)({ a: x(), b: [x()] });
    near(gradient.a, [7, 7, 7]);
    near(gradient.b[0]!, [0, 0, 0]);
    const rows = { a: tensor([1, 2, 3, 4, 5, 6], { ...f64, shape: [2, 3] }) as Tensor, b: [x()] };
    const [whole] = vjp((p: Pair) => vmap(loss, { in: [{ a: 0, b: [null] }] })(p), rows)[1](
      tensor([1, 10], f64) as Tensor,
    );
    near(whole.a, [7, 7, 7, 70, 70, 70]);
    near(whole.b[0]!, [0, 0, 0]);
  });

  test("under vmap, an argument that the members share gets the sum over them", () => {
    const product = customGradient((a: Tensor, w: Tensor) => a.mul(w), {
      vjp: (ct: Tensor, _y: Tensor, a: Tensor, w: Tensor) => [ct.mul(w), ct.mul(a)],
    });
    const rows = tensor([1, 2, 3, 4, 5, 6], { ...f64, shape: [2, 3] }) as Tensor;
    const loss = (m: Tensor, w: Tensor) => vmap(product, { in: [0, null] })(m, w).sum();
    const [byRows, byShared] = grad(loss, { argument: [0, 1] })(rows, x());
    near(byRows, [...values, ...values]);
    near(byShared, [5, 7, 9]);
    near(jit(grad(loss, { argument: 1 }))(rows, x()), [5, 7, 9]);
  });

  test("serves its purposes: steps with a slope, slopes that stay finite, gradients that are cut to size", () => {
    const round = customGradient((a: Tensor) => a.round(), { vjp: (ct: Tensor) => [ct] });
    near(grad((a: Tensor) => round(a).mul(a).sum())(x()), [0.5, -2, 4]);
    const softplus = customGradient((a: Tensor) => a.exp().add(1).log(), {
      vjp: (ct: Tensor, _y: Tensor, a: Tensor) => [ct.mul(a.sigmoid())],
    });
    near(grad((a: Tensor) => softplus(a).sum())(tensor([800, 0, -800], f64) as Tensor), [1, 0.5, 0]);
    const clipped = customGradient((a: Tensor) => a.mul(1), { vjp: (ct: Tensor) => [ct.clip(-1, 1)] });
    near(grad((a: Tensor) => clipped(a).square().sum())(x()), [1, -1, 1]);
  });

  test("a rule that cannot be transposed, not being linear, serves its own direction; for the other it asks for a rule", () => {
    const clipped = customGradient((a: Tensor) => a.mul(1), { vjp: (ct: Tensor) => [ct.clip(-1, 1)] });
    const loss = (a: Tensor) => clipped(a).square().sum();
    near(grad(loss)(x()), [1, -1, 1]);
    const wanted = { name: UnsupportedError.name, message: /customGradient: .*vjp is not linear.*give a jvp, too/ };
    assert.throws(() => jvp(clipped, [x()], [ones()]), wanted);
    assert.throws(() => jacobian(clipped, { mode: "forward" })(x()), wanted);
    assert.throws(() => hessian(loss)(x()), wanted);
    assert.throws(() => jit((a: Tensor) => jvp(clipped, [a], [a])[1])(x()), wanted);
    assert.throws(() => jvp((a: Tensor) => vmap(clipped)(a), [x()], [ones()]), wanted);
    const inLoop = (a: Tensor) => scan((c: Tensor) => [clipped(c), null] as const, a, null, { length: 2 })[0];
    assert.throws(() => jvp(inLoop, [x()], [ones()]), wanted);
    // The gradient is clip(2x): its slope is 2 inside of ±½ and 0 outside.
    const withBoth = customGradient((a: Tensor) => a.mul(1), {
      vjp: (ct: Tensor) => [ct.clip(-1, 1)],
      jvp: ([t]: readonly [Tensor]) => t,
    });
    const at = tensor([0.25, -1, 2], f64) as Tensor;
    near(hessian((a: Tensor) => withBoth(a).square().sum())(at), [2, 0, 0, 0, 0, 0, 0, 0, 0]);
    const onward = customGradient((a: Tensor) => a.mul(1), { jvp: ([t]: readonly [Tensor]) => t.clip(-1, 1) });
    near(jvp(onward, [x()], [x()])[1], [0.5, -1, 1]);
    assert.throws(() => grad((a: Tensor) => onward(a).sum())(x()), {
      name: UnsupportedError.name,
      message: /customGradient: .*jvp is not linear.*give a vjp, too/,
    });
  });

  test("refuses rules that do not fit, and says how", () => {
    const loose = (rules: object) =>
      customGradient((a: Tensor, b: Tensor) => a.add(b), rules as never) as (a: Tensor, b: Tensor) => Tensor;
    assert.throws(() => loose({}), { name: ArgumentError.name, message: /give a vjp or a jvp/ });
    const use = (rules: object) => () => grad((a: Tensor) => loose(rules)(a, x()).sum())(x());
    assert.throws(use({ vjp: (ct: Tensor) => ct }), {
      name: ArgumentError.name,
      message: /customGradient, vjp: the trees differ/,
    });
    assert.throws(use({ vjp: (ct: Tensor) => [ct] }), { name: ArgumentError.name, message: /array of 2.*array of 1/ });
    assert.throws(use({ vjp: (ct: Tensor) => [ct.sum(), null] }), {
      name: ShapeError.name,
      message: /vjp: \[0\] has the shape \[\]; what it goes with has \[3\]/,
    });
    assert.throws(use({ vjp: () => [1, null] }), {
      name: ArgumentError.name,
      message: /\[0\] is a number; return a tensor, or null/,
    });
    assert.throws(() => jvp((a: Tensor) => loose({ jvp: ([t]: Tensor[]) => t!.sum() })(a, x()), [x()], [x()]), {
      name: ShapeError.name,
      message: /customGradient, jvp: what was returned has the shape \[\]/,
    });
    const closing = (w: Tensor) => customGradient((a: Tensor) => a.mul(w), { vjp: (ct: Tensor) => [ct] })(x()).sum();
    assert.throws(() => grad(closing)(x()), {
      name: ArgumentError.name,
      message: /not among its arguments; pass it as one/,
    });
    near(closing(x()), [5.25]);
  });
});

describeOnTensorDevices("stopGradient", () => {
  test("values pass and gradients do not, in either direction, in trees, under vmap and jit and in loops", () => {
    const f = (a: Tensor) => a.mul(stopGradient(a)).sum();
    near(f(x()), [5.25]);
    const want = [0.5, -1, 2];
    near(grad(f)(x()), want);
    near(jit(grad(f))(x()), want);
    near(jvp((a: Tensor) => a.mul(stopGradient(a)), [x()], [ones()])[1], want);
    near(grad((a: Tensor) => vmap((b: Tensor) => b.mul(stopGradient(b)))(a).sum())(x()), want);
    near(
      grad(
        (a: Tensor) =>
          scan(
            (c: Tensor, b: Tensor) => [c.add(b.mul(stopGradient(b))), null] as const,
            tensor(0, f64) as Tensor,
            a,
          )[0],
      )(x()),
      want,
    );
    near(
      grad((p: { a: Tensor; b: Tensor }) => {
        const q = stopGradient(p);
        return p.a.mul(q.b).add(q.a.mul(q.b)).sum();
      })({ a: x(), b: ones() }).a,
      [1, 1, 1],
    );
    near(grad((a: Tensor) => grad((b: Tensor) => b.mul(stopGradient(b)).mul(b).sum())(a).sum())(x()), times(2, want));
  });
  const times = (factor: number, list: readonly number[]) => list.map((value) => factor * value);
});

describeOnTensorDevices("checkpoint", (device) => {
  const n = 64;
  const layer = (w: Tensor, h: Tensor) => w.matmul(h).tanh();
  const layers = (count: number) => (w: Tensor, h: Tensor) => {
    let y = h;
    for (let i = 0; i < count; i++) y = layer(w, y);
    return y;
  };
  /** Sixteen layers, plain or in four parts that are computed again. */
  const plain = (w: Tensor, h: Tensor) => layers(16)(w, h).square().sum();
  const inParts = (w: Tensor, h: Tensor) => {
    const part = checkpoint(layers(4));
    return part(w, part(w, part(w, part(w, h))))
      .square()
      .sum();
  };
  const inputs = () => {
    const of = (seed: number) =>
      tensor(
        Float32Array.from({ length: n * n }, (_, i) => Math.sin(i * seed) / 4),
        { shape: [n, n] },
      ) as Tensor;
    return [of(0.7), of(1.3)] as const;
  };

  test("changes neither values nor gradients", () => {
    const [value, gradients] = valueAndGrad(plain, { argument: [0, 1] })(...inputs());
    const [again, others] = jit(valueAndGrad(inParts, { argument: [0, 1] }))(...inputs());
    assert.ok(Math.abs((again.itemSync() as number) / (value.itemSync() as number) - 1) < 1e-6);
    for (const [i, gradient] of gradients.entries()) {
      const scale = Math.max(...numbersOf(gradient).map(Math.abs));
      const want = numbersOf(gradient);
      for (const [k, got] of numbersOf(others[i]!).entries()) assert.ok(Math.abs(got - want[k]!) <= 1e-5 * scale);
    }
    near(jacobian(checkpoint((a: Tensor) => a.square()))(x()), [1, 0, 0, 0, -2, 0, 0, 0, 4]);
  });

  test("computes again what it does not keep: more kernels, less memory", () => {
    // Large, because a small arena may grow to keep a device busy.
    const large = () => [zeros([1536, 1536]), zeros([1536, 1536])] as const;
    const lowered = (f: typeof plain) => jit(grad(f, { argument: 1 })).lower(...large());
    const [kept, recomputed] = [lowered(plain), lowered(inParts)];
    const layersIn = (text: string) => kernelCount(text, /^tanh\[/);
    // What a part returns is kept, being what the next one begins with: of each part three layers are computed again.
    assert.equal(layersIn(recomputed.kernels) - layersIn(kept.kernels), 12);
    assert.ok(kernelCount(recomputed.kernels) >= kernelCount(kept.kernels) + 12);
    assert.match(recomputed.graph, /recompute/);
    // A GPU that runs kernels side by side keeps a little more.
    assert.ok(
      recomputed.memory.arenaBytes <= 0.7 * kept.memory.arenaBytes,
      `${recomputed.memory.arenaBytes} of ${kept.memory.arenaBytes} bytes`,
    );
    const forward = (f: typeof plain) => kernelCount(jit(f).lower(...large()).kernels);
    assert.equal(forward(inParts), forward(plain), "nothing is computed twice where there is no way back");
  });

  test("in a loop of steps the program is found again", () => {
    const small = (a: Tensor) => checkpoint((b: Tensor) => b.exp().sin())(a).sum();
    numbersOf(grad(small)(x()));
    const { compiled } = workOf(device);
    for (let i = 1; i < 4; i++) numbersOf(grad(small)(tensor([i, 2, 3], f64) as Tensor));
    assert.equal(workOf(device).compiled, compiled);
  });

  test("captures tensors, also such as are constants, and their gradients count", () => {
    const loss = (w: Tensor) => checkpoint((a: Tensor) => a.mul(w).exp())(x()).sum();
    const want = [0.5, -1, 2].map((v) => v * Math.exp(2 * v));
    near(grad(loss)(tensor([2, 2, 2], f64) as Tensor), want);
    near(grad(loss)(full([3], 2, f64) as Tensor), want);
  });

  test("of a checkpoint of a checkpoint, and gradients of gradients", () => {
    const f = checkpoint((a: Tensor) =>
      checkpoint((b: Tensor) => checkpoint((c: Tensor) => c.sin())(b).mul(b))(a.mul(2)),
    );
    // 2x·sin 2x
    const [first, second] = [
      (v: number) => 2 * Math.sin(2 * v) + 4 * v * Math.cos(2 * v),
      (v: number) => 8 * Math.cos(2 * v) - 8 * v * Math.sin(2 * v),
    ];
    const values = [0.5, -1, 2];
    const slope = (a: Tensor) => grad((b: Tensor) => f(b).sum())(a);
    near(
      f(x()),
      values.map((v) => 2 * v * Math.sin(2 * v)),
    );
    near(slope(x()), values.map(first));
    near(jit(slope)(x()), values.map(first));
    near(grad((a: Tensor) => slope(a).sum())(x()), values.map(second));
    near(jvp(slope, [x()], [ones()])[1], values.map(second));
    near(vmap(grad((a: Tensor) => f(a)))(x()), values.map(first));
  });
});
