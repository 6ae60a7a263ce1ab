/** Metrics of classical learning: `import { metrics } from "pumice/learn"`. Predictions come first, then targets. */

export type { FlagMetric } from "../neighbors/flag-distances.js";
export {
  type AccuracyOptions,
  accuracy,
  type BalancedAccuracyOptions,
  balancedAccuracy,
  hammingLoss,
  type TopKAccuracyOptions,
  topKAccuracy,
  zeroOneLoss,
} from "./agreement.js";
export {
  type AreaAverage,
  type AveragePrecisionOptions,
  averagePrecision,
  type RocAucOptions,
  rocAuc,
} from "./areas.js";
export {
  adjustedMutualInfo,
  adjustedRand,
  completeness,
  contingencyMatrix,
  fowlkesMallows,
  type GroupingOptions,
  type HomogeneityCompletenessVMeasure,
  homogeneity,
  homogeneityCompletenessVMeasure,
  type MutualInfoOptions,
  mutualInfo,
  normalizedMutualInfo,
  pairConfusionMatrix,
  randScore,
  type VMeasureOptions,
  vMeasure,
} from "./cluster-agreement.js";
export {
  calinskiHarabasz,
  daviesBouldin,
  type SilhouetteOptions,
  type SpreadOptions,
  silhouetteSamples,
  silhouetteScore,
} from "./cluster-spread.js";
export {
  type CohenKappaOptions,
  type ConfusionMatrixOptions,
  classLikelihoodRatios,
  cohenKappa,
  confusionMatrix,
  type LikelihoodRatios,
  type MultilabelConfusionOptions,
  matthewsCorrelation,
  multilabelConfusionMatrix,
} from "./confusion.js";
export {
  auc,
  type DetCurve,
  detCurve,
  type PrecisionRecallCurve,
  precisionRecallCurve,
  type RocCurve,
  type RocCurveOptions,
  rocCurve,
} from "./curves.js";
export {
  d2Tweedie,
  meanGammaDeviance,
  meanPoissonDeviance,
  meanTweedieDeviance,
  type TweedieDevianceOptions,
} from "./deviances.js";
export {
  type DistanceMetric,
  type DistanceOptions,
  type Nearest,
  type PairwiseDistanceOptions,
  pairwiseDistances,
  pairwiseNearest,
} from "./distances.js";
export type { MetricOptions } from "./inputs.js";
export { type PairwiseKernel, type PairwiseKernelOptions, pairwiseKernels } from "./kernels.js";
export type { LabelOptions, LabelsOrFlags } from "./labels.js";
export {
  type BinaryOptions,
  brierScore,
  type CalibrationCurve,
  type CalibrationCurveOptions,
  calibrationCurve,
  d2LogLoss,
  hingeLoss,
  type LogLossOptions,
  logLoss,
} from "./probabilities.js";
export {
  coverageError,
  type DcgOptions,
  dcg,
  labelRankingAveragePrecision,
  labelRankingLoss,
  type NdcgOptions,
  ndcg,
} from "./rankings.js";
export {
  d2AbsoluteError,
  d2Pinball,
  type ExplainedOptions,
  explainedVariance,
  maxError,
  meanAbsoluteError,
  meanAbsolutePercentageError,
  meanPinballLoss,
  meanSquaredError,
  meanSquaredLogError,
  medianAbsoluteError,
  type PinballOptions,
  type RegressionMetricOptions,
  r2,
  rootMeanSquaredError,
  rootMeanSquaredLogError,
} from "./regression.js";
export { type ClassificationReport, classificationReport, type ReportLine, type ReportOptions } from "./report.js";
export { type Scorer, scorer, scorerNames } from "./scorers.js";
export {
  type Average,
  type FBetaOptions,
  f1,
  fBeta,
  jaccard,
  precision,
  precisionRecallFScore,
  recall,
  type ShareOptions,
  type SharesByClass,
} from "./shares.js";
