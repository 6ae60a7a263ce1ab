/** A consumer's program: decompositions of `pumice/learn`. */
import * as learn from "pumice/learn";
import type { Calls } from "./methods.js";

const samples = [[1, 2], [3, 5], [4, 4], [6, 1]]; // biome-ignore format: a matrix
const on = { device: "cpu" };

export const decompositionCalls: Calls = {
  factorAnalysis: async () =>
    (await learn.factorAnalysis({ nComponents: 1 }).fit(samples, undefined, on)).transform(samples),
  fastIca: async () => (await learn.fastIca({ nComponents: 1 }).fit(samples, undefined, on)).transform(samples),
  incrementalPca: async () =>
    (await learn.incrementalPca({ batchSize: 2 }).fit(samples, undefined, on)).partialFit(samples).learned.mean,
  nmf: async () => (await learn.nmf({ nComponents: 1 }).fit(samples, undefined, on)).transform(samples),
  pca: async () => (await learn.pca({ nComponents: 1 }).fit(samples, undefined, on)).transform(samples),
  plsSvd: async () => (await learn.plsSvd().fit(samples, [1, 2, 4, 3], on)).transform(samples),
  truncatedSvd: async () => (await learn.truncatedSvd({ nComponents: 1 }).fit(samples)).transform(samples),
};
