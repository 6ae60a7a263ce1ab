/** A consumer's program: naive Bayes of `pumice/learn`. */
import * as learn from "pumice/learn";
import type { Calls } from "./methods.js";

const counts = [[1, 2], [0, 3], [4, 0], [2, 1]]; // biome-ignore format: a matrix
const labels = ["a", "b", "a", "b"];
const on = { device: "cpu" };

export const bayesClassifierCalls: Calls = {
  bernoulliNaiveBayes: async () =>
    (await learn.bernoulliNaiveBayes({ binarize: 1 }).fit(counts, labels, on)).predict(counts),
  categoricalNaiveBayes: async () => (await learn.categoricalNaiveBayes().fit(counts, labels, on)).predict(counts),
  complementNaiveBayes: async () =>
    (await learn.complementNaiveBayes({ norm: true }).fit(counts, labels, on)).predictProbability(counts),
  gaussianNaiveBayes: async () => (await learn.gaussianNaiveBayes().fit(counts, labels, on)).predict(counts),
  multinomialNaiveBayes: async () =>
    (await learn.multinomialNaiveBayes({ alpha: 0.5 }).fit(counts, labels, on)).predictLogProbability(counts),
};
