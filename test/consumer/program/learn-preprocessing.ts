/** A consumer's program: preprocessing of `pumice/learn`. */
import * as learn from "pumice/learn";
import type { Calls } from "./methods.js";

const samples = [
  [1, 2],
  [3, 5],
  [4, 4],
  [6, 1],
];
const on = { device: "cpu" };

export const preprocessingCalls: Calls = {
  binarizer: async () => (await learn.binarizer({ threshold: 2 }).fit(samples, undefined, on)).transform(samples),
  kBinsDiscretizer: async () => (await learn.kBinsDiscretizer({ nBins: 2 }).fit(samples, undefined, on)).featureNames(),
  normalizer: async () => (await learn.normalizer({ norm: "l1" }).fit(samples, undefined, on)).transform(samples),
  polynomialFeatures: async () => (await learn.polynomialFeatures().fit(samples, undefined, on)).transform(samples),
  powerTransformer: async () =>
    (await learn.powerTransformer({ method: "boxCox" }).fit(samples, undefined, on)).inverseTransform(samples),
  quantileTransformer: async () =>
    (await learn.quantileTransformer({ nQuantiles: 4 }).fit(samples, undefined, on)).transform(samples),
};
