/** Drawing again by weight. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  effectiveCount,
  systematicPositions,
  tailProblem,
  weighingOf,
} from "../../../src/bayes/approximation/importance.js";
import { key } from "../../../src/random/key.js";
import { tensor } from "../../../src/tensor/index.js";
import { expectFrequencies } from "../../support/goodness-of-fit.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";

describeOnTensorDevices("systematic resampling", (device) => {
  test("takes each position as often as its weight says, rounded up or down, and never one of weight zero", () => {
    const weights = [0, 0.05, 0.301, 0, 0.149, 0.4999, 0.0001, 0];
    for (let seed = 0; seed < 20; seed++) {
      const held = tensor(weights, { device });
      const counts = weights.map(() => 0);
      for (const position of numbersOf(systematicPositions(key(seed, { device }), held, 100))) counts[position]!++;
      counts.forEach((count, i) => {
        assert.ok(Math.abs(count - 100 * weights[i]!) < 1 + 1e-4, `${count} of weight ${weights[i]}`);
      });
      assert.deepEqual([counts[0], counts[3], counts[7]], [0, 0, 0]);
    }
  });
});

test("a single systematic draw has the probabilities of the weights", () => {
  const weights = [0.1, 0.2, 0.3, 0.4];
  const counts = [0, 0, 0, 0];
  for (let seed = 0; seed < 500; seed++) {
    const held = tensor(weights, { dtype: "f64", device: "cpu" });
    counts[numbersOf(systematicPositions(key(seed, { device: "cpu" }), held, 1))[0]!]!++;
  }
  expectFrequencies(counts, weights, "positions");
});

test("weights are worth as many draws as have all the weight", () => {
  const logs = Float64Array.of(Math.log(0.25), Math.log(0.25), Math.log(0.25), Math.log(0.25), -Infinity);
  assert.ok(Math.abs(effectiveCount(logs) - 4) < 1e-12);
});

test("Pareto k is a doubt above 0.7 and an error above 1, where the weights differ", () => {
  const problem = (paretoK: number, share = 0.5, draws = 4000) => tailProblem({ paretoK, share, draws }, "");
  assert.equal(problem(0.69), undefined);
  assert.equal(problem(0.71)?.severity, "warning");
  assert.equal(problem(1.2)?.severity, "error");
  assert.match(
    problem(1.2)?.message ?? "",
    /^Pareto k is 1\.20, above 0\.70, and the weights are worth 50% of the draws:/,
  );
  assert.match(problem(Number.POSITIVE_INFINITY)?.message ?? "", /not finite/);
  assert.equal(problem(1.2, 0.91), undefined);
  assert.match(problem(Number.POSITIVE_INFINITY, 1, 4)?.message ?? "", /^There are 4 draws to weigh, too few/);
});

test("weights are worth (Σw)²/Σw² draws", () => {
  const { share, draws } = weighingOf(Float64Array.of(-700, -700 + Math.log(2), -700 + Math.log(3), -Infinity), 0);
  assert.equal(draws, 4);
  assert.ok(Math.abs(share - 36 / 14 / 4) < 1e-12, `${share}`);
});
