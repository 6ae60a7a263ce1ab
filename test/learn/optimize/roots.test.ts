/** Root finders and least squares against known roots, SciPy 1.10.1 and NIST's certified values. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { jit, type Tensor, vmap } from "../../../src/index.js";
import { optimize } from "../../../src/learn/index.js";
import { f64, numbersOf } from "../../support/tensors.js";

const near = (got: Tensor, want: number, share: number) => {
  const [value] = numbersOf(got);
  assert.ok(Math.abs(value! - want) <= share * Math.abs(want), `${value}, not ${want}`);
};

test("bisect and brentq find the root between two ends", () => {
  // Wallis's equation, by which Newton showed his method.
  const wallis = (x: Tensor) => x.pow(3).sub(x.mul(2)).sub(5) as Tensor;
  const mixed = (x: Tensor) => x.exp().sub(2).sub(x.square().cos()) as Tensor;
  for (const [method, most] of [
    [optimize.bisect, 60],
    [optimize.brentq, 12],
  ] as const) {
    for (const [f, low, high, root] of [
      [wallis, 2, 3, 2.0945514815423265],
      [mixed, -1, 2, 0.9582710758719666],
    ] as const) {
      const found = method(f, f64(low), f64(high));
      near(found.x, root, 1e-14);
      assert.equal(numbersOf(found.converged)[0], 1);
      assert.ok(numbersOf(found.iterations)[0]! <= most);
    }
    assert.equal(numbersOf(method(wallis, f64(3), f64(4)).converged)[0], 0, "ends of one sign");
    near(method((x) => x.sub(2) as Tensor, f64(2), f64(5)).x, 2, 0);
  }
  const roots = vmap((a: Tensor) => optimize.brentq((x) => x.square().sub(a) as Tensor, f64(0), f64(10)).x)(
    f64([2, 3, 4]),
  );
  numbersOf(roots).forEach((root, i) => {
    assert.ok(Math.abs(root - Math.sqrt(i + 2)) < 1e-13);
  });
});

test("newton and broyden solve a system, as a tree, inside jit", () => {
  const system = ({ a, b }: { a: Tensor; b: Tensor }) => [
    a.add(a.sub(b).pow(3).mul(0.5)).sub(1),
    b.sub(a).pow(3).mul(0.5).add(b),
  ];
  for (const method of [optimize.newton, optimize.broyden]) {
    const found = jit((a: Tensor, b: Tensor) => method(system, { a, b }, { tol: 1e-12 }))(f64(0), f64(0));
    near(found.x.a, 0.8411639019140097, 1e-12);
    near(found.x.b, 0.15883609808599033, 1e-12);
    assert.equal(numbersOf(found.converged)[0], 1);
  }
  // Full steps from here run away: arctan's slope is small far out.
  const damped = optimize.newton((x: Tensor) => x.atan(), f64([20]), { tol: 1e-10 });
  assert.ok(Math.abs(numbersOf(damped.x)[0]!) < 1e-9);
});

test("levenbergMarquardt finds NIST's certified parameters of Misra1a from both of its starts", () => {
  const y = f64([10.07, 14.73, 17.94, 23.93, 29.61, 35.18, 40.02, 44.82, 50.76, 55.05, 61.01, 66.4, 75.47, 81.78]);
  const x = f64([77.6, 114.9, 141.1, 190.8, 239.9, 289, 332.8, 378.4, 434.8, 477.3, 536.8, 593.1, 689.1, 760]);
  const residuals = ({ b1, b2 }: { b1: Tensor; b2: Tensor }) => y.sub(b1.mul(b2.mul(x).neg().exp().neg().add(1)));
  for (const [b1, b2] of [
    [500, 1e-4],
    [250, 5e-4],
  ] as const) {
    const found = optimize.levenbergMarquardt(residuals, { b1: f64(b1), b2: f64(b2) });
    near(found.x.b1, 238.94212918, 1e-7);
    near(found.x.b2, 5.5015643181e-4, 1e-7);
    near(found.value.mul(2) as Tensor, 0.12455138894, 1e-9);
    assert.equal(numbersOf(found.converged)[0], 1);
  }
});

test("misuse is refused by name", () => {
  assert.throws(() => optimize.newton((x: Tensor) => [x, x], f64([1])), /1 unknowns and 2 residuals/);
  assert.throws(() => optimize.bisect((x) => x, f64([1, 2]), 3), /an end is/);
  assert.throws(() => optimize.broyden((x: Tensor) => x, f64([1]), { wrong: 1 } as object), /no option "wrong"/);
});
