/** Frames of signals: cut, overlapping or apart, and joined again. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { framed, joinedFrames } from "../../src/tensor/frames.js";
import { f64, numbersOf } from "../support/tensors.js";

test("pieces begin a hop apart, as many as fit", () => {
  const pieces = framed(f64([0, 1, 2, 3, 4, 5, 6]), 3, 2);
  assert.deepEqual(pieces.shape, [3, 3]);
  assert.deepEqual(numbersOf(pieces), [0, 1, 2, 2, 3, 4, 4, 5, 6]);
  assert.deepEqual(framed(f64([0, 1, 2, 3]), 3, 2).shape, [1, 3]);
  assert.deepEqual(numbersOf(framed(f64([[0, 1], [2, 3]]), 1, 1)), [0, 1, 2, 3]); // biome-ignore format: a matrix
});

test("joined pieces are summed where they overlap, for any hop", () => {
  for (const [count, length, hop] of [
    [3, 4, 2],
    [3, 4, 3],
    [4, 2, 2],
    [2, 3, 5],
    [1, 3, 2],
  ] as const) {
    const pieces = Array.from({ length: count }, (_, i) => Array.from({ length }, (_, k) => 10 * i + k + 1));
    const want = new Array<number>((count - 1) * hop + length).fill(0);
    pieces.forEach((piece, i) => {
      piece.forEach((value, k) => {
        want[i * hop + k]! += value;
      });
    });
    assert.deepEqual(numbersOf(joinedFrames(f64(pieces), hop)), want, `${count} of ${length}, ${hop} apart`);
  }
});
