/** A consumer's program: preprocessing of `pumice/learn`. */
import * as learn from "pumice/learn";
import type { Calls } from "./methods.js";

const samples = [
  [1, 2],
  [3, 5],
  [4, 4],
  [6, 1],
];
const cities = learn.table({ city: ["Rom", "Ulm", null] });
const on = { device: "cpu" };

export const preprocessingCalls: Calls = {
  binarizer: async () => (await learn.binarizer({ threshold: 2 }).fit(samples, undefined, on)).transform(samples),
  columnTransformer: async () =>
    (await learn.columnTransformer({ city: learn.oneHotEncoder() }).fit(cities)).transform(cities),
  countVectorizer: async () => (await learn.countVectorizer().fit(["red fish", "blue fish"])).featureNames(),
  featureUnion: async () =>
    (await learn.featureUnion(learn.standardScaler(), learn.normalizer()).fit(samples, undefined, on)).featureNames(),
  functionTransformer: async () =>
    (await learn.functionTransformer({ apply: (x) => x.neg() }).fit(samples, undefined, on)).transform(samples),
  kBinsDiscretizer: async () => (await learn.kBinsDiscretizer({ nBins: 2 }).fit(samples, undefined, on)).featureNames(),
  kNeighborsImputer: async () => (await learn.kNeighborsImputer().fit(samples, undefined, on)).transform(samples),
  missingIndicator: async () => (await learn.missingIndicator({ features: "all" }).fit(cities)).featureNames(),
  normalizer: async () => (await learn.normalizer({ norm: "l1" }).fit(samples, undefined, on)).transform(samples),
  oneHotEncoder: async () => (await learn.oneHotEncoder({ drop: "first" }).fit(cities)).featureNames(),
  hashingVectorizer: async () =>
    (await learn.hashingVectorizer({ nFeatures: 8 }).fit(["red fish", "blue fish"])).transform(["red"]),
  ordinalEncoder: async () => {
    const model = await learn.ordinalEncoder().fit(cities);
    return model.inverseTransform(model.transform(cities));
  },
  polynomialFeatures: async () => (await learn.polynomialFeatures().fit(samples, undefined, on)).transform(samples),
  powerTransformer: async () =>
    (await learn.powerTransformer({ method: "boxCox" }).fit(samples, undefined, on)).inverseTransform(samples),
  simpleImputer: async () => (await learn.simpleImputer({ strategy: "mostFrequent" }).fit(cities)).transform(cities),
  quantileTransformer: async () =>
    (await learn.quantileTransformer({ nQuantiles: 4 }).fit(samples, undefined, on)).transform(samples),
  tfidfTransformer: async () => (await learn.tfidfTransformer().fit(samples, undefined, on)).transform(samples),
  targetEncoder: async () =>
    (await learn.targetEncoder({ splits: 2 }).fitTransform(["a", "b", "a", "b"], [1, 2.5, 3, 4])).transformed,
  tfidfVectorizer: async () => (await learn.tfidfVectorizer().fit(["red fish", "blue fish"])).transform(["red"]),
};
