/** Pictures of models and metrics: `import { plots } from "pumice/learn"`. Each function gives a `Picture`, SVG in light and dark. */
export { type Page, type PageOptions, Picture, page } from "../../plots/picture.js";
export { type ConfusionPictureOptions, confusionMatrix } from "./confusion-matrix.js";
export { type Curves, calibrationCurve, precisionRecallCurve, rocCurve } from "./decision-curves.js";
export { type DecisionTreeOptions, decisionTree, type ModelOfTrees } from "./decision-tree.js";
export { type DendrogramOptions, dendrogram } from "./dendrogram.js";
export type { PictureOptions } from "./frame.js";
export { type ImportanceOptions, importances } from "./importances.js";
export { type Dependence, type PartialDependenceOptions, partialDependence } from "./partial-dependence.js";
export { type ResidualOptions, residuals } from "./residuals.js";
export { type ScatterOptions, scatter } from "./scatter.js";
export { learningCurve, type ScoreCurveOptions, validationCurve } from "./score-curves.js";
export { silhouette } from "./silhouette.js";
export type { AxisScale } from "./value-axis.js";
