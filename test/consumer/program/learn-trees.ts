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

const forest = { nEstimators: 2 };

export const treeCalls: Calls = {
  decisionTreeClassifier: async () =>
    (await learn.decisionTreeClassifier().fit(samples, labels, given)).predictProbability(samples),
  decisionTreeRegressor: async () => (await learn.decisionTreeRegressor().fit(samples, numbers, given)).toText(),
  extraTreesClassifier: async () =>
    (await learn.extraTreesClassifier(forest).fit(samples, labels, given)).predictLabels(samples),
  extraTreesRegressor: async () =>
    (await learn.extraTreesRegressor(forest).fit(samples, numbers, given)).predict(samples),
  histGradientBoostingClassifier: async () =>
    (await learn.histGradientBoostingClassifier(small).fit(samples, labels, given)).predictProbability(samples),
  histGradientBoostingRegressor: async () =>
    (await learn.histGradientBoostingRegressor(small).fit(samples, numbers, given)).featureImportances(),
  histGradientBoostingRanker: async () =>
    (await learn.histGradientBoostingRanker(small).fit(samples, numbers, { ...given, groups: [1, 1, 2, 2] })).predict(
      samples,
    ),
  isolationForest: async () =>
    (await learn.isolationForest(forest).fit(samples, undefined, given)).scoreSamples(samples),
  randomForestClassifier: async () =>
    (await learn.randomForestClassifier(forest).fit(samples, labels, given)).predictProbability(samples),
  randomForestRegressor: async () =>
    (await learn.randomForestRegressor(forest).fit(samples, numbers, given)).shapValues(samples),
};
