/** The checks that every estimator must pass, on those of this family. */
import { maxAbsScaler, minMaxScaler, robustScaler, standardScaler } from "../../../src/learn/index.js";
import { sweepEstimators } from "../../support/learn-sweep.js";

sweepEstimators([
  { make: () => standardScaler(), targets: "none", method: "transform" },
  { make: () => minMaxScaler(), targets: "none", method: "transform" },
  { make: () => maxAbsScaler(), targets: "none", method: "transform" },
  { make: () => robustScaler(), targets: "none", method: "transform" },
]);
