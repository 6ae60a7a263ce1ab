/** The checks that every estimator must pass, on those of this family. */
import {
  decisionTreeClassifier,
  decisionTreeRegressor,
  extraTreesClassifier,
  extraTreesRegressor,
  histGradientBoostingClassifier,
  histGradientBoostingRanker,
  histGradientBoostingRegressor,
  isolationForest,
  randomForestClassifier,
  randomForestRegressor,
} from "../../../src/learn/index.js";
import { sweepEstimators } from "../../support/learn-sweep.js";

const boosting = { maxIter: 3, minSamplesLeaf: 1 };
const both = { method: "predict", allowsMissing: true, takesCategories: true } as const;

const forest = { nEstimators: 3 };

sweepEstimators([
  { make: () => decisionTreeClassifier(), targets: "labels", method: "predictProbability" },
  { make: () => decisionTreeRegressor(), targets: "numbers", method: "predict" },
  { make: () => extraTreesClassifier(forest), targets: "labels", method: "predictProbability" },
  { make: () => extraTreesRegressor(forest), targets: "numbers", method: "predict" },
  { make: () => isolationForest(forest), targets: "none", method: "decisionFunction" },
  { make: () => randomForestClassifier(forest), targets: "labels", method: "predictProbability" },
  { make: () => randomForestRegressor(forest), targets: "numbers", method: "predict" },
  { make: () => histGradientBoostingRegressor(boosting), targets: "numbers", ...both },
  { make: () => histGradientBoostingRanker(boosting), targets: "amounts", ...both },
  { make: () => histGradientBoostingClassifier(boosting), targets: "labels", ...both },
]);
