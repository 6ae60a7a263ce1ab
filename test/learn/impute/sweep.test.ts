/** The checks that every estimator must pass, on those of this family. */
import { kNeighborsImputer, missingIndicator, simpleImputer } from "../../../src/learn/index.js";
import { sweepEstimators } from "../../support/learn-sweep.js";

const imputing = { targets: "none", method: "transform", allowsMissing: true } as const;

sweepEstimators([
  { make: () => simpleImputer({ strategy: "mostFrequent" }), ...imputing, takesCategories: true },
  { make: () => kNeighborsImputer({ nNeighbors: 2 }), ...imputing },
  { make: () => missingIndicator({ features: "all" }), ...imputing, takesCategories: true },
]);
