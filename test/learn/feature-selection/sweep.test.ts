/** The checks that every estimator must pass, on those of this family. */
import {
  recursiveFeatureElimination,
  ridge,
  selectFromModel,
  selectKBest,
  selectPercentile,
  sequentialFeatureSelection,
  varianceThreshold,
} from "../../../src/learn/index.js";
import { sweepEstimators } from "../../support/learn-sweep.js";

sweepEstimators([
  { make: () => varianceThreshold(), targets: "none", method: "transform", allowsMissing: true },
  { make: () => selectKBest({ k: 1 }), targets: "labels", method: "transform" },
  { make: () => selectPercentile({ percentile: 100 }), targets: "labels", method: "transform" },
  { make: () => selectFromModel({ estimator: ridge() }), targets: "numbers", method: "transform" },
  { make: () => recursiveFeatureElimination({ estimator: ridge() }), targets: "numbers", method: "transform" },
  {
    make: () => sequentialFeatureSelection({ estimator: ridge(), splits: 2 }),
    targets: "numbers",
    method: "transform",
  },
]);
