/** What estimators, models, samples and targets are: types that users name. */
export type { Estimator, FitOptions, FitProgress } from "./estimator.js";
export type { Bound, Fitted, LearnedTree, Model } from "./model.js";
export type { Features, Samples } from "./samples.js";
export type {
  ClassificationMethods,
  ClusterLearned,
  Ignored,
  OutlierMethods,
  PlaceLearned,
  ProbabilityMethods,
  RegressionMethods,
  TransformMethods,
} from "./sorts.js";
export type { Label, Labels, Numbers } from "./targets.js";
