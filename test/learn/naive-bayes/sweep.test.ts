/** The checks that every estimator must pass, on those of this family. */
import { gaussianNaiveBayes } from "../../../src/learn/index.js";
import { sweepEstimators } from "../../support/learn-sweep.js";

sweepEstimators([{ make: () => gaussianNaiveBayes(), targets: "labels", method: "predict" }]);
