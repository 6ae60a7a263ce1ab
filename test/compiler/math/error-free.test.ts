/** Sums and products with their rounding errors, against exact sums and products of whole numbers. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { fastTwoSum, type Pair, twoProduct, twoSum } from "../../../src/compiler/math/error-free.js";
import { fixed } from "../../support/exact-functions.js";
import { randomFloats, rounded } from "../../support/floats.js";
import { evaluator, type Scalar } from "../../support/math-evaluator.js";
import { types } from "./function-checks.js";

const exactly = ({ high, low }: Pair<Scalar>): bigint => fixed(high.value) + fixed(low.value);

for (const type of types) {
  const random = randomFloats(type, 12);
  const scalar = (value: number): Scalar => ({ type, value });
  const pairs = Array.from({ length: 500 }, (_, i) => {
    const a = random.scaled(-20, 20);
    // Every third pair cancels, all or nearly.
    return [a, i % 3 === 0 ? rounded(type, -a * (1 + (i % 5) * 2 ** -20)) : random.scaled(-20, 20)] as const;
  });

  test(`a sum in ${type} and its error are the exact sum, in any order`, () => {
    for (const [a, b] of pairs) {
      const pair = twoSum(evaluator, scalar(a), scalar(b));
      assert.equal(pair.high.value, rounded(type, a + b));
      assert.equal(exactly(pair), fixed(a) + fixed(b), `${a} + ${b}`);
    }
  });

  test(`the fast sum in ${type} is as exact when the larger comes first, or a zero`, () => {
    for (const [a, b] of pairs) {
      const [large, small] = Math.abs(a) >= Math.abs(b) ? [a, b] : [b, a];
      assert.equal(exactly(fastTwoSum(evaluator, scalar(large), scalar(small))), fixed(a) + fixed(b));
      assert.equal(exactly(fastTwoSum(evaluator, scalar(0), scalar(b))), fixed(b));
    }
  });

  test(`a product in ${type} and its error are ${type === "f32" ? "the exact product" : "right to 2^-94"}`, () => {
    for (const [a, b] of pairs) {
      const pair = twoProduct(evaluator, scalar(a), scalar(b), type);
      assert.equal(pair.high.value, rounded(type, a * b));
      // Whole numbers in units of 2^-2400 and 2^-1200.
      const product = (fixed(a) * fixed(b)) >> 1200n;
      const off = exactly(pair) - product;
      const size = off < 0n ? -off : off;
      if (type === "f32") assert.equal(size, 0n, `${a} * ${b}`);
      else assert.ok(size << 94n <= (product < 0n ? -product : product), `${a} * ${b}`);
    }
  });
}
