/** The checks that every estimator must pass, on those of this family. */
import {
  bayesianRidge,
  elasticNet,
  gammaRegressor,
  huberRegressor,
  isotonicRegression,
  lasso,
  linearRegression,
  linearSvc,
  linearSvr,
  logisticRegression,
  poissonRegressor,
  polynomialRegression,
  ridge,
  tweedieRegressor,
} from "../../../src/learn/index.js";
import { sweepEstimators } from "../../support/learn-sweep.js";

sweepEstimators([
  { make: () => linearRegression(), targets: "numbers", method: "predict" },
  { make: () => ridge(), targets: "numbers", method: "predict" },
  { make: () => bayesianRidge(), targets: "numbers", method: "predict" },
  { make: () => lasso({ alpha: 0.01 }), targets: "numbers", method: "predict" },
  { make: () => elasticNet({ alpha: 0.01 }), targets: "numbers", method: "predict" },
  { make: () => huberRegressor(), targets: "numbers", method: "predict" },
  { make: () => polynomialRegression(), targets: "numbers", method: "predict" },
  { make: () => poissonRegressor(), targets: "amounts", method: "predict" },
  { make: () => gammaRegressor(), targets: "amounts", method: "predict" },
  { make: () => tweedieRegressor({ power: 1.5 }), targets: "amounts", method: "predict" },
  { make: () => logisticRegression(), targets: "labels", method: "predictProbability" },
  { make: () => linearSvc(), targets: "labels", method: "decisionFunction" },
  { make: () => linearSvr(), targets: "numbers", method: "predict" },
  { make: () => isotonicRegression({ outOfBounds: "clip" }), targets: "numbers", method: "predict", features: 1 },
]);
