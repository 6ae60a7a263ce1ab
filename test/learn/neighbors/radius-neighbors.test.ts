/** Predictions from all samples within a radius against scikit-learn. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Tensor } from "../../../src/index.js";
import { radiusNeighborsClassifier, radiusNeighborsRegressor } from "../../../src/learn/index.js";
import { closeTo, dtypesOf, of } from "../../support/learn-cases.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";
import { neighborsCases, partsOf } from "./cases.js";

const cases = neighborsCases();

describeOnTensorDevices("predictions from samples within a radius", (device) => {
  for (const [
    place,
    { set, radius, weights, outlier, probabilities, predicted },
  ] of cases.radiusClassifiers.entries()) {
    for (const dtype of dtypesOf(device, place === 0)) {
      test(`${set}, ${radius}, ${weights}, ${dtype}: scikit-learn's shares and labels, of outliers too`, async () => {
        const { x, y, queries } = partsOf(cases, set);
        const outlierLabel = outlier === "most_frequent" ? "mostFrequent" : outlier;
        const model = await radiusNeighborsClassifier({ radius, weights, outlierLabel }).fit(of(x, dtype), y);
        const far = queries[0]!.map((value) => value + 50);
        const q = of([...queries, ...x.slice(0, 2), far], dtype);
        await closeTo(model.predictProbability(q), probabilities, dtype === "f64" ? 1e-9 : 1e-4, "shares");
        assert.deepEqual(numbersOf(model.predict(q)), predicted);
      });
    }
  }

  for (const [place, { set, radius, weights, predicted }] of cases.radiusRegressors.entries()) {
    for (const dtype of dtypesOf(device, place === 0)) {
      test(`${set}, ${radius}, ${weights}, ${dtype}: scikit-learn's means`, async () => {
        const { x, y, queries } = partsOf(cases, set);
        const model = await radiusNeighborsRegressor({ radius, weights }).fit(of(x, dtype), y);
        const q = of([...queries, ...x.slice(0, 2)], dtype);
        await closeTo(model.predict(q), predicted, dtype === "f64" ? 1e-9 : 1e-4, "means");
      });
    }
  }
});

test("a regression gives NaN where nobody is near, and weights are a function of distances", async () => {
  const weights = (distances: Tensor): Tensor => distances.add(1) as Tensor;
  const model = await radiusNeighborsRegressor({ radius: 2, weights }).fit([[0], [1]], [[1, 4], [2, 8]]); // biome-ignore format: a matrix
  assert.deepEqual(numbersOf(model.predict([[0], [40]])), [5 / 3, 20 / 3, Number.NaN, Number.NaN].map(Math.fround));
});

test("a class of its own for outliers is named among the classes; a wrong label, and none, are refused", async () => {
  const [x, y] = [
    [[0], [1], [2]],
    [0, 1, 1],
  ];
  const model = await radiusNeighborsClassifier({ outlierLabel: -1 }).fit(x, y, { classes: [-1, 0, 1] });
  assert.deepEqual(await model.predictLabels([[9], [0], [2]]), [-1, 0, 1]);
  await assert.rejects(radiusNeighborsClassifier({ outlierLabel: 7 }).fit(x, y), /outlierLabel is 7; .* \{ classes:/);
  assert.throws(() => radiusNeighborsClassifier(), /outlierLabel is missing/);
});
