/** The checks that every estimator must pass, on those of this family. */
import { mds, triMap, tsne, umap } from "../../../src/learn/index.js";
import { sweepEstimators } from "../../support/learn-sweep.js";

sweepEstimators([
  { make: () => mds({ nInit: 2 }), targets: "none", method: "embedding" },
  { make: () => mds({ method: "nonMetric", nInit: 1 }), targets: "none", method: "embedding" },
  { make: () => triMap({ nInliers: 1, maxIter: 60 }), targets: "none", method: "embedding" },
  { make: () => tsne({ perplexity: 1.5, maxIter: 100 }), targets: "none", method: "embedding" },
  { make: () => umap({ nNeighbors: 2, nEpochs: 30 }), targets: "none", method: "transform" },
]);
