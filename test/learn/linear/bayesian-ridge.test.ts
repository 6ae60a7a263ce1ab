/** Bayesian ridge regression against scikit-learn: precisions, coefficients, deviations. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { bayesianRidge, type Uncertain } from "../../../src/learn/index.js";
import { closeTo } from "../../support/learn-cases.js";
import { called, compareLinear } from "../../support/linear-cases.js";
import { numbersOf } from "../../support/tensors.js";

compareLinear(["bayesianRidge"], {
  make: ({ options }) => bayesianRidge(options),
  within: [1e-6, 1e-4],
  async more(model, each, x, within) {
    await closeTo(called<Uncertain>(model, "predictWithStd", x).std, each.std, within * 10, "deviations");
    if (x.dtype !== "f64") return;
    assert.deepEqual(numbersOf(model.learned.iterations!), [each.iterations]);
    if (each.name.startsWith("more features")) return;
    await closeTo(model.learned.alpha!, each.noise, within, "the precision of the noise");
    await closeTo(model.learned.lambda!, each.precision, within, "the precision of the coefficients");
  },
});

test("misuse is refused by name", () => {
  assert.throws(() => bayesianRidge({ alpha1: -1 }), /bayesianRidge: alpha1 is -1/);
});
