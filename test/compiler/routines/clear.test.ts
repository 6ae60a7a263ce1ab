/** Buffers of different sizes are filled with zeros, each to its end and no further. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { clearKernel } from "../../../src/compiler/routines/clear.js";
import { runKernel } from "../../support/kernels.js";

test("every word of every buffer is zero", () => {
  const sizes = [3, 17, 1];
  const given = sizes.map((size) => new Uint32Array(size + 1).fill(7));
  const found = runKernel("cpu", clearKernel("clear", sizes), given);
  found.forEach((words, i) => {
    assert.deepEqual([...words], [...new Array(sizes[i]).fill(0), 7]);
  });
});
