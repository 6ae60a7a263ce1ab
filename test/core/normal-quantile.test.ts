/** The normal quantile against SciPy's values (scipy.special.ndtri, 1.10). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { normalQuantile } from "../../src/core/normal-quantile.js";

test("it has SciPy's values in the middle and in the tails, and is odd about a half", () => {
  for (const [p, want] of [
    [1e-300, -37.0470962993612],
    [1e-20, -9.26234008979841],
    [0.001, -3.090232306167813],
    [0.3, -0.5244005127080409],
    [0.5, 0],
    [0.9, 1.2815515655446004],
  ] as const) {
    const found = normalQuantile(p);
    assert.ok(Math.abs(found - want) <= 1e-15 * Math.abs(want), `${p}: ${found}, not ${want}`);
  }
  assert.equal(normalQuantile(0.25), -normalQuantile(0.75));
});

test("zero and one are infinitely far, and what is no probability has none", () => {
  assert.deepEqual([0, 1].map(normalQuantile), [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]);
  assert.deepEqual([-0.1, 1.1, Number.NaN].map(normalQuantile), [Number.NaN, Number.NaN, Number.NaN]);
});
