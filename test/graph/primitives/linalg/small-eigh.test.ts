/** Jacobi rotations of small matrices: eigenvalues rise, rows are eigenvectors, of real and complex matrices. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { realOf, smallEighNodes } from "../../../../src/graph/primitives/linalg/small-eigh.js";
import { g } from "../../../../src/graph/vocabulary.js";
import { given, input, numbers, valuesOf } from "../../../support/node-rules.js";
import { assertNear, assertOrthonormal, diagonalOf, rowsOf, times, turned } from "./plain-matrices.js";

test("rows are orthonormal eigenvectors of the values, which rise", () => {
  for (const n of [1, 2, 5, 8]) {
    const half = rowsOf(input([n, n]).values, n);
    const a = half.map((row, i) => row.map((x, j) => x + half[j]![i]!));
    const [values, rows] = valuesOf((x) => smallEighNodes(g, x), [input([1, n, n], a.flat())]);
    const vectors = turned(rowsOf(rows!, n));
    assertOrthonormal(vectors);
    assertNear(times(a, vectors), times(vectors, diagonalOf(values!)), 1e-11);
    assert.deepEqual(
      values,
      [...values!].sort((x, y) => x - y),
    );
  }
});

test("each matrix of a batch has its own values", () => {
  const [values] = valuesOf((x) => smallEighNodes(g, x), [input([2, 2, 2], [0, 1, 1, 0, 3, 0, 0, -2])]);
  assertNear([values!], [[-1, 1, -2, 3]]);
});

test("a complex Hermitian matrix has real values", () => {
  // [[0, -i], [i, 0]]
  const a = g.complex(given(input([1, 2, 2], [0, 0, 0, 0])), given(input([1, 2, 2], [0, -1, 1, 0])));
  const [values, rows] = smallEighNodes(g, a);
  assert.equal(values.dtype, "f64");
  assert.equal(rows.dtype, "c128");
  assertNear([numbers(values)], [[-1, 1]]);
});

test("values have the dtype of real parts", () => {
  assert.deepEqual((["f32", "f64", "c64", "c128"] as const).map(realOf), ["f32", "f64", "f32", "f64"]);
});
