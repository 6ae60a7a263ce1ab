/** The checks that every estimator must pass, on those of this family. */
import {
  gaussianProcessClassifier,
  gaussianProcessRegressor,
  kernelRidge,
  nuSvc,
  nuSvr,
  oneClassSvm,
  svc,
  svr,
} from "../../../src/learn/index.js";
import { sweepEstimators } from "../../support/learn-sweep.js";

sweepEstimators([
  { make: () => gaussianProcessRegressor(), targets: "numbers", method: "predict" },
  { make: () => gaussianProcessClassifier(), targets: "labels", method: "predict" },
  { make: () => kernelRidge(), targets: "numbers", method: "predict" },
  { make: () => svc(), targets: "labels", method: "predict" },
  { make: () => svc({ probability: true }), targets: "labels", method: "predictProbability" },
  { make: () => svr(), targets: "numbers", method: "predict" },
  { make: () => nuSvc(), targets: "labels", method: "predict" },
  { make: () => nuSvr(), targets: "numbers", method: "predict" },
  { make: () => oneClassSvm(), targets: "none", method: "decisionFunction" },
]);
