/** Cholesky factors in steps, interpreted on grids of several sizes: a factor is found again from its product. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { steppedCholesky } from "../../../../../src/compiler/routines/linalg/cholesky/stepped-cholesky.js";
import { interpretRoutine } from "../../../../support/interpreted-routine.js";
import {
  adjoint,
  assertNear,
  bytesFor,
  decoded,
  encoded,
  KINDS,
  lowerMatrix,
  type Matrix,
  product,
  routineNode,
  settings,
} from "../matrices.js";

/** Above the diagonal is NaN, which nobody may use. */
const hidden = (a: Matrix): Matrix => a.map((row, i) => row.map((x, j) => (j > i ? [Number.NaN, Number.NaN] : x)));

for (const [side, block] of [
  [4, 16],
  [8, 16],
] as const) {
  // biome-ignore format: one line
  for (const kind of [KINDS.f64, KINDS.c128]) {
    test(`a grid of ${side} × ${side} lanes, blocks of ${block}, ${kind.isComplex ? "complex" : "real"}`, () => {
      for (const [batch, n] of [[2, 21], [1, 37], [1, 32]] as const) { // biome-ignore format: one line
        const factors = Array.from({ length: batch }, (_, seed) => lowerMatrix(n, kind, seed));
        const given = factors.map((l) => hidden(product(l, adjoint(l))));
        const node = routineNode("cholesky", kind, [[batch, n, n]]);
        const plan = steppedCholesky(node, batch, n, { side, block }, settings);
        const [bytes] = interpretRoutine(plan, [encoded(given, kind)], [bytesFor(batch * n * n, kind)]);
        decoded(bytes!, kind, n, n).forEach((found, at) => {
          assertNear(found, factors[at]!, kind, `[${batch}, ${n}], matrix ${at}`, 3000);
        });
      }
    });
  }
}

test("a pivot of zero, the first of a pair or the second, is NaN, as is all below and behind it", () => {
  const [n, kind] = [21, KINDS.f64];
  for (const zero of [0, 3, 18, 19]) {
    const unit: Matrix = Array.from({ length: n }, (_, i) =>
      Array.from({ length: n }, (__, j) => [i === j && i !== zero ? 1 : 0, 0]),
    );
    const node = routineNode("cholesky", kind, [[1, n, n]]);
    const plan = steppedCholesky(node, 1, n, { side: 4, block: 16 }, settings);
    const [bytes] = interpretRoutine(plan, [encoded([unit], kind)], [bytesFor(n * n, kind)]);
    const expected = unit.map((row, i) => row.map(([re], j) => (j >= zero && i >= j ? Number.NaN : re)));
    const [found] = decoded(bytes!, kind, n, n);
    assert.deepEqual(
      found!.map((row) => row.map(([re]) => re)),
      expected,
      `pivot ${zero}`,
    );
  }
});
