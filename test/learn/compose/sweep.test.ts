/** The checks that every estimator must pass, on those of this family. */
import { functionTransformer } from "../../../src/learn/index.js";
import { sweepEstimators } from "../../support/learn-sweep.js";

sweepEstimators([{ make: () => functionTransformer(), targets: "none", method: "transform", allowsMissing: true }]);
