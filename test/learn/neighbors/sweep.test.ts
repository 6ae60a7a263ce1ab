/** The checks that every estimator must pass, on those of this family. */
import { localOutlierFactor } from "../../../src/learn/index.js";
import { sweepEstimators } from "../../support/learn-sweep.js";

sweepEstimators([{ make: () => localOutlierFactor({ nNeighbors: 3 }), targets: "none", method: "decisionFunction" }]);
