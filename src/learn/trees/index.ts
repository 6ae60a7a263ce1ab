/** Trees: boosting on histograms. */
export type { BoostingLearned } from "./boosting.js";
export type { BoostingOptions } from "./boosting-options.js";
export type { TreeTensors } from "./grown-tree.js";
export {
  type HistGradientBoostingClassifierOptions,
  type HistGradientBoostingRegressorOptions,
  histGradientBoostingClassifier,
  histGradientBoostingRegressor,
} from "./hist-gradient-boosting.js";
export type { OfTrees, TreeMethods } from "./tree-methods.js";
