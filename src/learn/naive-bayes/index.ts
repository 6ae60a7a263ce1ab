/** Naive Bayes: features that are independent within a class. */
export { type GaussianLearned, type GaussianNaiveBayesOptions, gaussianNaiveBayes } from "./gaussian.js";
