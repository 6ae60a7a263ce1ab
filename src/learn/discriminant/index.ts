/** Discriminants: classes that are normal. */
export {
  type LinearDiscriminantLearned,
  type LinearDiscriminantOptions,
  linearDiscriminantAnalysis,
} from "./linear.js";
export {
  type QuadraticDiscriminantLearned,
  type QuadraticDiscriminantOptions,
  quadraticDiscriminantAnalysis,
} from "./quadratic.js";
