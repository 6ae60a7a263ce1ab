/** The checks that every estimator must pass, on those of this family. */
import { agglomerativeClustering, dbscan, hdbscan, kMeans, optics } from "../../../src/learn/index.js";
import { sweepEstimators } from "../../support/learn-sweep.js";

sweepEstimators([
  { make: () => agglomerativeClustering(), targets: "none", method: "labels" },
  { make: () => dbscan({ eps: 1, minSamples: 2 }), targets: "none", method: "labels" },
  { make: () => kMeans({ nClusters: 2 }), targets: "none", method: "transform" },
  { make: () => hdbscan({ minClusterSize: 2 }), targets: "none", method: "labels" },
  { make: () => optics({ minSamples: 2 }), targets: "none", method: "labels" },
]);
