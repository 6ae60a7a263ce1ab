/** log, log2, log10 and log1p, from the smallest denormal to the largest float. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { log1pOfPair, logTerms } from "../../../src/compiler/math/logarithm.js";
import * as exact from "../../support/exact-functions.js";
import { largest, rounded, smallestDenormal, smallestNormal } from "../../support/floats.js";
import { evaluator } from "../../support/math-evaluator.js";
import { holdsOracle, holdsTable, negated, powers, spread, types } from "./function-checks.js";
import { compiled } from "./math-cases.js";

holdsTable("log", [
  [1, 0],
  [0, -Infinity],
  [-0, -Infinity],
  [Infinity, Infinity],
  [-1, NaN],
  [-Infinity, NaN],
]);

holdsTable("log2", [
  [1, 0],
  [0, -Infinity],
  [-0, -Infinity],
  [Infinity, Infinity],
  [-1, NaN],
  [8, 3],
  [2 ** -149, -149],
  [2 ** 100, 100],
  [0.5, -1],
]);

holdsTable("log10", [
  [1, 0],
  [0, -Infinity],
  [-0, -Infinity],
  [Infinity, Infinity],
  [-1, NaN],
  [10, 1],
  [1000, 3],
  [1e10, 10],
]);

holdsTable("log1p", [
  [0, 0],
  [-0, -0],
  [-1, -Infinity],
  [Infinity, Infinity],
  [-2, NaN],
  [-Infinity, NaN],
]);

/** Both sides of 1, of sqrt(1/2) and of sqrt(2), where the exponent steps, and everything else. */
const POSITIVE = [
  ...spread(0.5, 2, 60),
  ...powers(-120, 120),
  ...[1, Math.SQRT1_2, Math.SQRT2].flatMap((x) => [[x * (1 - 2 ** -22)], [x], [x * (1 + 2 ** -22)]]),
];
const ENDS = {
  f32: [[largest.f32], [smallestNormal.f32], [smallestDenormal.f32], [3 * smallestDenormal.f32]],
  f64: [
    [largest.f64],
    [smallestNormal.f64],
    [smallestDenormal.f64],
    [3 * smallestDenormal.f64],
    ...powers(-1074, 1023),
  ],
};
holdsOracle("log", exact.log, { both: POSITIVE, ...ENDS });
holdsOracle("log2", exact.log2, { both: POSITIVE, ...ENDS });
holdsOracle("log10", exact.log10, { both: POSITIVE, ...ENDS });
holdsOracle("log1p", exact.log1p, {
  both: [...powers(-60, 60), ...negated(powers(-60, -0.01)), ...spread(-0.999, 2), [-1 + 2 ** -23]],
  f32: [[largest.f32], [smallestDenormal.f32], [-smallestDenormal.f32]],
  f64: [[largest.f64], [smallestDenormal.f64], [-smallestDenormal.f64], [-1 + 2 ** -53]],
});

test("powers of the base have whole logarithms, all of them", () => {
  for (const type of types) {
    const [lowest, highest] = type === "f32" ? [-149, 127] : [-1074, 1023];
    const log2 = compiled("log2", type);
    for (let n = lowest; n <= highest; n++) assert.equal(log2(2 ** n), n);
    const log10 = compiled("log10", type);
    // Powers of ten that are floats: 5^n has to fit.
    for (let n = 0; n <= (type === "f32" ? 10 : 22); n++) assert.equal(log10(10 ** n), n);
  }
});

test("the terms of a logarithm add up to it", () => {
  for (const type of types) {
    for (const [x] of powers(-100, 100) as [number][]) {
      const value = rounded(type, x);
      const { exponent, f, halfSquare, rest } = logTerms(evaluator, { type, value }, type);
      const sum = exponent.value * Math.LN2 + f.value - (halfSquare.value - rest.value);
      assert.ok(Math.abs(sum - Math.log(value)) <= 2 ** (type === "f32" ? -24 : -46), `log(${value})`);
      assert.ok(f.value >= Math.SQRT1_2 - 1.0001 && f.value <= Math.SQRT2 - 0.9999);
    }
  }
});

test("log1p of a pair counts its low part and the doublings", () => {
  const scalar = (value: number) => ({ type: "f64", value }) as const;
  const [high, low] = [scalar(0.3), scalar(1e-17)];
  const plain = log1pOfPair(evaluator, high, undefined, "f64").value;
  assert.equal(plain, exact.log1p(0.3).high);
  const moved = log1pOfPair(evaluator, high, scalar(2 ** -53), "f64").value;
  assert.ok(moved > plain && Math.abs(moved - plain - 2 ** -53 / 1.3) <= 2 ** -54);
  assert.ok(Math.abs(log1pOfPair(evaluator, high, low, "f64").value - plain) <= 2 ** -54);
  const doubled = log1pOfPair(evaluator, high, undefined, "f64", scalar(3)).value;
  assert.ok(Math.abs(doubled - (3 * Math.LN2 + plain)) <= 2 ** -51);
});
