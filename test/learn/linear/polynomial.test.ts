/** Polynomial regression against scikit-learn's features and least squares. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { polynomialRegression } from "../../../src/learn/index.js";
import { compareLinear } from "../../support/linear-cases.js";
import { f64, numbersOf } from "../../support/tensors.js";

compareLinear(["polynomialRegression"], { make: ({ options }) => polynomialRegression(options), within: [1e-9, 1e-4] });

test("coefficients belong to a, b, a², ab, b²", async () => {
  const x = Array.from({ length: 12 }, (_, i) => [Math.sin(i * 3), Math.cos(i * i)]);
  const y = x.map(([a, b]) => 1 + 2 * a! - b! + 3 * a! * a! + 4 * a! * b! - 5 * b! * b!);
  const { learned } = await polynomialRegression().fit(f64(x), f64(y));
  numbersOf(learned.coefficients).forEach((value, i) => {
    assert.ok(Math.abs(value - [2, -1, 3, 4, -5][i]!) < 1e-10);
  });
});

test("misuse is refused by name", () => {
  assert.throws(() => polynomialRegression({ degree: 0 }), /the degree is a whole number from 1 on/);
});
