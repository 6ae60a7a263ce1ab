/** `pumice/bayes`: models, distributions and constraints. What is exported here is the public surface. */

export { Approximation } from "./approximation/approximation.js";
export type { AnyPosterior, ApproximationOptions } from "./approximation/setting.js";
export type { Argument } from "./arguments/argument.js";
export { Fit } from "./chains/fit.js";
export type { LeapfrogChains, LeapfrogOptions } from "./chains/leapfrog.js";
export type { EssGoal, FilledOptions, ResumeOptions, RunOptions, SampleOptions } from "./chains/options.js";
export type { Progress, SampleRun } from "./chains/run.js";
export * from "./constraints/index.js";
export { autocorrelation } from "./diagnostics/autocovariance.js";
export { Check, check, type Problem, type ProblemKind } from "./diagnostics/check.js";
export { Comparison, type ComparisonRow, compare, stackingWeights } from "./diagnostics/compare.js";
export { essBulk, essMean, essQuantile, essSd, essTail } from "./diagnostics/effective-sample-size.js";
export { eBfmi } from "./diagnostics/energy.js";
export { type LogLikelihood, Loo, type LooOptions, loo, type PointwiseLoo } from "./diagnostics/loo.js";
export { type SmoothedWeights, smoothWeights } from "./diagnostics/pareto.js";
export { nestedRHat, rHat } from "./diagnostics/r-hat.js";
export type { SummaryRow } from "./diagnostics/scalar-summary.js";
export { mcseMean, mcseQuantile, mcseSd } from "./diagnostics/standard-error.js";
export { Summary, summary } from "./diagnostics/summary.js";
export * from "./distributions/index.js";
export {
  type Chains,
  Draws,
  type DrawsBlock,
  type DrawsByScalar,
  type DrawsOptions,
  type NameFilter,
  type NestedDraws,
  type ScalarName,
  type Statistic,
  type VariableName,
} from "./draws/draws.js";
export { arvizJson, saveArviz } from "./export/arviz.js";
export { loadArviz, parseArviz } from "./export/arviz-reader.js";
export type { FixedArray, InferenceData } from "./export/inference-data.js";
export { type StanCsvOptions, saveStanCsv, stanCsv } from "./export/stan-csv.js";
export { loadStanCsv, parseStanCsv } from "./export/stan-csv-reader.js";
export type { Observation } from "./model/given-data.js";
export { type WithMissing, withMissing } from "./model/missing-values.js";
export {
  type Model,
  model,
  type RandomKeys,
  type Returned,
  type Simulated,
  type SimulateOptions,
} from "./model/model.js";
export type { Deterministic, Latent, Observed } from "./model/plan-entries.js";
export type { DensityOptions, Floats, LatentValues, NamesOf, Posterior, Values } from "./model/posterior.js";
export {
  hmmDrawStates,
  hmmLikeliestStates,
  hmmLogDensity,
  hmmStateProbabilities,
} from "./numerics/hidden-markov.js";
export { type ReportOptions, reportPage } from "./report/page.js";
export { report } from "./report/report.js";
export { type SmcOptions, smc } from "./smc/smc.js";
export { SmcFit } from "./smc/smc-fit.js";
export type { SmcStage } from "./smc/stages.js";
export type { FreeNumbers } from "./target/free-numbers.js";
export type { Distribution, DrawOptions, MomentOptions, Noncentered } from "./variables/distribution.js";
export { factor, RandomVariable } from "./variables/variable.js";
export { type AdviOptions, type AdviProgress, advi } from "./variational/advi.js";
export { AdviFit } from "./variational/advi-fit.js";
export {
  type FoundPath,
  type PathfinderOptions,
  type PathfinderProgress,
  pathfinder,
} from "./variational/pathfinder.js";
export { PathfinderFit } from "./variational/pathfinder-fit.js";
