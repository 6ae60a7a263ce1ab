/** The rest of a matrix after a panel of LU factors, interpreted: rows in order, the new rows of U, and the difference. */
import { test } from "node:test";
import { luRestKernel } from "../../../../../src/compiler/routines/linalg/lu/lu-rest.js";
import { encodeValues } from "../../../../../src/core/storage.js";
import { undefinedBytes } from "../../../../support/interpreted-routine.js";
import { interpretKernel } from "../../../../support/kernel-interpreter.js";
import { assertNear, bytesFor, decoded, eliminated, encoded, KINDS, minus, randomMatrix, routineNode, settings, times } from "../matrices.js"; // biome-ignore format: one line

test("after the first panel of tall, square and wide matrices", () => {
  for (const kind of [KINDS.f64, KINDS.c128]) {
    for (const [m, n] of [
      [13, 13],
      [40, 9],
      [6, 70],
      [3, 6],
    ] as const) {
      // biome-ignore format: a table
      const width = 4;
      const a = randomMatrix(m, n, kind, 2);
      const panel = eliminated(a.map((row) => row.slice(0, width)));
      const shape = { m, n, panels: 1, grid: { lanes: 8, perLane: Math.ceil(m / 8), width, tileLanes: 16 } };
      const kernel = luRestKernel("rest", 1, shape, routineNode("lu", kind, [[1, m, n]]), settings);
      const [lu, to, next] = [bytesFor(m * n, kind), bytesFor(m * n, kind), 4].map(undefinedBytes);
      const order = encodeValues(panel.order, "i32", "order");
      const step = encodeValues([0], "i32", "step");
      interpretKernel(kernel, [encoded([a], kind), encoded([panel.lu], kind), order, lu!, to!, step, next!]);
      const high = Math.min(m, width);
      const expected = panel.order.map((from) => a[from]!.slice(width));
      for (let i = 0; i < m; i++) {
        for (let j = 0; j < Math.min(i, high); j++) {
          expected[i] = expected[i]!.map((x, c) => minus(x, times(panel.lu[i]![j]!, expected[j]![c]!)));
        }
      }
      const behind = (bytes: Uint8Array) => decoded(bytes, kind, m, n)[0]!.map((row) => row.slice(width));
      assertNear(behind(lu!).slice(0, high), expected.slice(0, high), kind, `U of [${m}, ${n}]`, 200);
      if (m > width) assertNear(behind(to!).slice(width), expected.slice(width), kind, `rest of [${m}, ${n}]`, 500);
    }
  }
});
