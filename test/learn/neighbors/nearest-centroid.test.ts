/** The nearest centre of a class against scikit-learn. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { nearestCentroid } from "../../../src/learn/index.js";
import { closeTo, dtypesOf, of } from "../../support/learn-cases.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";
import { neighborsCases, partsOf } from "./cases.js";

const cases = neighborsCases();

describeOnTensorDevices("nearestCentroid", (device) => {
  for (const [place, { set, metric, shrink, centroids, predicted }] of cases.centroids.entries()) {
    for (const dtype of dtypesOf(device, place === 0)) {
      test(`${set}, ${metric}, shrink ${shrink}, ${dtype}: scikit-learn's centres and labels`, async () => {
        const { x, y, queries } = partsOf(cases, set);
        const model = await nearestCentroid({ metric, shrinkThreshold: shrink ?? undefined }).fit(of(x, dtype), y);
        await closeTo(model.learned.centroids, centroids, dtype === "f64" ? 1e-12 : 1e-5, "centres");
        assert.deepEqual(numbersOf(model.predict(of(queries, dtype))), predicted);
      });
    }
  }

  test("a class without samples is never predicted, and even classes have the mean of two middle values", async () => {
    const given = [[1], [3], [10], [20], [60]];
    const model = await nearestCentroid({ metric: "manhattan" }).fit(given, [1, 1, 3, 3, 3], {
      classes: [0, 1, 2, 3],
      device,
    });
    assert.deepEqual(numbersOf(model.learned.centroids), [Infinity, 2, Infinity, 20]);
    assert.deepEqual(numbersOf(model.predict([[10.5], [11], [11.5], [-1e9]])), [1, 1, 3, 1]);
  });
});

test("metrics and thresholds that are none are refused by name", () => {
  assert.throws(() => nearestCentroid({ metric: "cosin" as "cosine" }), /nearestCentroid.*metric is "cosin"/);
  assert.throws(() => nearestCentroid({ shrinkThreshold: -1 }), /shrinkThreshold is -1; it is a number, zero or more/);
});
