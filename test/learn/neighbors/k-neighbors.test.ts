/** Predictions from the nearest samples against scikit-learn. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Tensor } from "../../../src/index.js";
import { kNeighborsClassifier, kNeighborsRegressor } from "../../../src/learn/index.js";
import { closeTo, dtypesOf, of } from "../../support/learn-cases.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";
import { neighborsCases, partsOf } from "./cases.js";

const cases = neighborsCases();

describeOnTensorDevices("predictions from the nearest samples", (device) => {
  for (const [place, each] of cases.classifiers.entries()) {
    for (const dtype of dtypesOf(device, place === 0)) {
      test(`${each.set}, ${each.k}, ${each.weights}, ${each.metric}, ${dtype}: scikit-learn's shares and labels`, async () => {
        const { k: nNeighbors, weights, metric, p } = each;
        const { x, y, queries, targets } = partsOf(cases, each.set);
        const model = await kNeighborsClassifier({ nNeighbors, weights, metric, p }).fit(of(x, dtype), y);
        const q = of([...queries, ...x.slice(0, 2)], dtype);
        await closeTo(model.predictProbability(q), each.probabilities, dtype === "f64" ? 1e-9 : 1e-4, "shares");
        assert.deepEqual(numbersOf(model.predict(q)), each.predicted);
        assert.ok(Math.abs((await model.score(of(queries, dtype), targets)) - each.score) < 1e-6);
      });
    }
  }

  for (const [place, each] of cases.regressors.entries()) {
    for (const dtype of dtypesOf(device, place === 0)) {
      test(`${each.set}, ${each.k}, ${each.weights}, ${each.metric}, ${dtype}: scikit-learn's means`, async () => {
        const { k: nNeighbors, weights, metric, p } = each;
        const { x, y, queries } = partsOf(cases, each.set);
        const several = metric === "cosine" ? y.map((value) => [value, value * value]) : y;
        const model = await kNeighborsRegressor({ nNeighbors, weights, metric, p }).fit(of(x, dtype), several);
        const q = of([...queries, ...x.slice(0, 2)], dtype);
        await closeTo(model.predict(q), each.predicted, dtype === "f64" ? 1e-9 : 1e-4, "means");
      });
    }
  }

  test("weights are a function of distances", async () => {
    const weights = (distances: Tensor): Tensor => distances.mul(-1).exp() as Tensor;
    const model = await kNeighborsRegressor({ nNeighbors: 2, weights }).fit([[0], [1], [9]], [10, 20, 90], { device });
    const [near, far] = [Math.exp(-0.25), Math.exp(-0.75)];
    await closeTo(model.predict([[0.25]]), [(10 * near + 20 * far) / (near + far)], 1e-6, "mean");
  });
});

test("of classes with equal votes the first wins, and texts are labels", async () => {
  const model = await kNeighborsClassifier({ nNeighbors: 2 }).fit([[0], [1], [5]], ["b", "a", "c"]);
  assert.deepEqual(await model.predictLabels([[0.1], [5.5]]), ["a", "a"]);
  const logs = numbersOf(model.predictLogProbability([[0.1]]));
  assert.ok(Math.abs(logs[0]! - Math.log(0.5)) < 1e-6 && logs[2] === Number.NEGATIVE_INFINITY);
});

test("weights that are none, and functions of another shape, are refused", async () => {
  assert.throws(() => kNeighborsClassifier({ weights: "inverse" as "distance" }), /weights are "inverse"/);
  const weights = (distances: Tensor): Tensor => distances.sum({ axis: 1 }) as Tensor;
  const model = await kNeighborsRegressor({ nNeighbors: 2, weights }).fit([[0], [1], [9]], [1, 2, 3]);
  assert.throws(
    () => model.predict([[1]]),
    /kNeighborsRegressor.predict: weights gave \[1\] for distances of \[1, 2\]/,
  );
});
