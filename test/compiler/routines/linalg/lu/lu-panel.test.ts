/** One panel of LU factors, interpreted: alone, as a whole matrix, and as a step of a larger one. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { luAloneKernel, luPanelKernel } from "../../../../../src/compiler/routines/linalg/lu/lu-panel.js";
import { MatrixKernel } from "../../../../../src/compiler/routines/linalg/matrix-kernel.js";
import { encodeValues } from "../../../../../src/core/storage.js";
import { undefinedBytes } from "../../../../support/interpreted-routine.js";
import { interpretKernel } from "../../../../support/kernel-interpreter.js";
import { assertNear, bytesFor, decoded, eliminated, encoded, KINDS, numbersIn, randomMatrix, routineNode, settings } from "../matrices.js"; // biome-ignore format: one line

test("a whole matrix, with one row or several to a lane, of every kind of numbers", () => {
  for (const kind of Object.values(KINDS)) {
    for (const [m, n, lanes] of [
      [7, 7, 8],
      [15, 6, 8],
      [5, 8, 8],
    ] as const) {
      // biome-ignore format: a table
      const matrices = [1, 2].map((seed) => randomMatrix(m, n, kind, seed));
      const kernel = new MatrixKernel("lu", 2, lanes, routineNode("lu", kind, [[2, m, n]]), settings);
      const grid = { lanes, perLane: Math.ceil(m / lanes), width: 8, tileLanes: lanes };
      const results = [bytesFor(2 * m * n, kind), 8 * Math.min(m, n), 8 * m].map(undefinedBytes);
      interpretKernel(luAloneKernel(kernel, grid, [m, n]), [encoded(matrices, kind), ...results]);
      matrices.forEach((a, at) => {
        const { lu, pivots, order } = eliminated(a);
        const [, ofPivots, ofOrder] = results.map((bytes) => numbersIn(bytes, "i32"));
        assert.deepEqual(ofPivots!.slice(at * pivots.length, (at + 1) * pivots.length), pivots);
        assert.deepEqual(ofOrder!.slice(at * m, (at + 1) * m), order);
        assertNear(decoded(results[0]!, kind, m, n)[at]!, lu, kind, `[${m}, ${n}]`, 200);
      });
    }
  }
});

test("the second panel of a matrix takes rows and columns from the diagonal on, and counts rows of the matrix", () => {
  const [kind, n, width] = [KINDS.f64, 11, 4];
  const a = randomMatrix(n, n, kind, 5);
  const grid = { lanes: 8, perLane: 2, width, tileLanes: 16 };
  const shape = { m: n, n, panels: 3, grid };
  const kernel = new MatrixKernel("panel", 1, 8, routineNode("lu", kind, [[1, n, n]]), settings);
  const [columns, orders, pivots] = [bytesFor(3 * n * width, kind), 4 * 3 * n, 4 * n].map(undefinedBytes);
  const step = encodeValues([1], "i32", "step");
  interpretKernel(luPanelKernel(kernel, shape), [encoded([a], kind), columns!, orders!, pivots!, step]);
  const corner = a.slice(width).map((row) => row.slice(width, 2 * width));
  const expected = eliminated(corner);
  const panel = decoded(columns!, kind, n, width)[1]!.slice(width);
  assertNear(panel, expected.lu, kind, "panel", 200);
  const shifted = (values: readonly number[]) => values.map((x) => x + width);
  assert.deepEqual(numbersIn(orders!, "i32").slice(n + width, 2 * n), shifted(expected.order));
  assert.deepEqual(numbersIn(pivots!, "i32").slice(width, 2 * width), shifted(expected.pivots));
});
