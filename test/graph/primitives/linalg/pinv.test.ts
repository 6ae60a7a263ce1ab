/** Pseudo-inverses and least squares: the four equations of Penrose, least lengths, derivatives and batches. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { realDType } from "../../../../src/core/dtype.js";
import { scalarNode } from "../../../../src/graph/build.js";
import type { Node } from "../../../../src/graph/node.js";
import { leastSquares, pinv } from "../../../../src/graph/primitives/linalg/pinv.js";
import { g } from "../../../../src/graph/vocabulary.js";
import { checkBatches, checkDerivatives, input, valuesOf } from "../../../support/node-rules.js";
import { assertNear, rowsOf, times, turned } from "./plain-matrices.js";

const share = (a: Node, rtol: number) => scalarNode(rtol, realDType(a.dtype), a.device);
const inverse =
  (rtol = 1e-12) =>
  (a: Node) =>
    g.move(pinv, [a, share(a, rtol)], {});
const solved = (a: Node, b: Node) => g.move(leastSquares, [a, b, share(a, 1e-12)], {});
/** Far from singular, so that rounding stays small. */
const SQUARE = input([3, 3], [4, 1, -1, 0.5, 3, 1, -1, 2, 5]);
const RANK_ONE = input([3, 2], [1, 2, 2, 4, 3, 6]);

test("Penrose's equations, for tall, wide and square matrices and one of rank one", () => {
  for (const a of [SQUARE, input([4, 2]), input([2, 4]), RANK_ONE]) {
    const [m, n] = a.shape as [number, number];
    const [found] = valuesOf(inverse(), [a]);
    const [plain, back] = [rowsOf(a.values, n), rowsOf(found!, m)];
    const [left, right] = [times(plain, back), times(back, plain)];
    assertNear(times(left, plain), plain);
    assertNear(times(right, back), back);
    assertNear(left, turned(left));
    assertNear(right, turned(right));
  }
});

test("singular values up to rtol times the largest count as zero", () => {
  const a = input([2, 2], [1, 0, 0, 1e-3]);
  assertNear([valuesOf(inverse(1e-4), [a])[0]!], [[1, 0, 0, 1e3]], 1e-9);
  assertNear([valuesOf(inverse(1e-2), [a])[0]!], [[1, 0, 0, 0]]);
});

test("least squares is the pseudo-inverse times the right side: the normal equations, and the least length", () => {
  const a = input([4, 2]);
  const b = input([4, 3]);
  const rows = rowsOf(a.values, 2);
  const x = rowsOf(valuesOf(solved, [a, b])[0]!, 3);
  const rest = times(rows, x).map((row, i) => row.map((y, j) => y - rowsOf(b.values, 3)[i]![j]!));
  assertNear(times(turned(rows), rest), [
    [0, 0, 0],
    [0, 0, 0],
  ]);
  // x + y = 2: the shortest solution is (1, 1).
  assertNear([valuesOf(solved, [input([1, 2], [1, 1]), input([1, 1], [2])])[0]!], [[1, 1]]);
});

test("derivatives of full rank, with respect to both sides", () => {
  for (const a of [SQUARE, input([4, 2]), input([2, 4])]) {
    checkDerivatives(inverse(), [a]);
    checkDerivatives(solved, [a, input([a.shape[0]!, 2])]);
  }
});

test("batches, also of one side alone", () => {
  checkBatches(inverse(), [input([3, 2])]);
  checkBatches(solved, [input([3, 2]), input([3, 1])]);
});

test("a matrix without elements", () => {
  assert.deepEqual(valuesOf(inverse(), [input([2, 0])]), [[]]);
  assert.deepEqual(valuesOf(solved, [input([0, 2]), input([0, 1])]), [[0, 0]]);
});
