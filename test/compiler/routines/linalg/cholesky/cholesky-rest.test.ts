/** The rest of a matrix after a step of its Cholesky factor, interpreted: less the product of the new columns. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { choleskyRestKernel } from "../../../../../src/compiler/routines/linalg/cholesky/cholesky-rest.js";
import { encodeValues } from "../../../../../src/core/storage.js";
import { undefinedBytes } from "../../../../support/interpreted-routine.js";
import { interpretKernel } from "../../../../support/kernel-interpreter.js";
import { adjoint, assertNear, bytesFor, decoded, encoded, KINDS, minus, numbersIn, product, randomMatrix, routineNode, settings } from "../matrices.js"; // biome-ignore format: one line

test("after the second step, on and below the diagonal; the step is counted on", () => {
  for (const kind of [KINDS.f64, KINDS.c128]) {
    for (const [n, side, block] of [
      [37, 4, 8],
      [21, 4, 4],
      [150, 4, 16],
    ] as const) {
      // biome-ignore format: a table
      const node = routineNode("cholesky", kind, [[1, n, n]]);
      const kernel = choleskyRestKernel("rest", 1, n, { side, block }, node, settings);
      const [a, l] = [randomMatrix(n, n, kind, 1), randomMatrix(n, n, kind, 2)];
      const [to, next] = [undefinedBytes(bytesFor(n * n, kind)), undefinedBytes(4)];
      const step = encodeValues([1], "i32", "step");
      interpretKernel(kernel, [encoded([a], kind), encoded([l], kind), to, step, next]);
      assert.deepEqual(numbersIn(next, "i32"), [2]);
      const columns = l.map((row) => row.slice(block, 2 * block));
      const change = product(columns, adjoint(columns));
      const found = decoded(to, kind, n, n)[0]!;
      for (let i = 2 * block; i < n; i++) {
        const [own, expected] = [found[i]!, a[i]!.map((x, j) => minus(x, change[i]![j]!))].map((row) => [row.slice(2 * block, i + 1)]); // biome-ignore format: one line
        assertNear(own!, expected!, kind, `[${n}], row ${i}`, 200);
      }
    }
  }
});
