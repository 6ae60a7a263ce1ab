/** Splits and cross-validation. */
export {
  type CrossValidated,
  type CrossValidateOptions,
  crossValidate,
  type Scorer,
  type Scoring,
} from "./cross-validate.js";
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
