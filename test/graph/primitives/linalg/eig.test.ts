/** Rules of the eigenvalue decomposition as nodes: shapes, dtypes, and a loop that no program records. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { hasWhileLoop } from "../../../../src/graph/loop-mask.js";
import { eigNodes, eigvalsNodes } from "../../../../src/graph/primitives/linalg/eig.js";
import { g } from "../../../../src/graph/vocabulary.js";
import { storedAs } from "../../../support/nodes.js";

test("results are complex, of the precision of the matrix", () => {
  for (const [given, complex] of [
    ["f32", "c64"],
    ["f64", "c128"],
    ["c64", "c64"],
    ["c128", "c128"],
  ] as const) {
    const [values, vectors] = eigNodes(g, storedAs(given, 2, 3, 3));
    assert.deepEqual(
      [values.shape, vectors.shape],
      [
        [2, 3],
        [2, 3, 3],
      ],
    );
    assert.deepEqual([values.dtype, vectors.dtype], [complex, complex]);
    assert.equal(eigvalsNodes(g, storedAs(given, 3, 3)).dtype, complex);
  }
});

test("the definition has a while loop, which jit asks for before it records", () => {
  assert.ok(hasWhileLoop([eigvalsNodes(g, storedAs("f32", 3, 3))]));
  assert.ok(!hasWhileLoop([storedAs("f32", 3, 3)]));
});
