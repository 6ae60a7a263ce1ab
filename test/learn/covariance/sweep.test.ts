/** The checks that every estimator must pass, on those of this family. */
import { empiricalCovariance, ledoitWolf, oas, shrunkCovariance } from "../../../src/learn/index.js";
import { sweepEstimators } from "../../support/learn-sweep.js";

sweepEstimators([
  { make: () => empiricalCovariance(), targets: "none", method: "mahalanobis" },
  { make: () => ledoitWolf(), targets: "none", method: "mahalanobis" },
  { make: () => oas(), targets: "none", method: "mahalanobis" },
  { make: () => shrunkCovariance(), targets: "none", method: "mahalanobis" },
]);
