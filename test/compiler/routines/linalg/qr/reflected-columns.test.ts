/** Reflections applied one after another, interpreted: the product of their matrices times X. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  isExpandedReflections,
  reflectedColumnsRoutine,
} from "../../../../../src/compiler/routines/linalg/qr/reflected-columns.js";
import { cpuProfile } from "../../../../../src/compiler/target/profile.js";
import type { DType } from "../../../../../src/core/dtype.js";
import { rowsApplied } from "../../../../../src/graph/primitives/linalg/householder.js";
import { g } from "../../../../../src/graph/vocabulary.js";
import { interpretRoutine } from "../../../../support/interpreted-routine.js";
import { storedAs } from "../../../../support/nodes.js";
import {
  assertNear,
  bytesFor,
  decoded,
  encoded,
  gpuOf,
  KINDS,
  kindsOn,
  product,
  randomMatrix,
  reflectionsOf,
  routineNode,
  settings,
  softwareGpu,
} from "../matrices.js";

for (const lanes of [8, 32]) {
  test(`of two matrices, more columns than a workgroup takes; ${lanes} lanes`, () => {
    for (const kind of [...kindsOn("a GPU of 32 lanes"), KINDS.c64]) {
      for (const [count, n, columns] of [
        [1, 1, 1],
        [6, 5, 3],
        [9, 10, 4],
        [8, 33, 5],
      ] as const) {
        // biome-ignore format: shapes
        const vectors = [1, 2].map((seed) => randomMatrix(count, n, kind, seed));
        const factors = [3, 4].map((seed) => randomMatrix(1, count, kind, seed));
        const x = [5, 6].map((seed) => randomMatrix(n, columns, kind, seed));
        const shapes = [[2, count, n], [2, count], [2, n, columns]]; // biome-ignore format: one line
        const plan = reflectedColumnsRoutine(routineNode("reflectedColumns", kind, shapes), gpuOf(lanes), settings);
        const given = [vectors, factors, x].map((matrices) => encoded(matrices, kind));
        const [bytes] = interpretRoutine(plan, given, [bytesFor(2 * n * columns, kind)]);
        decoded(bytes!, kind, n, columns).forEach((found, at) => {
          const expected = product(reflectionsOf(vectors[at]!, factors[at]![0]!), x[at]!);
          assertNear(found, expected, kind, `${kind.type} ${count} of ${n}`, 1e6);
        });
      }
    }
  });
}

test("products of matrices do it for long columns and many, on a CPU and in software", () => {
  const isExpanded = (n: number, columns: number, dtype: DType = "f32", profile = gpuOf(32)) => {
    const [rows, factors, x] = [[1, n, n], [1, n], [1, n, columns]].map((shape) => storedAs(dtype, ...shape)); // biome-ignore format: shapes
    return isExpandedReflections(rowsApplied(g, rows!, factors!, x!), profile.tiles);
  };
  assert.equal(isExpanded(256, 256), false);
  assert.equal(isExpanded(512, 1024), false);
  assert.equal(isExpanded(513, 256), true);
  assert.equal(isExpanded(512, 1025), true);
  assert.equal(isExpanded(257, 256, "f64"), true);
  assert.equal(isExpanded(256, 256, "c64"), false);
  assert.equal(isExpanded(129, 128, "c128"), true);
  assert.equal(isExpanded(0, 4), true);
  for (const profile of [cpuProfile, softwareGpu]) assert.equal(isExpanded(256, 256, "f32", profile), true);
  assert.equal(isExpandedReflections(g.exp(storedAs("f32", 4)), gpuOf(32).tiles), false);
});
