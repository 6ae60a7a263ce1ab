/** A consumer's program: embeddings of `pumice/learn`. */
import * as learn from "pumice/learn";
import type { Calls } from "./methods.js";

const samples = [
  [1, 2],
  [3, 5],
  [4, 4],
  [6, 1],
];

export const manifoldCalls: Calls = {
  mds: async () => (await learn.mds({ nInit: 1 }).fit(samples)).learned.stress,
  trustworthiness: () => learn.trustworthiness(samples, samples, { nNeighbors: 1 }),
  triMap: async () => (await learn.triMap({ nInliers: 1, maxIter: 5 }).fit(samples)).learned.loss,
  tsne: async () => (await learn.tsne({ perplexity: 2, maxIter: 50 }).fit(samples)).learned.embedding,
  umap: async () => (await learn.umap({ nNeighbors: 2, nEpochs: 5 }).fit(samples)).transform(samples),
};
