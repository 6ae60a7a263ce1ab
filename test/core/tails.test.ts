/** Tails of distributions against SciPy's values (scipy.special, 1.10) and closed forms. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { betaBelow, chi2Above, fAbove, gammaAbove, logGamma } from "../../src/core/tails.js";

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

test("incomplete functions have SciPy's values, far in the tails too", () => {
  for (const [x, a, b, want] of [
    [0.01, 2, 3, 0.00059203],
    [0.5, 0.5, 0.5, 0.5000000000000001],
    [0.9, 10, 2, 0.6973568802000001],
    [0.0001, 30, 1.5, 6.256965775130616e-120],
    [0.3, 200, 150, 3.793368699251222e-26],
  ] as const)
    near(betaBelow(x, a, b), want, `beta ${x}, ${a}, ${b}`);
  for (const [x, a, want] of [
    [0.1, 0.5, 0.6547208460185768],
    [3, 0.5, 0.014305878435429641],
    [2, 2.5, 0.5494159513527802],
    [20, 2.5, 1.493367900050393e-7],
    [80, 50, 0.0001307839765914092],
    [300, 4, 2.3400119619130212e-124],
    [12, 20, 0.9787202306169733],
  ] as const)
    near(gammaAbove(x, a), want, `gamma ${x}, ${a}`);
});

test("tails of F and χ² have closed forms", () => {
  // χ² of 2 degrees is exponential; F of (2, n) is a power.
  for (const x of [0.1, 1, 5, 40, 300]) near(chi2Above(x, 2), Math.exp(-x / 2), `χ² ${x}`);
  for (const f of [0.2, 1, 7, 90]) near(fAbove(f, 2, 10), (1 + f / 5) ** -5, `F ${f}`);
  assert.equal(fAbove(Number.POSITIVE_INFINITY, 3, 4), 0);
  assert.equal(chi2Above(0, 3), 1);
  assert.ok(Number.isNaN(fAbove(Number.NaN, 1, 2)) && Number.isNaN(chi2Above(Number.NaN, 1)));
});
