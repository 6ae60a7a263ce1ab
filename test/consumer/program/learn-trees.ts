/** A consumer's program: trees of `pumice/learn`. */
import * as learn from "pumice/learn";
import type { Calls } from "./methods.js";

const samples = [
  [1, 2],
  [3, 5],
  [4, 4],
  [6, 1],
];
const numbers = [1, 2, 3, 5];
const labels = ["a", "b", "a", "b"];
const given = { device: "cpu" };
const small = { maxIter: 2, minSamplesLeaf: 1 };

export const treeCalls: Calls = {
  histGradientBoostingClassifier: async () =>
    (await learn.histGradientBoostingClassifier(small).fit(samples, labels, given)).predictProbability(samples),
  histGradientBoostingRegressor: async () =>
    (await learn.histGradientBoostingRegressor(small).fit(samples, numbers, given)).featureImportances(),
};
