/** Estimators made of copies, or of several others, and what they must beat. */
export {
  type AdaBoostClassifierOptions,
  type AdaBoostRegressorOptions,
  adaBoostClassifier,
  adaBoostRegressor,
} from "./ada-boost.js";
export { type Bag, type BaggingOptions, baggingClassifier, baggingRegressor } from "./bagging.js";
export { type CalibratedOptions, calibratedClassifier } from "./calibrated.js";
export { type ChainOptions, classifierChain, regressorChain } from "./chains.js";
export {
  type DummyClassifierLearned,
  type DummyClassifierOptions,
  type DummyRegressorLearned,
  type DummyRegressorOptions,
  dummyClassifier,
  dummyRegressor,
} from "./dummy.js";
export {
  type MultiOutputOptions,
  multiOutputClassifier,
  multiOutputRegressor,
} from "./multi-output.js";
export { type OneVsOptions, oneVsOne, oneVsRest } from "./one-vs.js";
export { type OutputCodeOptions, outputCode } from "./output-code.js";
export { type StackingOptions, stackingClassifier, stackingRegressor } from "./stacking.js";
export {
  type VotingClassifierOptions,
  type VotingRegressorOptions,
  votingClassifier,
  votingRegressor,
} from "./voting.js";
