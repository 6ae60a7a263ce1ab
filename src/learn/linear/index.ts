/** Linear models. */
export { type LinearRegressionOptions, linearRegression, type RidgeOptions, ridge } from "./least-squares.js";
export type { LinearLearned } from "./linear-model.js";
