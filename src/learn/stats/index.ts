/** Statistics: `import { stats } from "pumice/learn"`. Moments, tests with their p values, distribution functions. */

export { pearson, spearman } from "./correlations.js";
export type { RankTestOptions } from "./exactness.js";
export { type FisherExactOptions, fisherExact } from "./fisher-exact.js";
export { type Distribution, kolmogorovSmirnov } from "./kolmogorov-smirnov.js";
export {
  type Description,
  type DeviationOptions,
  describe,
  type EntropyOptions,
  entropy,
  iqr,
  type KurtosisOptions,
  kurtosis,
  moment,
  type SkewOptions,
  sem,
  skew,
  type TrimmedMeanOptions,
  trimmedMean,
  zscore,
} from "./moments.js";
export type { PlaceOptions, Quantity } from "./operands.js";
export { type ContinuityOptions, kendall, mannWhitney, wilcoxon } from "./rank-tests.js";
export type { Alternative, AlternativeOptions, DegreesResult, TestResult } from "./results.js";
export type { Sample, SampleOptions } from "./samples.js";
export { shapiroWilk } from "./shapiro-wilk.js";
export { type IndependentOptions, type TTestOptions, tTest, tTestIndependent, tTestPaired } from "./t-tests.js";
export {
  type ChiSquareOptions,
  type ContingencyOptions,
  type ContingencyResult,
  chiSquareTest,
  contingencyTest,
} from "./tables.js";
export {
  betainc,
  chiSquareCdf,
  chiSquareSf,
  fCdf,
  fSf,
  gammainc,
  gammaincc,
  kolmogorovCdf,
  kolmogorovSf,
  normalCdf,
  normalSf,
  tCdf,
  tSf,
} from "./tails.js";
export { anova, kruskal, type LeveneOptions, levene } from "./variance-tests.js";
