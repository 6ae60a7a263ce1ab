/** The factored inverse Hessian against BFGS's update as textbooks write it, with dense matrices. */
import assert from "node:assert/strict";
import { before, test } from "node:test";
import {
  backward,
  factorOf,
  forward,
  inverse,
  newtonStep,
  noSteps,
  rootOf,
  updatedDiagonal,
} from "../../../src/bayes/variational/inverse-hessian.js";
import { setDefaultDevice, type Tensor, tensor } from "../../../src/tensor/index.js";
import { numbersOf } from "../../support/tensors.js";
import { inverted } from "../approximation/targets.js";
import { normals } from "../chains.js";

before(() => setDefaultDevice("cpu"));

type Matrix = number[][];
const DIM = 5;
const f64 = (values: number[] | Matrix): Tensor => tensor(values, { dtype: "f64" });
const dot = (a: readonly number[], b: readonly number[]): number => a.reduce((sum, x, i) => sum + x * b[i]!, 0);
const product = (a: Matrix, b: Matrix): Matrix =>
  a.map((row) =>
    b[0]!.map((_, j) =>
      dot(
        row,
        b.map((other) => other[j]!),
      ),
    ),
  );
const transposed = (a: Matrix): Matrix => a[0]!.map((_, j) => a.map((row) => row[j]!));
const identity = (n: number): Matrix =>
  Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => +(i === j)));
const closeTo = (actual: readonly number[], expected: readonly number[], what: string) =>
  actual.forEach((x, i) => {
    assert.ok(
      Math.abs(x - expected[i]!) < 1e-10 * Math.max(1, Math.abs(expected[i]!)),
      `${what}: ${x}, not ${expected[i]}`,
    );
  });

/** H ← (I - s·yᵀ/sy)·H·(I - y·sᵀ/sy) + s·sᵀ/sy. */
function updated(h: Matrix, s: readonly number[], y: readonly number[]): Matrix {
  const sy = dot(s, y);
  const left = identity(DIM).map((row, i) => row.map((x, j) => x - (s[i]! * y[j]!) / sy));
  return product(product(left, h), transposed(left)).map((row, i) => row.map((x, j) => x + (s[i]! * s[j]!) / sy));
}

const next = normals(11);
const vector = () => Array.from({ length: DIM }, next);
const diagonal = [0.3, 2, 1, 5, 0.7];
const steps = [[0, 0, 0, 0, 0], vector(), vector(), vector()];
// Along steps of a convex function gradients change by a positive definite matrix times the step.
const curvature = (() => {
  const root = Array.from({ length: DIM }, vector);
  return product(root, transposed(root));
})();
const changes = steps.map((s) => curvature.map((row) => dot(row, s)));
const expected = steps.slice(1).reduce(
  (h, s, i) => updated(h, s, changes[i + 1]!),
  diagonal.map((x, i) => identity(DIM)[i]!.map((one) => one * x)),
);
const factor = factorOf({ steps: f64(steps), changes: f64(changes), diagonal: f64(diagonal) });
const v = vector();

test("A·Aᵀ is the inverse Hessian of BFGS, and places without a step change nothing", () => {
  closeTo(
    numbersOf(newtonStep(factor, f64(v))),
    expected.map((row) => dot(row, v)),
    "A·Aᵀ·v",
  );
});

test("Aᵀ is the transpose of A", () => {
  const w = vector();
  const sides = [dot(w, numbersOf(forward(factor, f64(v)))), dot(v, numbersOf(backward(factor, f64(w))))];
  closeTo([sides[0]!], [sides[1]!], "wᵀ·A·v");
});

test("the inverse undoes A", () => {
  closeTo(numbersOf(inverse(factor, forward(factor, f64(v)))), v, "A⁻¹·A·v");
});

test("the determinant and the diagonal of the Hessian are those of the dense matrix", () => {
  const { inverse: hessian, logDeterminant } = inverted(expected);
  closeTo(numbersOf(factor.logDeterminant), [logDeterminant / 2], "log |A|");
  closeTo(
    numbersOf(factor.precision),
    hessian.map((row, i) => row[i]!),
    "the Hessian's diagonal",
  );
});

test("a step along which the gradient rises is left out", () => {
  const upward = vector();
  const wrong = factorOf({
    steps: f64([...steps, upward]),
    changes: f64([...changes, curvature.map((row) => -dot(row, upward))]),
    diagonal: f64(diagonal),
  });
  closeTo(
    numbersOf(newtonStep(wrong, f64(v))),
    expected.map((row) => dot(row, v)),
    "A·Aᵀ·v",
  );
});

test("before any step it is a multiple of the identity", () => {
  const none = noSteps(f64(v), 3, tensor(0.25, { dtype: "f64" }));
  const [quick, slow] = [rootOf(none), factorOf(none)];
  for (const name of ["diagonal", "steps", "rows", "slants", "stretches", "logDeterminant", "precision"] as const) {
    closeTo(numbersOf(quick[name]), numbersOf(slow[name]), name);
  }
  closeTo(
    numbersOf(newtonStep(quick, f64(v))),
    v.map((x) => x / 4),
    "A·Aᵀ·v",
  );
});

test("the diagonal of a round normal density is known after one step", () => {
  const s = vector();
  const found = numbersOf(updatedDiagonal(f64(v.map(() => 7)), f64(s), f64(s.map((x) => x / 0.36))));
  closeTo(
    found,
    v.map(() => 0.36),
    "the diagonal",
  );
});
