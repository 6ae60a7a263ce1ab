/** Ordered classes: cutpoints that are sampled, and those that do not rise. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { flat, model, normal, ordered, orderedLogistic } from "../../../src/bayes/index.js";
import type { Tensor } from "../../../src/tensor/index.js";
import { grad } from "../../../src/transforms/grad.js";
import { describeOnTensorDevices, f64, numbersOf } from "../../support/tensors.js";

describe("cutpoints", () => {
  test("rise, or are refused by name, whether known or variables", () => {
    assert.throws(
      () => orderedLogistic(0, [0, 1, 1]),
      /orderedLogistic: cutpoints\[2\] is 1 and \[1\] is 1; they rise/,
    );
    const unordered = model(() => {
      const c = normal(0, 2).shape(3);
      return { c, y: orderedLogistic(0, c) };
    });
    assert.throws(
      () => unordered.given({ y: [0, 1] }),
      /y: .* cutpoints is c, .* rising numbers. Use .constrained\(ordered\)/,
    );
  });

  test("that are computed and do not rise have the density 0, and gradients that are numbers", () => {
    const density = (c: Tensor) =>
      orderedLogistic(f64(0.3), c)
        .distribution.logDensity(f64([0, 1, 3]))
        .sum();
    assert.equal(density(f64([1, 0, 2])).itemSync(), -Infinity);
    assert.ok(numbersOf(grad(density)(f64([1, 0, 2]))).every(Number.isFinite));
  });

  test("far from the location, classes keep their digits", () => {
    // log(σ(b) - σ(a)) for a, b = 400, 401 is -400 + log(1 - 1/e) to the last digit.
    const { distribution } = orderedLogistic(f64(-400), f64([0, 1]));
    const expected = -400 + Math.log(1 - Math.exp(-1));
    assert.ok(Math.abs(numbersOf(distribution.logDensity(f64([1])))[0]! - expected) < 1e-12);
  });
});

describeOnTensorDevices("a regression", (device) => {
  // Counts of classes 0, 1, 2 and 3, without a predictor: the best cutpoints are the log-odds of their shares.
  const counts = [40, 80, 60, 20];
  const y = counts.flatMap((count, k) => Array.from({ length: count }, () => k));

  test("finds the log-odds of the shares, in f32 and f64", async () => {
    const posterior = model(() => {
      const cutpoints = flat(ordered).shape(3);
      return { cutpoints, y: orderedLogistic(0, cutpoints) };
    }).given({ y });
    for (const dtype of ["f32", "f64"] as const) {
      const fit = await posterior.sample({ chains: 4, draws: 400, warmup: 300, seed: 1, device, dtype });
      [0.2, 0.6, 0.9].forEach((share, i) => {
        const { mean, sd } = fit.summary("cutpoints").rows[i]!;
        // Within half a posterior standard deviation: the mean is not the mode.
        assert.ok(Math.abs(mean - Math.log(share / (1 - share))) < 0.5 * sd, `cutpoint ${i}: ${mean}`);
      });
    }
  });

  test("has predictions and log-likelihoods by observation", async () => {
    const posterior = model(() => {
      const b = normal(0, 1);
      return { b, y: orderedLogistic(b, [-1, 1]) };
    }).given({ y: [0, 2, 1] });
    const found = numbersOf(posterior.logLikelihood({ b: 0 }).y);
    const end = Math.log(1 / (1 + Math.E));
    [end, end, Math.log(1 - 2 * Math.exp(end))].forEach((value, i) => {
      assert.ok(Math.abs(found[i]! - value) < 1e-5);
    });
  });
});
