/** Huber's regression against scikit-learn's objective, minimised to the end. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { huberRegressor } from "../../../src/learn/index.js";
import { closeTo } from "../../support/learn-cases.js";
import { compareLinear } from "../../support/linear-cases.js";
import { f64, numbersOf } from "../../support/tensors.js";

compareLinear(["huberRegressor"], {
  make: ({ options }, dtype) => huberRegressor({ ...options, tol: dtype === "f64" ? 1e-10 : 1e-4 }),
  within: [1e-6, 1e-4],
  async more({ learned }, each, _, within) {
    await closeTo(learned.scale!, each.scale, within, "scale");
    assert.deepEqual(numbersOf(learned.outliers!), each.outliers);
  },
});

test("an outlier moves the line little, and is named", async () => {
  const x = Array.from({ length: 20 }, (_, i) => [i]);
  const y = x.map(([v]) => 2 * v! + 1 + Math.sin(v! * 5) / 10);
  y[10] = 1000;
  const { learned } = await huberRegressor({ tol: 1e-9 }).fit(f64(x), f64(y));
  assert.ok(Math.abs(numbersOf(learned.coefficients)[0]! - 2) < 0.02);
  assert.equal(numbersOf(learned.outliers)[10], 1);
});

test("misuse is refused by name", () => {
  assert.throws(() => huberRegressor({ epsilon: 0.5 }), /huberRegressor: epsilon is 0.5; it is a number, 1 or more/);
});
