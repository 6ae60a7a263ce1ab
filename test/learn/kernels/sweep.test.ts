/** The checks that every estimator must pass, on those of this family. */
import { gaussianProcessClassifier, gaussianProcessRegressor, kernelRidge } from "../../../src/learn/index.js";
import { sweepEstimators } from "../../support/learn-sweep.js";

sweepEstimators([
  { make: () => gaussianProcessRegressor(), targets: "numbers", method: "predict" },
  { make: () => gaussianProcessClassifier(), targets: "labels", method: "predict" },
  { make: () => kernelRidge(), targets: "numbers", method: "predict" },
]);
