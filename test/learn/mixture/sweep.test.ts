/** The checks that every estimator must pass, on those of this family. */
import { gaussianMixture } from "../../../src/learn/index.js";
import { sweepEstimators } from "../../support/learn-sweep.js";

sweepEstimators([{ make: () => gaussianMixture({ nComponents: 1 }), targets: "none", method: "scoreSamples" }]);
