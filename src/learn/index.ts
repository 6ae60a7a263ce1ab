/** Classical learning: `import { ridge } from "pumice/learn"`. */

export { type AnyEstimator, type PipelineModel, type PipelineOptions, pipeline } from "./compose/pipeline.js";
export type { Estimator, FitOptions, FitProgress } from "./core/estimator.js";
export type { Bound, Fitted, LearnedTree, Model } from "./core/model.js";
export type { Features, Samples } from "./core/samples.js";
export type { ClassificationMethods, Ignored, RegressionMethods, TransformMethods } from "./core/sorts.js";
export type { Label, Labels, Numbers } from "./core/targets.js";
export {
  type LinearRegressionOptions,
  linearRegression,
  type RidgeOptions,
  ridge,
} from "./linear/least-squares.js";
export type { LinearLearned } from "./linear/linear-model.js";
export { type GaussianLearned, type GaussianNaiveBayesOptions, gaussianNaiveBayes } from "./naive-bayes/gaussian.js";
export {
  type MinMaxScalerOptions,
  maxAbsScaler,
  minMaxScaler,
  type RobustScalerOptions,
  robustScaler,
  type ScalerLearned,
  type StandardScalerOptions,
  standardScaler,
} from "./preprocessing/scalers.js";
export {
  type CrossValidated,
  type CrossValidateOptions,
  crossValidate,
  type Scorer,
} from "./selection/cross-validate.js";
export {
  type FoldOptions,
  groupKFold,
  kFold,
  leaveOneOut,
  type ShuffleOptions,
  type Split,
  type SplitInput,
  type Splitter,
  shuffleSplit,
  stratifiedKFold,
  timeSeriesSplit,
} from "./selection/splits.js";
export {
  type CategoryColumn,
  type Cell,
  type Column,
  type GivenColumns,
  type NumberColumn,
  Table,
  table,
} from "./tables/table.js";
