/** Samples made ready for estimators. */

export type { Category, CategoryOptions } from "./categories.js";
export { type HashingVectorizerOptions, hashingVectorizer } from "./hashing-vectorizer.js";
export { type KBinsDiscretizerLearned, type KBinsDiscretizerOptions, kBinsDiscretizer } from "./k-bins.js";
export { type OneHotEncoderLearned, type OneHotEncoderOptions, oneHotEncoder } from "./one-hot-encoder.js";
export type { CodeColumns } from "./one-of-columns.js";
export { type OrdinalEncoderLearned, type OrdinalEncoderOptions, ordinalEncoder } from "./ordinal-encoder.js";
export { type PolynomialFeaturesOptions, polynomialFeatures } from "./polynomial-features.js";
export { type PowerTransformerLearned, type PowerTransformerOptions, powerTransformer } from "./power-transformer.js";
export {
  type QuantileTransformerLearned,
  type QuantileTransformerOptions,
  quantileTransformer,
} from "./quantile-transformer.js";
export { type BinarizerOptions, binarizer, type NormalizerOptions, normalizer, type RowNorm } from "./row-scalers.js";
export {
  type BatchScalerMethods,
  type MinMaxScalerOptions,
  maxAbsScaler,
  minMaxScaler,
  type RobustScalerOptions,
  robustScaler,
  type ScalerLearned,
  type StandardScalerOptions,
  standardScaler,
} from "./scalers.js";
export type { TermOptions } from "./tokens.js";
export {
  type CountVectorizerOptions,
  countVectorizer,
  type TfidfLearned,
  type TfidfTransformerOptions,
  type TfidfVectorizerOptions,
  tfidfTransformer,
  tfidfVectorizer,
} from "./vectorizers.js";
