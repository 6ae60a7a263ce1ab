/** vmap of every operation against a loop, and with the other transforms in every order. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import {
  eye,
  fft,
  grad,
  jvp,
  linalg,
  random as randomNumbers,
  setDefaultDevice,
  signal,
  stack,
  type Tensor,
  tensor,
  vmap,
} from "../../src/index.js";
import { WINDOWS } from "../../src/signal/window-values.js";
import { floats, operationCases } from "../support/operation-cases.js";
import { operations } from "../support/tensor-members.js";
import { devicesWithDoubles, numbersOf } from "../support/tensors.js";
import { checkVmap } from "../support/vmap-check.js";

for (const device of devicesWithDoubles()) {
  describe(`vmap is a loop over the members, ${device}`, () => {
    before(() => setDefaultDevice(device));
    after(() => setDefaultDevice("cpu"));
    for (const operation of operationCases) test(operation.name, () => checkVmap(operation, device));
  });
}

before(() => setDefaultDevice("cpu"));

const random = (shape: readonly number[], seed: number, low = -2, high = 2): Tensor => {
  const { values } = floats(shape, low, high)(seed);
  return tensor([...values], { shape, dtype: "f64" });
};

/** The members of a tensor along its first axis. */
const membersOf = (x: Tensor): Tensor[] => x.unstack();

function same(got: Tensor, want: Tensor, tolerance = 1e-12): void {
  assert.deepEqual(got.shape, want.shape);
  const [a, b] = [numbersOf(got), numbersOf(want)];
  for (const [i, x] of a.entries())
    assert.ok(Math.abs(x - b[i]!) <= tolerance * (1 + Math.abs(b[i]!)), `${x} is not ${b[i]}`);
}

test("every method that computes has a case", () => {
  const cases = new Set(operationCases.map(({ name }) => name.split(/[ ,]/)[0]));
  const values = [
    "data",
    "dataSync",
    "bytes",
    "item",
    "itemSync",
    "array",
    "arraySync",
    "to",
    "toDevice",
    "realize",
    "ndim",
  ];
  // Their shape depends on values, which are not there in a trace.
  const shaped = [
    ...["nonzero", "argwhere", "unique", "uniqueAll", "uniqueCounts", "uniqueInverse", "uniqueValues"],
    ...["union1d", "intersect1d", "setdiff1d", "setxor1d"],
  ];
  // Bits have no neighbours; linalg.check waits for values; cg and gmres take a function (linalg/iterative.test.ts, gmres.test.ts).
  const others = [...values, ...shaped, "bitcast", "check", "cg", "gmres"];
  // These make tensors of numbers.
  const made = ["fftfreq", "rfftfreq", "getWindow", ...Object.keys(WINDOWS)];
  const all = [...operations(), ...[linalg, fft, signal].flatMap((space) => Object.keys(space))];
  assert.deepEqual(
    all.filter((name) => !cases.has(name) && !others.includes(name) && !made.includes(name)),
    [],
  );
});

describe("vmap of vmap", () => {
  const positions = tensor([0, 2, 2], { dtype: "i32" });
  const pairs: Readonly<Record<string, (x: Tensor, y: Tensor) => Tensor>> = {
    matmul: (x, y) => x.matmul(y),
    take: (x, y) => x.take(positions, { axis: 0 }).mul(y),
    scatter: (x, y) => x.addAt(positions, y),
    sort: (x, y) => x.sort({ axis: 0 }).sub(y),
    solve: (x, y) => linalg.triangularSolve(x.add(eye(3, 3, { dtype: "f64" }).mul(5)), y),
    conv: (x, y) => x.expandDims(0).conv(y.expandDims(0), { padding: "same" }),
    cumprod: (x, y) => x.cumprod({ axis: 0 }).add(y),
  };
  for (const [name, f] of Object.entries(pairs)) {
    test(`${name}: all pairs of two batches`, () => {
      const [x, y] = [random([2, 3, 3], 1), random([4, 3, 3], 2)];
      const got = vmap(vmap(f, { in: [null, 0] }), { in: [0, null] })(x, y);
      const want = stack(membersOf(x).map((a) => stack(membersOf(y).map((b) => f(a, b)))));
      same(got, want);
      const inward = vmap(vmap(f, { in: [0, null], out: -1 }), { in: [null, 0], out: 1 })(x, y);
      same(inward.moveAxis(-1, 0).moveAxis(2, 1), want);
    });
  }
});

describe("vmap of trees", () => {
  interface Layer {
    readonly weight: Tensor;
    readonly bias: Tensor | null;
  }
  const apply = ({ weight, bias }: Layer, x: Tensor) => ({
    out: bias ? weight.matmul(x).add(bias) : weight.matmul(x),
    parts: [x.sum(), weight] as const,
  });

  test("one axis for a whole argument, or a tree of axes; results are trees", () => {
    const layer = { weight: random([4, 2, 3], 1), bias: random([2, 4], 2) };
    const x = random([3, 4], 3);
    const got = vmap(apply, { in: [{ weight: 0, bias: 1 }, 1], out: { out: 1, parts: [0, 0] } })(layer, x);
    assert.deepEqual([got.out.shape, got.parts[0].shape, got.parts[1].shape], [[2, 4], [4], [4, 2, 3]]);
    const want = membersOf(layer.weight).map((weight, i) =>
      apply({ weight, bias: layer.bias.at(":", i) }, x.at(":", i)),
    );
    same(
      got.out,
      stack(
        want.map(({ out }) => out),
        { axis: 1 },
      ),
    );
    same(got.parts[0], stack(want.map(({ parts }) => parts[0])));
  });

  test("a tree of axes may end early: each goes for what is below", () => {
    const f = (m: { p: Layer; q: Tensor[] }, x: Tensor) => ({ p: apply(m.p, x), q: [m.q[0].mul(x.sum())] });
    const p = { weight: random([2, 3], 1), bias: random([2], 2) };
    const q = [random([4, 2], 3)];
    const x = random([4, 3], 4);
    const got = vmap(f, { in: [{ p: null, q: 0 }, 0], out: { p: { out: 1, parts: 0 }, q: 1 } })({ p, q }, x);
    const want = membersOf(x).map((each, i) => f({ p, q: [q[0].at(i)] }, each));
    const stacked = (of: (member: (typeof want)[number]) => Tensor, axis: number) => stack(want.map(of), { axis });
    same(
      got.p.out,
      stacked((member) => member.p.out, 1),
    );
    same(
      got.p.parts[0],
      stacked((member) => member.p.parts[0], 0),
    );
    same(
      got.p.parts[1],
      stacked((member) => member.p.parts[1], 0),
    );
    same(
      got.q[0],
      stacked((member) => member.q[0], 1),
    );
    const all = vmap((m: { p: Layer }) => ({ p: m.p }), { in: [{ p: 0 }], out: { p: 1 } })({
      p: { weight: random([5, 2], 1), bias: null },
    });
    assert.deepEqual([all.p.weight.shape, all.p.bias], [[2, 5], null]);
  });

  test("a tree of axes that goes on where the tensors end, or holds something else, is refused by its place", () => {
    const f = (m: { p: Tensor }) => m.p;
    const refuses = (axes: unknown, message: RegExp) =>
      assert.throws(() => vmap(f, { in: [axes as never] })({ p: random([2], 1) }), { name: "ArgumentError", message });
    refuses({ p: [0] }, /vmap: the trees differ at p: the first has a leaf, tree 2 has an array of 1/);
    refuses({ p: "0" }, /vmap: .* at p: .* the string "0"/);
    refuses({}, /vmap: the trees differ at the top.*key p.*without keys/);
    refuses(undefined, /vmap: .*tree 2 has undefined/);
  });

  test("null in a tree stays null, and what is not a tensor goes through", () => {
    const got = vmap(
      (layer: Layer, x: Tensor, how: string) => {
        assert.equal(layer.bias, null);
        assert.equal(how, "as it is");
        return apply(layer, x).out;
      },
      { in: [null, 0, null] },
    )({ weight: random([2, 3], 1), bias: null }, random([5, 3], 2), "as it is");
    assert.deepEqual(got.shape, [5, 2]);
  });

  test("a result that is the same for all members is repeated, or given once with { out: null }", () => {
    const [x, w] = [random([3, 2], 1), random([4], 2)];
    assert.deepEqual(vmap((a: Tensor) => [a, w] as const)(x)[1].shape, [3, 4]);
    const [, once] = vmap((a: Tensor) => [a, w] as const, { out: [0, null] })(x);
    assert.deepEqual(once.shape, [4]);
  });

  test("batches of none and of one", () => {
    const f = (x: Tensor) => x.matmul(x.T).softmax().sum({ axis: 0 });
    assert.deepEqual(vmap(f)(random([0, 3, 2], 1)).shape, [0, 3]);
    same(vmap(f)(random([1, 3, 2], 1)), f(random([1, 3, 2], 1).at(0)).expandDims(0));
  });
});

describe("vmap with random numbers", () => {
  test("a batch of keys gives what each key gives", () => {
    const keys = randomNumbers.split(randomNumbers.key(7), 3);
    const draw = (key: Tensor<"u32">) => ({
      normal: randomNumbers.normal(key, [4]),
      order: randomNumbers.permutation(key, 5),
      chosen: randomNumbers.categorical(key, tensor([0.1, 0.2, 0.7]).log(), { shape: [6] }),
    });
    const got = vmap(draw)(stack(keys) as Tensor<"u32">);
    const want = keys.map(draw);
    for (const name of ["normal", "order", "chosen"] as const) {
      same(got[name], stack(want.map((each) => each[name])), 0);
    }
  });
});

describe("vmap with gradients", () => {
  const w = random([3, 2], 11);
  const functions: Readonly<Record<string, (x: Tensor, w: Tensor) => Tensor>> = {
    "a layer": (x, each) => x.matmul(each).tanh().square().sum(),
    "a softmax": (x, each) => x.matmul(each).softmax().log().at(0).neg(),
    "a norm": (x, each) => each.norm({ axis: 1 }).mul(x).norm(),
    sorting: (x, each) => x.sort().matmul(each).max(),
    indexing: (x, each) => each.take(x.argsort().at("0:2"), { axis: 0 }).prod().add(x.cumprod().sum()),
    scattering: (x, each) =>
      each
        .addAt(tensor([1, 1], { dtype: "i32" }), x.at("0:2").expandDims(1))
        .exp()
        .sum(),
    factors: (x, each) =>
      linalg
        .cholesky(each.matmul(each.T).add(eye(3, 3, { dtype: "f64" })))
        .matmul(x)
        .prod(),
  };
  for (const [name, f] of Object.entries(functions)) {
    test(`${name}: the gradients of a batch are a batch of gradients`, () => {
      const x = random([4, 3], 12);
      const loop = membersOf(x).map((each) => grad(f, { argument: [0, 1] })(each, w));
      const [byX, byW] = vmap(grad(f, { argument: [0, 1] }), { in: [0, null] })(x, w);
      same(byX, stack(loop.map(([each]) => each)));
      same(byW, stack(loop.map(([, each]) => each)));
      const total = (a: Tensor, b: Tensor) => vmap(f, { in: [0, null] })(a, b).sum();
      const [byAll, byShared] = grad(total, { argument: [0, 1] })(x, w);
      same(byAll, byX);
      same(byShared, byW.sum({ axis: 0 }));
      const push = vmap((a: Tensor) => jvp((each: Tensor) => f(each, w), [a], [a])[1])(x);
      same(push, stack(loop.map(([each], i) => each.mul(x.at(i)).sum())));
    });
  }

  test("grad of vmap of grad, and vmap of grad of vmap", () => {
    const f = (a: Tensor, b: Tensor) => a.mul(b).sin().mul(a).sum();
    const [x, y] = [random([3, 2], 1), random([3, 2], 2)];
    // Σ (∂f/∂a)² over the batch, by b: elementwise in a and b, so that everything has a closed form.
    const slope = (a: number, b: number) => Math.sin(a * b) + a * b * Math.cos(a * b);
    const change = (a: number, b: number) => 2 * a * Math.cos(a * b) - a * a * b * Math.sin(a * b);
    const energy = (a: Tensor, b: Tensor) => vmap(grad(f))(a, b).square().sum();
    const [a, b] = [numbersOf(x), numbersOf(y)];
    const want = a.map((each, i) => 2 * slope(each, b[i]!) * change(each, b[i]!));
    same(grad(energy, { argument: 1 })(x, y), tensor(want, { shape: [3, 2], dtype: "f64" }));
    const nested = vmap(grad((each: Tensor, other: Tensor) => vmap(f, { in: [0, 0] })(each, other).sum()));
    const [deepX, deepY] = [x.expandDims(0), y.expandDims(0)];
    same(nested(deepX, deepY), vmap(grad(f))(x, y).expandDims(0));
  });
});
