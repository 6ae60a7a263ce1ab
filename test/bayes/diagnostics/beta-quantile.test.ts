/** The incomplete beta function against SciPy's values (scipy.special, 1.10) and closed forms. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { betaBelow, logGamma } from "../../../src/bayes/diagnostics/beta-quantile.js";

const near = (found: number, want: number, what: string) =>
  assert.ok(
    Math.abs(found - want) <= 1e-12 * Math.max(1e-300, Math.abs(want)) + 1e-300,
    `${what}: ${found}, not ${want}`,
  );

test("log Γ of whole numbers is the sum of logarithms", () => {
  let sum = 0;
  for (let n = 2; n < 40; n++) {
    sum += Math.log(n - 1);
    assert.ok(Math.abs(logGamma(n) - sum) <= 1e-13 * Math.max(1, sum));
  }
  near(logGamma(0.5), Math.log(Math.PI) / 2, "log Γ(1/2)");
});

test("the incomplete beta function has SciPy's values, far in the tail too", () => {
  for (const [x, a, b, want] of [
    [0.01, 2, 3, 0.00059203],
    [0.5, 0.5, 0.5, 0.5000000000000001],
    [0.9, 10, 2, 0.6973568802000001],
    [0.0001, 30, 1.5, 6.256965775130616e-120],
    [0.3, 200, 150, 3.793368699251222e-26],
  ] as const)
    near(betaBelow(x, a, b), want, `beta ${x}, ${a}, ${b}`);
});
