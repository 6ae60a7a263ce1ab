/** Splits, cross-validation, curves of its scores, and searches. */
export type { CandidateOptions, Draws, Grid, NumberRange } from "./candidates.js";
export { type CrossPredictOptions, crossValPredict } from "./cross-predict.js";
export {
  type CrossValidated,
  type CrossValidateOptions,
  crossValidate,
  type Scorer,
  type Scoring,
} from "./cross-validate.js";
export type { CandidateScore, SearchProgress, SearchRow } from "./evaluation.js";
export { groupShuffleSplit, leaveOneGroupOut, stratifiedGroupKFold } from "./group-splits.js";
export { type HalvingSearchOptions, halvingSearch } from "./halving-search.js";
export {
  predefinedSplit,
  type RepeatedOptions,
  repeatedKFold,
  repeatedStratifiedKFold,
  stratifiedShuffleSplit,
} from "./repeated-splits.js";
export {
  type CurveScores,
  type LearningCurve,
  type LearningCurveOptions,
  learningCurve,
  type ValidationCurve,
  type ValidationCurveOptions,
  validationCurve,
} from "./score-curves.js";
export { gridSearch, type RandomSearchOptions, randomSearch, type Search, type SelectionOptions } from "./search.js";
export type { SearchedModel } from "./searched-model.js";
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
} from "./splits.js";
export { type TrainTest, type TrainTestOptions, trainTestSplit } from "./train-test.js";
