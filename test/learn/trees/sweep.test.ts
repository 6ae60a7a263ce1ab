/** The checks that every estimator must pass, on those of this family. */
import { histGradientBoostingClassifier, histGradientBoostingRegressor } from "../../../src/learn/index.js";
import { sweepEstimators } from "../../support/learn-sweep.js";

const boosting = { maxIter: 3, minSamplesLeaf: 1 };
const both = { method: "predict", allowsMissing: true, takesCategories: true } as const;

sweepEstimators([
  { make: () => histGradientBoostingRegressor(boosting), targets: "numbers", ...both },
  { make: () => histGradientBoostingClassifier(boosting), targets: "labels", ...both },
]);
