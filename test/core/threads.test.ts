/** How many threads, and how many rows each takes at a time. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ArgumentError } from "../../src/core/errors.js";
import { chunkOf, threadsWanted } from "../../src/core/threads.js";

test("as many threads as wished for, else all; wishes are whole numbers from 1 up", () => {
  assert.deepEqual([threadsWanted(8, ""), threadsWanted(8, "3"), threadsWanted(2, "16")], [8, 3, 16]);
  for (const wish of ["0", "-1", "2.5", "many"]) assert.throws(() => threadsWanted(8, wish), ArgumentError);
});

test("few rows are not shared; the others in chunks of whole grains, about four to a thread", () => {
  assert.equal(chunkOf(1000, 1, 1), null);
  assert.equal(chunkOf(199, 100, 4), null);
  assert.equal(chunkOf(200, 100, 4), 100);
  assert.equal(chunkOf(1600, 1, 4), 100);
  assert.equal(chunkOf(1601, 1, 4), 101);
  for (const [length, grain, threads] of [
    [5000, 7, 3],
    [10, 2.5, 4],
    [65537, 64, 16],
  ] as const) {
    const chunk = chunkOf(length, grain, threads) ?? assert.fail("not shared");
    assert.equal(chunk % Math.ceil(grain), 0);
    assert.ok(chunk * threads * 4 >= length, "so many chunks do all rows");
  }
});
