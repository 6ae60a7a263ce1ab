/** A consumer's program: clusters of `pumice/learn`. */
import * as learn from "pumice/learn";
import type { Calls } from "./methods.js";

const samples = [
  [1, 2],
  [3, 5],
  [4, 4],
  [6, 1],
];

const tree = async () => (await learn.agglomerativeClustering({ linkage: "average" }).fit(samples)).learned.linkage;

export const clusterCalls: Calls = {
  affinityPropagation: async () => (await learn.affinityPropagation({ preference: -9 }).fit(samples)).predict(samples),
  agglomerativeClustering: tree,
  copheneticDistances: async () => learn.copheneticDistances(await tree()),
  cutTree: async () => learn.cutTree(await tree(), { nClusters: 2 }),
  dbscan: async () => (await learn.dbscan({ eps: 2, minSamples: 2 }).fit(samples)).learned.labels,
  kMeans: async () => (await learn.kMeans({ nClusters: 2 }).fit(samples)).predict(samples),
  miniBatchKMeans: async () =>
    (await learn.miniBatchKMeans({ nClusters: 2 }).fit(samples)).partialFit(samples).learned.centers,
  gaussianMixture: async () => (await learn.gaussianMixture().fit(samples)).scoreSamples(samples),
  hdbscan: async () => (await learn.hdbscan({ minClusterSize: 2 }).fit(samples)).learned.probabilities,
  optics: async () => (await learn.optics({ minSamples: 2 }).fit(samples)).learned.reachability,
  spectralClustering: async () => (await learn.spectralClustering({ nClusters: 2 }).fit(samples)).learned.labels,
  spectralEmbedding: () => learn.spectralEmbedding(samples, { affinity: "rbf" }),
};
