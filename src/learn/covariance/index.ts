/** Covariances of features. */
export {
  type CovarianceLearned,
  type CovarianceOptions,
  empiricalCovariance,
  ledoitWolf,
  oas,
  type ShrunkCovarianceOptions,
  shrunkCovariance,
} from "./covariance.js";
