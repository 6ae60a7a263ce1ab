/** A consumer's program: clusters of `pumice/learn`. */
import * as learn from "pumice/learn";
import type { Calls } from "./methods.js";

const samples = [
  [1, 2],
  [3, 5],
  [4, 4],
  [6, 1],
];

export const clusterCalls: Calls = {
  dbscan: async () => (await learn.dbscan({ eps: 2, minSamples: 2 }).fit(samples)).learned.labels,
  kMeans: async () => (await learn.kMeans({ nClusters: 2 }).fit(samples)).predict(samples),
};
