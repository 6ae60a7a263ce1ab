/** The checks that every estimator must pass, on those of this family. */
import {
  genericUnivariateSelect,
  recursiveFeatureElimination,
  ridge,
  selectFdr,
  selectFpr,
  selectFromModel,
  selectFwe,
  selectKBest,
  selectPercentile,
  sequentialFeatureSelection,
  varianceThreshold,
} from "../../../src/learn/index.js";
import { sweepEstimators } from "../../support/learn-sweep.js";

sweepEstimators([
  { make: () => varianceThreshold(), targets: "none", method: "transform", allowsMissing: true },
  { make: () => selectKBest({ k: 1 }), targets: "labels", method: "transform" },
  { make: () => selectFpr({ alpha: 1 }), targets: "labels", method: "transform" },
  { make: () => selectFdr({ alpha: 1 }), targets: "labels", method: "transform" },
  { make: () => selectFwe({ alpha: 1 }), targets: "labels", method: "transform" },
  { make: () => genericUnivariateSelect({ param: 100 }), targets: "labels", method: "transform" },
  { make: () => selectPercentile({ percentile: 100 }), targets: "labels", method: "transform" },
  { make: () => selectFromModel({ estimator: ridge() }), targets: "numbers", method: "transform" },
  { make: () => recursiveFeatureElimination({ estimator: ridge() }), targets: "numbers", method: "transform" },
  {
    make: () => sequentialFeatureSelection({ estimator: ridge(), splits: 2 }),
    targets: "numbers",
    method: "transform",
  },
]);
