/** Splits, cross-validation, and curves of its scores. */
export {
  type CrossValidated,
  type CrossValidateOptions,
  crossValidate,
  type Scorer,
  type Scoring,
} from "./cross-validate.js";
export {
  type CurveScores,
  type LearningCurve,
  type LearningCurveOptions,
  learningCurve,
  type ValidationCurve,
  type ValidationCurveOptions,
  validationCurve,
} from "./score-curves.js";
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
