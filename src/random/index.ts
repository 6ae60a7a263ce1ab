/** Random tensors from keys: `import { random } from "pumice"`. */

export { binomial } from "./binomial.js";
export { bits } from "./bits.js";
export { categorical, exponential, gumbel } from "./exponential.js";
export { beta, gamma, logGamma } from "./gamma.js";
export { foldIn, type Key, key, split } from "./key.js";
export { multivariateNormal } from "./multivariate-normal.js";
export { normal, truncatedNormal } from "./normal.js";
export { type ChoiceOptions, choice, permutation, shuffle } from "./permutation.js";
export { poisson } from "./poisson.js";
export { bernoulli, randint, uniform } from "./uniform.js";
