/** LU factors in registers, interpreted, against elimination by its definition: pivots exactly, factors to rounding. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isSmall, luWrittenOutKernel } from "../../../../../src/compiler/routines/linalg/lu/lu-written-out.js";
import { MatrixKernel } from "../../../../../src/compiler/routines/linalg/matrix-kernel.js";
import { undefinedBytes } from "../../../../support/interpreted-routine.js";
import { interpretKernel } from "../../../../support/kernel-interpreter.js";
import { assertNear, bytesFor, decoded, eliminated, encoded, KINDS, numbersIn, randomMatrix, routineNode, settings } from "../matrices.js"; // biome-ignore format: one line

test("square, tall and wide matrices of every kind, one with a column of zeros and one with equal sizes", () => {
  for (const kind of Object.values(KINDS)) {
    // biome-ignore format: a table
    for (const [m, n] of [[1, 1], [8, 8], [7, 3], [3, 7], [5, 5]] as const) {
      const matrices = [1, 2, 3].map((seed) => randomMatrix(m, n, kind, seed));
      for (const row of matrices[1]!) row[Math.min(1, n - 1)] = [0, 0];
      matrices[2] = matrices[2]!.map((row) => row.map(([re]): [number, number] => [Math.sign(re), 0]));
      const kernel = new MatrixKernel("lu", 3, 1, routineNode("lu", kind, [[3, m, n]]), settings);
      const results = [bytesFor(3 * m * n, kind), 12 * Math.min(m, n), 12 * m].map(undefinedBytes);
      interpretKernel(luWrittenOutKernel(kernel, m, n), [encoded(matrices, kind), ...results]);
      const [, ofPivots, ofOrder] = results.map((bytes) => numbersIn(bytes, "i32"));
      matrices.forEach((a, at) => {
        const { lu, pivots, order } = eliminated(a);
        assert.deepEqual(ofPivots!.slice(at * pivots.length, (at + 1) * pivots.length), pivots, `[${m}, ${n}] ${at}`);
        assert.deepEqual(ofOrder!.slice(at * m, (at + 1) * m), order);
        assertNear(decoded(results[0]!, kind, m, n)[at]!, lu, kind, `[${m}, ${n}] ${at}`, 200);
      });
    }
  }
});

test("NaN is no pivot where there are numbers; small has at most eight rows and columns", () => {
  const kernel = new MatrixKernel("lu", 1, 1, routineNode("lu", KINDS.f64, [[1, 4, 1]]), settings);
  const results = [32, 4, 16].map(undefinedBytes);
  const a = [[[Number.NaN, 0]], [[1, 0]], [[-3, 0]], [[3, 0]]] as const;
  interpretKernel(luWrittenOutKernel(kernel, 4, 1), [encoded([a as never], KINDS.f64), ...results]);
  assert.deepEqual(numbersIn(results[1]!, "i32"), [2]);
  // biome-ignore format: a table
  const known = [[8, 8], [9, 1], [1, 9], [0, 3], [3, 0]].map(([m, n]) => isSmall(m!, n!));
  assert.deepEqual(known, [true, false, false, false, false]);
});
