/** Eigenvalues and eigenvectors of symmetric matrices: both ways to compute them, derivatives, batches, equal values. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Node } from "../../../../src/graph/node.js";
import { eighNodes, FEW_ROWS, inverseGaps } from "../../../../src/graph/primitives/linalg/eigh.js";
import { g } from "../../../../src/graph/vocabulary.js";
import { checkBatches, checkDerivatives, type Input, input, valuesOf } from "../../../support/node-rules.js";
import { assertNear, assertOrthonormal, diagonalOf, rowsOf, times } from "./plain-matrices.js";

/** Of x + xᵀ, so that any x will do. */
const symmetric = (x: Node): Node => g.add(x, g.transposed(x));
const eigh = (x: Node) => eighNodes(g, symmetric(x));

test("A V = V diag(λ), by rotations and by way of the tridiagonal form", () => {
  for (const n of [1, 2, 7, FEW_ROWS + 1]) {
    const x = input([n, n]);
    const [values, vectors] = valuesOf(eigh, [x]);
    const rows = rowsOf(x.values, n);
    const a = rows.map((row, i) => row.map((each, j) => each + rows[j]![i]!));
    const v = rowsOf(vectors!, n);
    assertOrthonormal(v, 1e-11);
    assertNear(times(a, v), times(v, diagonalOf(values!)), 1e-11);
    assert.ok(values!.every((each, i) => i === 0 || values![i - 1]! <= each));
  }
});

test("closed forms, sizes whose squares overflow, and nothing", () => {
  const size = 1e200;
  const [values] = valuesOf((a) => eighNodes(g, a), [input([2, 2], [2 * size, size, size, 2 * size])]);
  assertNear([values!.map((x) => x / size)], [[1, 3]], 1e-14);
  assert.deepEqual(
    valuesOf((a) => eighNodes(g, a), [input([0, 0])]),
    [[], []],
  );
});

test("derivatives of values and vectors, up to the sign of a vector", () => {
  checkDerivatives((x) => eigh(x)[0], [input([4, 4])]);
  // The squares of the vectors' elements do not depend on signs.
  checkDerivatives((x) => g.square(eigh(x)[1]), [input([4, 4])]);
});

test("batches", () => {
  const spread = (each: Input, m: number): Input => ({ ...each, values: each.values.map((x, i) => x + m * (i % 4)) });
  checkBatches(eigh, [input([3, 3])], spread);
});

test("the inverse of a difference that is lost in rounding is 0", () => {
  const [found] = valuesOf(
    (gaps, largest) => inverseGaps(g, gaps, largest),
    [input([2, 2], [0, 2, -4, 1e-17]), input([2, 2], [1, 1, 1, 1])],
  );
  assert.deepEqual(found, [0, 0.5, -0.25, 0]);
});
