/** Numbers at equal ratios: ends to the bit, powers of other bases, whole numbers that stay whole. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ArgumentError, geomspace, logspace } from "../../src/index.js";
import { numbersOf } from "../support/tensors.js";

const cpu = { device: "cpu", dtype: "f64" } as const;

test("powers of ten and of two, with and without the last", () => {
  assert.deepEqual(numbersOf(logspace(0, 3, 4, cpu)), [1, 10, 100, 1000]);
  assert.deepEqual(numbersOf(logspace(0, 4, 4, { ...cpu, base: 2, endpoint: false })), [1, 2, 4, 8]);
  assert.deepEqual(numbersOf(logspace(2, 9, 1, cpu)), [100]);
  assert.deepEqual(numbersOf(logspace(2, 9, 0, cpu)), []);
});

test("geomspace has its ends to the bit, of either sign", () => {
  const found = numbersOf(geomspace(-0.3, -77.7, 5, cpu));
  assert.deepEqual([found[0], found[4]], [-0.3, -77.7]);
  for (let i = 1; i < 5; i++) assert.ok(Math.abs(found[i]! / found[i - 1]! - (77.7 / 0.3) ** 0.25) < 1e-13);
});

test("integers are not one less for the sake of rounding", () => {
  assert.deepEqual(numbersOf(geomspace(1, 1e6, 7, { device: "cpu", dtype: "i32" })), [1, 10, 100, 1e3, 1e4, 1e5, 1e6]);
  assert.deepEqual(numbersOf(logspace(0, 1, 3, { device: "cpu", dtype: "i32" })), [1, 3, 10]);
});

test("ends of different signs, or 0, are refused", () => {
  for (const [from, to] of [
    [-1, 1],
    [0, 1],
    [1, 0],
  ] as const) {
    assert.throws(() => geomspace(from, to, 3, cpu), ArgumentError);
  }
});
