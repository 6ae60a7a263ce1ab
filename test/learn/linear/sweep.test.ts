/** The checks that every estimator must pass, on those of this family. */
import { linearRegression, ridge } from "../../../src/learn/index.js";
import { sweepEstimators } from "../../support/learn-sweep.js";

sweepEstimators([
  { make: () => linearRegression(), targets: "numbers", method: "predict" },
  { make: () => ridge(), targets: "numbers", method: "predict" },
]);
