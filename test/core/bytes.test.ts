/** Sizes in bytes, and bools from outside. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesOf, tidyBytes } from "../../src/core/bytes.js";

test("bytes are those of all elements", () => {
  assert.equal(bytesOf({ shape: [2, 3], dtype: "f64" }), 48);
  assert.equal(bytesOf({ shape: [], dtype: "c64" }), 8);
  assert.equal(bytesOf({ shape: [4, 0], dtype: "u8" }), 0);
});

test("any byte but 0 is true; other dtypes and tidy bools stay as they are", () => {
  const bytes = Uint8Array.of(0, 1, 2, 255);
  assert.deepEqual([...tidyBytes("bool", bytes)], [0, 1, 1, 1]);
  assert.deepEqual([...bytes], [0, 1, 2, 255], "the bytes given are not changed");
  assert.equal(tidyBytes("u8", bytes), bytes);
  const tidy = Uint8Array.of(0, 1);
  assert.equal(tidyBytes("bool", tidy), tidy);
});
