/** The quadratic discriminant: classes that lie in a plane. linear.test.ts holds it against scikit-learn. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { quadraticDiscriminantAnalysis } from "../../../src/learn/index.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";

describeOnTensorDevices("quadratic discriminants", () => {
  test("a class whose samples lie on a line keeps finite probabilities, and is found there", async () => {
    const x = [[0, 0], [1, 1], [2, 2], [3, 3], [0, 3], [3, 0], [1, 2.5], [2.5, 0.5]]; // biome-ignore format: a matrix
    const model = await quadraticDiscriminantAnalysis().fit(x, [0, 0, 0, 0, 1, 1, 1, 1]);
    assert.ok(numbersOf(model.predictProbability(x)).every(Number.isFinite));
    assert.deepEqual(numbersOf(model.predict([[1.5, 1.5], [1.5, 1.7]])), [0, 1]); // biome-ignore format: a matrix
  });
});
