/** Weights in f16 and bf16: powers of two against Math, pairs against rounding by the definition. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  narrowPair,
  narrowPowerOfTwo,
  weightPair,
} from "../../../../src/compiler/routines/attention/narrow-weights.js";
import { dataOf, encodeValues } from "../../../../src/core/storage.js";
import { laneValues } from "../../../support/lane-values.js";

function powersOf(values: readonly number[]): number[] {
  return laneValues({ lanes: values.length, inputs: [{ dtype: "f32", values }] }, (k) => [
    narrowPowerOfTwo(k, k.load(0, k.lane, "f32")),
  ])[0]!;
}

test("powers of two are off by less than a hundredth of f16's rounding", () => {
  const values = Array.from({ length: 4000 }, (_, i) => Math.fround(-126 + (253 * i) / 4000));
  const most = powersOf(values).reduce((worst, got, i) => Math.max(worst, Math.abs(got / 2 ** values[i]! - 1)), 0);
  assert.ok(most < 2 ** -11 / 100, `${most}`);
});

test("whole powers are exact to that, 0 lies below the least, NaN stays", () => {
  const [zero, one, below, far, none, nan] = powersOf([0, 1, -126.5, -1e30, -Infinity, Number.NaN]) as number[];
  assert.equal(zero, 1);
  assert.equal(one, 2);
  assert.deepEqual([below, far, none], [0, 0, 0]);
  assert.ok(Number.isNaN(nan));
});

/** The two halves of words that a function makes of neighbours. */
function pairsOf(values: readonly number[], dtype: "f16" | "bf16", make: typeof narrowPair): number[] {
  const words = laneValues({ lanes: values.length / 2, inputs: [{ dtype: "f32", values }] }, (k) => {
    const at = k.binary("mul", k.lane, k.constant("i32", 2));
    return [make(k, dtype, k.load(0, at, "f32"), k.load(0, k.binary("add", at, k.constant("i32", 1)), "f32"))];
  })[0]!;
  return words.flatMap((word) => [word & 0xffff, word >>> 16]);
}

const bitsOf = (values: readonly number[], dtype: "f16" | "bf16") => [
  ...dataOf(encodeValues([...values], dtype, "test"), "u16"),
];

const weights = Array.from({ length: 64 }, (_, i) => Math.fround(Math.exp(-i / 3) * (1 + i / 997)));

test("pairs are the nearest numbers, the first in the lower half", () => {
  for (const dtype of ["f16", "bf16"] as const) {
    assert.deepEqual(pairsOf(weights, dtype, weightPair), bitsOf(weights, dtype), dtype);
    const signed = weights.map((x, i) => (i % 3 === 0 ? -x : x));
    assert.deepEqual(pairsOf(signed, dtype, narrowPair), bitsOf(signed, dtype), dtype);
  }
});

test("halves: narrow pairs go to even, weights of bf16 up", () => {
  const ties = [1 + 2 ** -8, 1 + 3 * 2 ** -8];
  assert.deepEqual(pairsOf(ties, "bf16", narrowPair), [0x3f80, 0x3f82]);
  assert.deepEqual(pairsOf(ties, "bf16", weightPair), [0x3f81, 0x3f82]);
});

test("NaN stays in narrow pairs", () => {
  for (const dtype of ["f16", "bf16"] as const) {
    const [first, second] = pairsOf([Number.NaN, 1], dtype, narrowPair) as [number, number];
    const mantissa = dtype === "f16" ? 0x3ff : 0x7f;
    assert.ok((first & mantissa) !== 0 && (first | mantissa | 0x8000) === 0xffff, first.toString(16));
    assert.equal(second, bitsOf([1], dtype)[0]);
  }
});
