/** The checks that every estimator must pass, on those of this family. */
import {
  factorAnalysis,
  fastIca,
  incrementalPca,
  kernelPca,
  nmf,
  pca,
  plsSvd,
  truncatedSvd,
} from "../../../src/learn/index.js";
import { sweepEstimators } from "../../support/learn-sweep.js";

sweepEstimators([
  { make: () => pca(), targets: "none", method: "transform" },
  { make: () => incrementalPca(), targets: "none", method: "transform" },
  { make: () => kernelPca(), targets: "none", method: "transform" },
  { make: () => truncatedSvd(), targets: "none", method: "transform" },
  { make: () => nmf(), targets: "none", method: "transform", samples: "counts" },
  { make: () => fastIca(), targets: "none", method: "transform" },
  { make: () => factorAnalysis({ nComponents: 1 }), targets: "none", method: "transform" },
  { make: () => plsSvd(), targets: "numbers", method: "transform" },
]);
