/** The checks that every estimator must pass, on those of this family. */
import {
  bernoulliNaiveBayes,
  categoricalNaiveBayes,
  complementNaiveBayes,
  gaussianNaiveBayes,
  multinomialNaiveBayes,
} from "../../../src/learn/index.js";
import { sweepEstimators } from "../../support/learn-sweep.js";

const labels = { targets: "labels", method: "predict" } as const;

sweepEstimators([
  { make: () => gaussianNaiveBayes(), ...labels },
  { make: () => bernoulliNaiveBayes(), ...labels },
  { make: () => multinomialNaiveBayes(), ...labels, samples: "counts" },
  { make: () => complementNaiveBayes(), ...labels, samples: "counts" },
  { make: () => categoricalNaiveBayes(), ...labels, samples: "counts" },
]);
