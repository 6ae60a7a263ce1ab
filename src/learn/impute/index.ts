/** Missing values: filled in, or told of. */
export {
  type KNeighborsImputerLearned,
  type KNeighborsImputerOptions,
  kNeighborsImputer,
} from "./k-neighbors-imputer.js";
export {
  type MissingIndicatorLearned,
  type MissingIndicatorOptions,
  missingIndicator,
} from "./missing-indicator.js";
export { type SimpleImputerLearned, type SimpleImputerOptions, simpleImputer } from "./simple-imputer.js";
