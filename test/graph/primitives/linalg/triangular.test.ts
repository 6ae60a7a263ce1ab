/** Triangular factors and solutions: checked by multiplying back, with derivatives and batches. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { DTypeError, ShapeError } from "../../../../src/core/errors.js";
import type { Node } from "../../../../src/graph/node.js";
import { cholesky, solveLower } from "../../../../src/graph/primitives/linalg/triangular.js";
import { g } from "../../../../src/graph/vocabulary.js";
import { checkBatches, checkDerivatives, input, valuesOf } from "../../../support/node-rules.js";
import { make, stored, storedAs } from "../../../support/nodes.js";

/** Positive definite; above the diagonal stands what nobody may read. */
const A = [
  [4, 99, 99],
  [1, 5, 99],
  [-1, 0.5, 3],
];
const matrix = input([3, 3], A.flat());
const L = input([3, 3], [2, 99, 99, 0.5, 1.5, 99, -1, 0.25, 3]);
const B = input([3, 2], [1, 2, 3, 4, 5, 6]);
const factor = (a: Node) => g.move(cholesky, [a], {});
const solve = (isUnit: boolean) => (l: Node, b: Node) => g.solveLower(l, b, isUnit);

test("the factor times its transpose is the matrix, whose upper half is not read", () => {
  const [l] = valuesOf(factor, [matrix]);
  for (let i = 0; i < 3; i++) {
    for (let j = 0; j <= i; j++) {
      const sum = [0, 1, 2].reduce((s, k) => s + l![3 * i + k]! * l![3 * j + k]!, 0);
      assert.ok(Math.abs(sum - A[i]![j]!) < 1e-14);
      if (i !== j) assert.equal(l![3 * j + i], 0);
    }
  }
});

test("a solution times the matrix is the right side, with its diagonal or with ones", () => {
  for (const isUnit of [false, true]) {
    const [x] = valuesOf(solve(isUnit), [L, B]);
    for (let i = 0; i < 3; i++) {
      for (let c = 0; c < 2; c++) {
        let sum = (isUnit ? 1 : L.values[4 * i]!) * x![2 * i + c]!;
        for (let k = 0; k < i; k++) sum += L.values[3 * i + k]! * x![2 * k + c]!;
        assert.ok(Math.abs(sum - B.values[2 * i + c]!) < 1e-14);
      }
    }
  }
});

test("derivatives", () => {
  checkDerivatives(factor, [matrix]);
  for (const isUnit of [false, true]) checkDerivatives(solve(isUnit), [L, B]);
});

test("batches", () => {
  const raised = (each: typeof matrix, m: number) => ({
    ...each,
    values: each.values.map((x, i) => x + (each.shape[1] === 3 && i % 4 === 0 ? m : 0)),
  });
  checkBatches(factor, [matrix], raised);
  checkBatches(solve(false), [L, B], raised);
});

test("only square matrices of f32 and f64, with right sides as long", () => {
  assert.throws(() => make(cholesky, [stored(2, 3)]), ShapeError);
  assert.throws(() => make(cholesky, [stored(3)]), ShapeError);
  assert.throws(() => make(cholesky, [storedAs("f16", 3, 3)]), DTypeError);
  assert.throws(() => make(solveLower, [stored(3, 3), stored(2, 2)], { isUnit: false }), ShapeError);
  assert.throws(() => make(solveLower, [stored(3, 3), storedAs("f64", 3, 2)], { isUnit: false }), ShapeError);
  assert.throws(() => make(solveLower, [stored(2, 3), stored(2, 2)], { isUnit: false }), ShapeError);
});
