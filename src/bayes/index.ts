/** `pumice/bayes`: models, distributions and constraints. What is exported here is the public surface. */
import "../tensor/methods/index.js";

export type { Argument } from "./argument.js";
export * from "./constraints/index.js";
export type {
  Distribution,
  DrawOptions,
  MomentOptions,
  Noncentered,
} from "./distributions/distribution.js";
export * from "./distributions/index.js";
export {
  type Model,
  model,
  type RandomKeys,
  type Returned,
  type Simulated,
  type SimulateOptions,
} from "./model/model.js";
export type {
  DensityOptions,
  Deterministic,
  Floats,
  Latent,
  Observation,
  Observed,
  Posterior,
  Values,
} from "./model/posterior.js";
export { factor, RandomVariable } from "./model/variable.js";
