/** The checks that every estimator must pass, on those of this family. */
import {
  affinityPropagation,
  agglomerativeClustering,
  dbscan,
  hdbscan,
  kMeans,
  miniBatchKMeans,
  optics,
  spectralClustering,
} from "../../../src/learn/index.js";
import { sweepEstimators } from "../../support/learn-sweep.js";

sweepEstimators([
  { make: () => affinityPropagation({ damping: 0.8, preference: -1 }), targets: "none", method: "predict" },
  { make: () => agglomerativeClustering(), targets: "none", method: "labels" },
  { make: () => dbscan({ eps: 1, minSamples: 2 }), targets: "none", method: "labels" },
  { make: () => kMeans({ nClusters: 2 }), targets: "none", method: "transform" },
  { make: () => miniBatchKMeans({ nClusters: 2, batchSize: 4 }), targets: "none", method: "predict" },
  { make: () => hdbscan({ minClusterSize: 2 }), targets: "none", method: "labels" },
  { make: () => optics({ minSamples: 2 }), targets: "none", method: "labels" },
  { make: () => spectralClustering({ nClusters: 2, assignLabels: "clusterQr" }), targets: "none", method: "labels" },
]);
