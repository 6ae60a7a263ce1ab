/**
 * Gradients against complex steps, Im f(x + ih) / h: exact to rounding for functions that are analytic, because nothing is subtracted.
 * The complex kernels are the oracle of the real ones' derivatives.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { complex, eye, grad, linalg, type Tensor, tensor } from "../../src/index.js";
import { normals } from "./accuracy.js";

const N = 4;
const H = 1e-30;
const [weights, side] = [normals([N, N], "f64", 7), normals([N, 2], "f64", 8)];
const like = (x: Tensor, value: Tensor): Tensor => value.cast(x.dtype) as Tensor;

/**
 * Functions of a matrix whose algorithm is analytic in its elements: sums, products and quotients. Unitary transformations mix real and
 * imaginary parts, whose rounding hides the step: `eig` and `fft` are compared with differences elsewhere.
 */
const ANALYTIC: Readonly<Record<string, (x: Tensor) => Tensor>> = {
  det: (x) => linalg.det(x),
  inv: (x) => linalg.inv(x).mul(like(x, weights)).sum(),
  solve: (x) => linalg.solve(x, like(x, side)).square().sum(),
  luSolve: (x) => linalg.luSolve(linalg.luFactor(x), like(x, side)).sum(),
  lu: (x) => linalg.lu(x).u.mul(like(x, weights)).sum(),
  matrixPower: (x) => linalg.matrixPower(x, -3).mul(like(x, weights)).sum(),
  matrixExp: (x) => linalg.matrixExp(x).mul(like(x, weights)).sum(),
  triangularSolve: (x) => linalg.triangularSolve(x, like(x, side)).square().sum(),
  multiDot: (x) => linalg.multiDot([x, like(x, weights), x]).sum(),
  cross: (x) => linalg.cross(x.at(":3", ":"), like(x, weights).at(":3", ":"), { axis: 0 }).square().sum(),
};

describe("gradients by complex steps", () => {
  const a = normals([N, N], "f64", 9).add(eye(N, { dtype: "f64" }).mul(3)) as Tensor;
  for (const [name, f] of Object.entries(ANALYTIC)) {
    test(name, () => {
      const found = grad(f)(a).arraySync() as number[][];
      for (let i = 0; i < N; i++) {
        for (let j = 0; j < N; j++) {
          const step = Array.from({ length: N * N }, (_, at) => (at === i * N + j ? H : 0));
          const moved = f(complex(a, tensor(step, { dtype: "f64" }).reshape([N, N])) as Tensor).imag();
          const expected = (moved.itemSync() as number) / H;
          const apart = Math.abs(found[i]![j]! - expected);
          assert.ok(apart < 1e-11 * (1 + Math.abs(expected)), `[${i}, ${j}]: ${found[i]![j]} and ${expected}`);
        }
      }
    });
  }
});
