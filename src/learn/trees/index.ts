/** Trees: one, forests of them, and boosting on histograms. */
export type { BoostingLearned } from "./boosting.js";
export type { BoostingOptions } from "./boosting-options.js";
export {
  type DecisionTreeClassifierOptions,
  type DecisionTreeLearned,
  type DecisionTreeRegressorOptions,
  decisionTreeClassifier,
  decisionTreeRegressor,
} from "./decision-tree.js";
export type { ExportTextOptions } from "./export-text.js";
export {
  extraTreesClassifier,
  extraTreesRegressor,
  type ForestClassifierOptions,
  type ForestLearned,
  type ForestRegressorOptions,
  randomForestClassifier,
  randomForestRegressor,
} from "./forest.js";
export type { TreeTensors } from "./grown-tree.js";
export {
  type HistGradientBoostingClassifierOptions,
  type HistGradientBoostingRegressorOptions,
  histGradientBoostingClassifier,
  histGradientBoostingRegressor,
} from "./hist-gradient-boosting.js";
export { type IsolationForestLearned, type IsolationForestOptions, isolationForest } from "./isolation-forest.js";
export type { PruningPath } from "./pruning-path.js";
export { type HistGradientBoostingRankerOptions, histGradientBoostingRanker } from "./ranker.js";
export type { ShapValues } from "./shap.js";
export type { OfTrees, OneTreeMethods, TreeMethods } from "./tree-methods.js";
