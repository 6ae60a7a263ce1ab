/** The checks that every estimator must pass, on those of this family. */
import { targetEncoder } from "../../../src/learn/index.js";
import { sweepEstimators } from "../../support/learn-sweep.js";

sweepEstimators([
  { make: () => targetEncoder(), targets: "numbers", method: "transform", allowsMissing: true, takesCategories: true },
]);
