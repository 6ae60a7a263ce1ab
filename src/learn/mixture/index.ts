/** Mixtures: samples drawn from several distributions. */
export type { CovarianceType } from "./covariances.js";
export { type GaussianMixtureLearned, type GaussianMixtureOptions, gaussianMixture } from "./gaussian-mixture.js";
