/** Inspections of models: importances of features, and how predictions depend on them. */
export { type PartialDependence, type PartialDependenceOptions, partialDependence } from "./partial-dependence.js";
export {
  type PermutationImportance,
  type PermutationImportanceOptions,
  permutationImportance,
} from "./permutation-importance.js";
