/** Selections of columns. */
export type { Chosen } from "./chosen-columns.js";
export {
  type MutualInfoFeatureOptions,
  mutualInfoClassification,
  mutualInfoRegression,
} from "./mutual-information.js";
export { chi2, type FeatureScores, fClassif, fRegression } from "./score-functions.js";
export {
  type GenericSelectOptions,
  genericUnivariateSelect,
  type SelectByChanceOptions,
  type SelectionMode,
  selectFdr,
  selectFpr,
  selectFwe,
} from "./select-by-chance.js";
export {
  type EliminationLearned,
  type EliminationOptions,
  type ImportanceLearned,
  recursiveFeatureElimination,
  type SelectFromModelOptions,
  type SequentialOptions,
  selectFromModel,
  sequentialFeatureSelection,
} from "./select-by-model.js";
export {
  type FeatureScore,
  type FeatureScoreFunction,
  type ScoredLearned,
  type SelectKBestOptions,
  type SelectPercentileOptions,
  selectKBest,
  selectPercentile,
  type VarianceLearned,
  type VarianceThresholdOptions,
  varianceThreshold,
} from "./select-by-score.js";
