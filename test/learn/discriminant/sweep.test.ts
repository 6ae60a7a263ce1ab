/** The checks that every estimator must pass, on those of this family. */
import { linearDiscriminantAnalysis, quadraticDiscriminantAnalysis } from "../../../src/learn/index.js";
import { sweepEstimators } from "../../support/learn-sweep.js";

sweepEstimators([
  { make: () => linearDiscriminantAnalysis(), targets: "labels", method: "predict" },
  { make: () => quadraticDiscriminantAnalysis(), targets: "labels", method: "predict" },
]);
