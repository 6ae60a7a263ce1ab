/** Naive Bayes: features that are independent within a class. */
export { type CategoricalLearned, type CategoricalNaiveBayesOptions, categoricalNaiveBayes } from "./categorical.js";
export {
  type BernoulliNaiveBayesOptions,
  bernoulliNaiveBayes,
  type ComplementNaiveBayesOptions,
  complementNaiveBayes,
  type DiscreteLearned,
  type DiscreteNaiveBayesOptions,
  multinomialNaiveBayes,
} from "./discrete.js";
export { type GaussianLearned, type GaussianNaiveBayesOptions, gaussianNaiveBayes } from "./gaussian.js";
