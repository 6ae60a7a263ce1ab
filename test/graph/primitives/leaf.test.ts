/** Leaves: their shape and dtype are their parameters. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { buffer, constant, iota, placeholder } from "../../../src/graph/primitives/leaf.js";

test("a leaf is of the shape and dtype it is given, and each has its own name", () => {
  const leaves = [buffer, constant, iota, placeholder];
  for (const { infer, kind } of leaves) {
    assert.deepEqual(infer([], { shape: [2, 0], dtype: "u16", value: 3 }), { shape: [2, 0], dtype: "u16" });
    assert.equal(kind, "leaf");
  }
  assert.deepEqual(
    leaves.map(({ name }) => name),
    ["buffer", "constant", "iota", "placeholder"],
  );
});
