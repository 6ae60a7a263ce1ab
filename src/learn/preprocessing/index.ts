/** Samples made ready for estimators. */
export { type KBinsDiscretizerLearned, type KBinsDiscretizerOptions, kBinsDiscretizer } from "./k-bins.js";
export type { CodeColumns } from "./one-of-columns.js";
export { type PolynomialFeaturesOptions, polynomialFeatures } from "./polynomial-features.js";
export { type PowerTransformerLearned, type PowerTransformerOptions, powerTransformer } from "./power-transformer.js";
export {
  type QuantileTransformerLearned,
  type QuantileTransformerOptions,
  quantileTransformer,
} from "./quantile-transformer.js";
export { type BinarizerOptions, binarizer, type NormalizerOptions, normalizer, type RowNorm } from "./row-scalers.js";
export {
  type MinMaxScalerOptions,
  maxAbsScaler,
  minMaxScaler,
  type RobustScalerOptions,
  robustScaler,
  type ScalerLearned,
  type StandardScalerOptions,
  standardScaler,
} from "./scalers.js";
