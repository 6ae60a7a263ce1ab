/** Linear models. */

export type { ClassWeight } from "../core/class-weights.js";
export {
  type BayesianRidgeLearned,
  type BayesianRidgeOptions,
  bayesianRidge,
  type Uncertain,
} from "./bayesian-ridge.js";
export {
  type GeneralizedLearned,
  type GeneralizedOptions,
  gammaRegressor,
  poissonRegressor,
  type TweedieOptions,
  tweedieRegressor,
} from "./generalized.js";
export { type HuberLearned, type HuberOptions, huberRegressor } from "./huber.js";
export { type IsotonicLearned, type IsotonicOptions, isotonicRegression } from "./isotonic.js";
export { type ElasticNetOptions, elasticNet, type LassoOptions, lasso, type SparseLearned } from "./lasso.js";
export { type LinearRegressionOptions, linearRegression, type RidgeOptions, ridge } from "./least-squares.js";
export type { LinearLearned } from "./linear-model.js";
export { type LogisticLearned, type LogisticRegressionOptions, logisticRegression } from "./logistic.js";
export { type PolynomialRegressionOptions, polynomialRegression } from "./polynomial.js";
export {
  type LinearMachineLearned,
  type LinearSvcOptions,
  type LinearSvrOptions,
  linearSvc,
  linearSvr,
} from "./support-vectors.js";
