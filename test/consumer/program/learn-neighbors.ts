/** A consumer's program: neighbours of `pumice/learn`. */
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
const two = { nNeighbors: 2 };

export const neighborsCalls: Calls = {
  kNeighborsClassifier: async () => (await learn.kNeighborsClassifier(two).fit(samples, labels)).predictLabels(samples),
  kNeighborsRegressor: async () => (await learn.kNeighborsRegressor(two).fit(samples, numbers)).predict(samples),
  localOutlierFactor: async () => (await learn.localOutlierFactor().fit(samples)).predict(samples),
  largeVis: () => learn.largeVis(samples, two).weights,
  nearestCentroid: async () => (await learn.nearestCentroid().fit(samples, labels)).predictLabels(samples),
  nnDescent: () => learn.nnDescent(samples, two).indices,
  randomProjectionForest: async () => (await learn.randomProjectionForest(two).fit(samples)).kNeighbors().distances,
  nearestNeighbors: async () => (await learn.nearestNeighbors(two).fit(samples)).radiusNeighbors(),
  radiusNeighborsClassifier: async () =>
    (await learn.radiusNeighborsClassifier({ outlierLabel: "a" }).fit(samples, labels)).predictLabels(samples),
  radiusNeighborsRegressor: async () =>
    (await learn.radiusNeighborsRegressor({ radius: 9 }).fit(samples, numbers)).predict(samples),
  kernelDensity: async () =>
    (await learn.kernelDensity().fit(samples, undefined, { device: "cpu" })).scoreSamples(samples),
};
