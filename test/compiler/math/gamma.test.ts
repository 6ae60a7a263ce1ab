/** lgamma, by Stirling's series to hundreds of bits, and its parts. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { largeFrom, sinPiOverPi, stepDown } from "../../../src/compiler/math/gamma.js";
import * as exact from "../../support/exact-functions.js";
import { rounded, ulpsFrom } from "../../support/floats.js";
import { evaluator, type Scalar } from "../../support/math-evaluator.js";
import { evaluated, holdsOracle, holdsTable, powers, spread, types } from "./function-checks.js";
import { compiled } from "./math-cases.js";

holdsTable("lgamma", [
  [1, 0],
  [2, 0],
  [0, Infinity],
  [-0, Infinity],
  [-1, Infinity],
  [-2, Infinity],
  [-3, Infinity],
  [-Infinity, Infinity],
  [Infinity, Infinity],
]);

holdsOracle("lgamma", exact.lgamma, {
  both: [
    ...spread(0.01, 12, 100),
    ...powers(-100, -1),
    ...powers(3, 100),
    // It is zero at 1 and 2, and the expansions meet at 4 and 8.
    ...[1, 2, 4, 8].flatMap((x) => [[x * (1 - 2 ** -22)], [x * (1 + 2 ** -22)], [x - 0.01], [x + 0.01]]),
  ],
  f64: [...powers(100, 1000), ...powers(-1000, -100)],
});

test("factorials: lgamma of n is the logarithm of (n - 1)!", () => {
  let factorial = 1;
  for (let n = 2; n <= 22; n++) {
    factorial *= n - 1;
    for (const type of types) {
      const got = compiled("lgamma", type)(n);
      assert.ok(ulpsFrom(type, got, n === 2 ? { high: 0, low: 0 } : exact.log(factorial)) <= 4, `${n} in ${type}`);
    }
  }
});

test("left of zero it is the logarithm of the magnitude, to the size of the terms of the reflection", () => {
  for (const type of types) {
    for (const x of [-0.5, -1.5, -2.25, -2.75, -5.5, -10.125, -20.0625]) {
      const { high } = exact.lgamma(x);
      const scale = 1 + exact.lgamma(-x).high;
      const off = Math.abs(compiled("lgamma", type)(x) - high) / Math.abs(scale);
      assert.ok(off <= 8 * (type === "f32" ? 2 ** -24 : 2 ** -53), `lgamma(${x}) in ${type}`);
    }
  }
});

test("sin(pi r) / pi to a few ulp", () => {
  for (const type of types) {
    for (const r of [0, 2 ** -30, 0.01, 0.25, 0.3, 0.5, -0.125, -0.5]) {
      const given = rounded(type, r);
      const want = Math.sin(Math.PI * given) / Math.PI;
      const off = Math.abs(evaluated(sinPiOverPi, given, type) - want);
      assert.ok(off <= 4 * Math.abs(want) * (type === "f32" ? 2 ** -23 : 2 ** -52), `${r} in ${type}`);
    }
  }
});

test("stepping down ends between 1 and 2, a whole number below, and visits each step that is taken", () => {
  for (const type of types) {
    for (const x of [1.25, 2, 2.5, 3.5, largeFrom[type] - 0.25]) {
      const taken: number[] = [];
      const end = stepDown(evaluator, { type, value: x } as Scalar, type, (isTaken, y) => {
        if (isTaken.value) taken.push(y.value);
      });
      const want: number[] = [];
      for (let y = x; y > 2; ) want.push(--y);
      assert.deepEqual(taken, want);
      assert.equal(end.value, want.at(-1) ?? x);
    }
  }
});
