/** Minimisers against SciPy 1.10.1's results and known minima, through jit and vmap, and on trees. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { jit, type Tensor, tensor, vmap, where } from "../../../src/index.js";
import { optimize } from "../../../src/learn/index.js";
import { describeOnTensorDevices, f64, numbersOf } from "../../support/tensors.js";

/** Rosenbrock's function: one bent valley, its minimum 0 at ones. */
const valley = (x: Tensor): Tensor => {
  const last = x.shape[0] as number;
  const [a, b] = [x.at(`:${last - 1}`), x.at("1:")];
  return b.sub(a.square()).square().mul(100).add(a.sub(1).square()).sum() as Tensor;
};
const START = [1.3, 0.7, 0.8, 1.9, 1.2];
const near = (got: Tensor, want: readonly number[], within: number) =>
  numbersOf(got).forEach((value, i) => {
    assert.ok(Math.abs(value - want[i]!) <= within, `${value} at ${i}, not ${want[i]}`);
  });

describeOnTensorDevices("minimisers in f32", (_device) => {
  test("bfgs and lbfgs end at the bottom of the valley, inside jit", async () => {
    const both = jit((x: Tensor) => [
      optimize.bfgs(valley, x, { tol: 1e-3 }).x,
      optimize.lbfgs(valley, x, { tol: 1e-3 }).x,
    ]);
    for (const x of both(tensor(START))) near(x!, [1, 1, 1, 1, 1], 5e-3);
  });
});

test("bfgs and lbfgs take SciPy's number of rounds, more or less, to a gradient of 1e-8", () => {
  for (const method of [optimize.bfgs, optimize.lbfgs]) {
    const found = method(valley, f64(START), { tol: 1e-8 });
    near(found.x, [1, 1, 1, 1, 1], 1e-8);
    assert.ok(numbersOf(found.gradientNorm)[0]! <= 1e-8 && numbersOf(found.converged)[0] === 1);
    // SciPy takes 28 with either.
    const [rounds] = numbersOf(found.iterations);
    assert.ok(rounds! >= 20 && rounds! <= 40, `${rounds} rounds`);
  }
});

test("trees are minimised as trees, many starts at once by vmap, and too few rounds are told", () => {
  const bowl = ({ a, b }: { a: Tensor; b: Tensor[] }) => a.sub(3).square().sum().add(b[0]!.add(1).square()) as Tensor;
  const { x, value } = optimize.bfgs(bowl, { a: f64([0, 0]), b: [f64(5)] });
  near(x.a, [3, 3], 1e-6);
  near(x.b[0]!, [-1], 1e-6);
  near(value, [0], 1e-10);
  const starts = f64([
    [-1.2, 1],
    [2, 2],
    [0, 0],
  ]);
  const many = vmap((from: Tensor) => optimize.lbfgs(valley, from, { tol: 1e-8 }))(starts);
  near(many.x, [1, 1, 1, 1, 1, 1], 1e-7);
  assert.equal(numbersOf(optimize.lbfgs(valley, f64(START), { maxIter: 3 }).converged)[0], 0);
});

test("nelderMead goes SciPy's way, step by step", () => {
  const plain = optimize.nelderMead(valley, f64(START));
  near(plain.x, [0.99910115, 0.99820923, 0.99646346, 0.99297555, 0.98600385], 1e-8);
  // SciPy counts the first simplex as a round: 141.
  assert.equal(numbersOf(plain.iterations)[0], 140);
  const adaptive = optimize.nelderMead(valley, f64(START), { adaptive: true, tol: 1e-9, maxIter: 3000 });
  near(adaptive.x, [1, 1, 1, 1, 1], 1e-6);
});

test("brent and goldenSection find the minimum between two numbers, and bracket finds the numbers", () => {
  const wave = (x: Tensor) => x.sin().add(x.mul(10 / 3).sin()) as Tensor;
  const ends = optimize.bracket(wave, f64(4.5), f64(4.6));
  assert.equal(numbersOf(ends.converged)[0], 1);
  for (const method of [optimize.brent, optimize.goldenSection]) {
    const found = method(wave, ends.lower, ends.upper);
    near(found.x, [5.145735288993747], 1e-7);
    near(found.value, [-1.8995993491521133], 1e-14);
    assert.equal(numbersOf(found.converged)[0], 1);
  }
  const slopes = vmap((a: Tensor) => optimize.brent((x) => x.sub(a).square() as Tensor, -10, 10).x)(
    tensor([1, -2], { device: "cpu" }),
  );
  near(slopes, [1, -2], 1e-3);
});

test("misuse is refused by name", () => {
  assert.throws(() => optimize.lbfgs(valley, f64(START), { tol: -1 }), /optimize.lbfgs: tol is -1/);
  assert.throws(() => optimize.lbfgs((x) => x as Tensor, f64(START)), /the function gives one number in a tensor/);
  assert.throws(() => optimize.bfgs(3 as never, f64(1)), /optimize.bfgs/);
  assert.throws(() => optimize.lbfgs(valley, f64(START), { memory: 0 }), /the memory is a whole number from 1 on/);
  assert.throws(() => optimize.brent((x) => x, "0" as never, 1), /an end is "0"/);
  assert.throws(() => optimize.bfgs(() => f64(1), tensor([1], { dtype: "i32", device: "cpu" })), /i32/);
});

test("nelderMead leaves where a function is infinite or NaN, and has not converged where it is nothing else", () => {
  const logs = (x: Tensor): Tensor => x.sub(x.log()).sum() as Tensor;
  const found = optimize.nelderMead(logs, f64([0.01, 3]));
  near(found.x, [1, 1], 1e-4);
  assert.equal(numbersOf(found.converged)[0], 1);
  for (const start of [f64([-1, -2]), f64([-1, 3])]) {
    for (const outside of [Number.NaN, Number.POSITIVE_INFINITY]) {
      const f = (x: Tensor): Tensor => where(x.at(0).less(0), outside, x.square().sum()) as Tensor;
      assert.equal(numbersOf(optimize.nelderMead(f, start, { maxIter: 50 }).converged)[0], 0, `${outside}`);
    }
  }
});
