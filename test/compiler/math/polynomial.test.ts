/** Polynomials by Horner's rule: the constant term comes first, and each step rounds twice. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { polynomial } from "../../../src/compiler/math/polynomial.js";
import { evaluator } from "../../support/math-evaluator.js";

const at = (x: number, coefficients: readonly number[], type: "f32" | "f64" = "f64") =>
  polynomial(evaluator, { type, value: x }, coefficients, type).value;

test("coefficients are given from the constant term on", () => {
  assert.equal(at(10, [1, 2, 3]), 321);
  assert.equal(at(-2, [5, 0, 0, 1]), -3);
  assert.equal(at(7, [4]), 4);
  assert.equal(at(0, [4, 1e300]), 4);
});

test("f32 rounds after every product and every sum", () => {
  const [x, a, b, c] = [0.1, 0.3, 0.7, 1.1].map(Math.fround) as [number, number, number, number];
  const round = Math.fround;
  assert.equal(at(x, [a, b, c], "f32"), round(round(round(round(c * x) + b) * x) + a));
});
