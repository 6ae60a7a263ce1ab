/** Bits of integers: logic, shifts, ones and leading zeros, signed and unsigned. */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as E from "../../../../src/graph/primitives/elementwise/bits.js";
import { results } from "./entry-rules.js";

test("bits: shifts, ones and leading zeros, signed and unsigned", () => {
  assert.deepEqual(
    results(E.shiftLeft, "i32", [
      [3, 4],
      [-1, 31],
    ]),
    [48, -(2 ** 31)],
  );
  assert.deepEqual(
    results(E.shiftRight, "i32", [
      [-16, 2],
      [16, 2],
    ]),
    [-4, 4],
  );
  assert.deepEqual(results(E.shiftRight, "u32", [[2 ** 32 - 16, 2]]), [2 ** 30 - 4]);
  assert.deepEqual(results(E.popcount, "i32", [[0], [-1], [0x0f0f00ff]]), [0, 32, 16]);
  assert.deepEqual(results(E.popcount, "u8", [[255], [0x55]]), [8, 4]);
  assert.deepEqual(results(E.countLeadingZeros, "i32", [[0], [1], [-1], [0x00ff0000]]), [32, 31, 0, 8]);
  assert.deepEqual(results(E.countLeadingZeros, "u8", [[0], [1], [16]]), [8, 7, 3]);
  assert.deepEqual(results(E.not, "i32", [[0], [5]]), [-1, -6]);
  assert.deepEqual(results(E.not, "bool", [[0], [1]]), [1, 0]);
});

test("logic of bits, of integers and of truth values", () => {
  const rows = [
    [0b1100, 0b1010],
    [-1, 6],
  ];
  assert.deepEqual(results(E.and, "i32", rows), [0b1000, 6]);
  assert.deepEqual(results(E.or, "i32", rows), [0b1110, -1]);
  assert.deepEqual(results(E.xor, "i32", rows), [0b0110, -7]);
  const truths = [
    [0, 0],
    [0, 1],
    [1, 1],
  ];
  assert.deepEqual(results(E.and, "bool", truths), [0, 0, 1]);
  assert.deepEqual(results(E.or, "bool", truths), [0, 1, 1]);
  assert.deepEqual(results(E.xor, "bool", truths), [0, 1, 0]);
});
