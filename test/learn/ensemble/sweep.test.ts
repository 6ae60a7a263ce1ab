/** The checks that every estimator must pass, on those of this family. */
import {
  baggingClassifier,
  baggingRegressor,
  calibratedClassifier,
  dummyClassifier,
  dummyRegressor,
  gaussianNaiveBayes,
  logisticRegression,
  multiOutputClassifier,
  multiOutputRegressor,
  oneVsOne,
  oneVsRest,
  regressorChain,
  ridge,
  stackingClassifier,
  stackingRegressor,
  votingClassifier,
  votingRegressor,
} from "../../../src/learn/index.js";
import { sweepEstimators } from "../../support/learn-sweep.js";

sweepEstimators([
  { make: () => dummyClassifier(), targets: "labels", method: "predictProbability", allowsMissing: true },
  { make: () => dummyRegressor(), targets: "numbers", method: "predict", allowsMissing: true },
  { make: () => votingClassifier({ estimators: [logisticRegression()] }), targets: "labels", method: "predict" },
  { make: () => votingRegressor({ estimators: [ridge()] }), targets: "numbers", method: "predict" },
  {
    make: () => baggingClassifier({ estimator: gaussianNaiveBayes({ varSmoothing: 0.1 }), nEstimators: 3, seed: 1 }),
    targets: "labels",
    method: "predictProbability",
  },
  { make: () => baggingRegressor({ estimator: ridge(), nEstimators: 3 }), targets: "numbers", method: "predict" },
  { make: () => stackingRegressor({ estimators: [ridge()], splits: 2 }), targets: "numbers", method: "predict" },
  {
    make: () => stackingClassifier({ estimators: [gaussianNaiveBayes({ varSmoothing: 0.1 })], splits: 2 }),
    targets: "labels",
    method: "predictProbability",
    repeats: 4,
  },
  {
    make: () => calibratedClassifier({ estimator: gaussianNaiveBayes({ varSmoothing: 0.1 }), splits: 2 }),
    targets: "labels",
    method: "predictProbability",
    repeats: 4,
  },
  { make: () => multiOutputRegressor({ estimator: ridge() }), targets: "pairs", method: "predict" },
  { make: () => multiOutputClassifier({ estimator: logisticRegression() }), targets: "pairs", method: "predict" },
  { make: () => regressorChain({ estimator: ridge() }), targets: "pairs", method: "predict" },
  { make: () => oneVsRest({ estimator: logisticRegression() }), targets: "labels", method: "decisionFunction" },
  { make: () => oneVsOne({ estimator: logisticRegression() }), targets: "labels", method: "decisionFunction" },
]);
