/** The checks that every estimator must pass, on those of this family. */
import {
  binarizer,
  countVectorizer,
  hashingVectorizer,
  kBinsDiscretizer,
  maxAbsScaler,
  minMaxScaler,
  normalizer,
  oneHotEncoder,
  ordinalEncoder,
  polynomialFeatures,
  powerTransformer,
  quantileTransformer,
  robustScaler,
  standardScaler,
  tfidfTransformer,
  tfidfVectorizer,
} from "../../../src/learn/index.js";
import { sweepEstimators } from "../../support/learn-sweep.js";

sweepEstimators([
  { make: () => standardScaler(), targets: "none", method: "transform", allowsMissing: true },
  { make: () => minMaxScaler(), targets: "none", method: "transform", allowsMissing: true },
  { make: () => maxAbsScaler(), targets: "none", method: "transform", allowsMissing: true },
  { make: () => robustScaler(), targets: "none", method: "transform", allowsMissing: true },
  { make: () => normalizer(), targets: "none", method: "transform" },
  { make: () => binarizer(), targets: "none", method: "transform" },
  { make: () => polynomialFeatures(), targets: "none", method: "transform" },
  { make: () => kBinsDiscretizer(), targets: "none", method: "transform" },
  { make: () => quantileTransformer(), targets: "none", method: "transform", allowsMissing: true },
  { make: () => countVectorizer(), targets: "none", method: "transform", samples: "texts" },
  { make: () => hashingVectorizer({ nFeatures: 16 }), targets: "none", method: "transform", samples: "texts" },
  { make: () => tfidfVectorizer(), targets: "none", method: "transform", samples: "texts" },
  { make: () => tfidfTransformer(), targets: "none", method: "transform" },
  { make: () => oneHotEncoder(), targets: "none", method: "transform", allowsMissing: true, takesCategories: true },
  { make: () => ordinalEncoder(), targets: "none", method: "transform", allowsMissing: true, takesCategories: true },
  { make: () => powerTransformer(), targets: "none", method: "transform", allowsMissing: true },
]);
