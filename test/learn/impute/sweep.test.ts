/** The checks that every estimator must pass, on those of this family. */
import { missingIndicator, simpleImputer } from "../../../src/learn/index.js";
import { sweepEstimators } from "../../support/learn-sweep.js";

const imputing = { targets: "none", method: "transform", allowsMissing: true } as const;

sweepEstimators([
  { make: () => simpleImputer({ strategy: "mostFrequent" }), ...imputing, takesCategories: true },
  { make: () => missingIndicator({ features: "all" }), ...imputing, takesCategories: true },
]);
