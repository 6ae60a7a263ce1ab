/** The checks that every estimator must pass, on those of this family. */
import {
  kernelDensity,
  kNeighborsClassifier,
  kNeighborsRegressor,
  localOutlierFactor,
  nearestCentroid,
  nearestNeighbors,
  radiusNeighborsClassifier,
  radiusNeighborsRegressor,
  randomProjectionForest,
} from "../../../src/learn/index.js";
import { sweepEstimators } from "../../support/learn-sweep.js";

sweepEstimators([
  { make: () => kernelDensity(), targets: "none", method: "scoreSamples" },
  { make: () => localOutlierFactor({ nNeighbors: 3 }), targets: "none", method: "decisionFunction" },
  { make: () => nearestCentroid({ metric: "manhattan" }), targets: "labels", method: "predict" },
  { make: () => nearestNeighbors({ nNeighbors: 2 }), targets: "none", method: "kNeighborsGraph" },
  {
    make: () => randomProjectionForest({ nNeighbors: 2, nTrees: 2, seed: 1 }),
    targets: "none",
    method: "kNeighborsGraph",
  },
  { make: () => kNeighborsClassifier({ nNeighbors: 2 }), targets: "labels", method: "predictProbability" },
  {
    make: () => kNeighborsRegressor({ nNeighbors: 2, algorithm: "kdTree", leafSize: 3 }),
    targets: "numbers",
    method: "predict",
  },
  {
    make: () => radiusNeighborsClassifier({ outlierLabel: "mostFrequent" }),
    targets: "labels",
    method: "predictProbability",
  },
  { make: () => radiusNeighborsRegressor({ radius: 9 }), targets: "numbers", method: "predict" },
]);
