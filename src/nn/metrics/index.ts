/** Metrics: `metrics.accuracy(predictions, targets)`, and their means over batches. */

export { meanAbsoluteError, meanSquaredError } from "../losses/regression.js";
export type { AverageOptions } from "./class-averages.js";
export {
  accuracy,
  binaryAccuracy,
  type ThresholdOptions,
  type TopKAccuracyOptions,
  topKAccuracy,
} from "./classification.js";
export { type ConfusionOptions, confusionMatrix } from "./confusion.js";
export {
  f1,
  falseNegatives,
  falsePositives,
  precision,
  recall,
  sensitivity,
  specificity,
  trueNegatives,
  truePositives,
} from "./counts.js";
export { auc } from "./ranking.js";
export { perplexity, r2, rootMeanSquaredError } from "./regression.js";
export { type RunningMean, runningMean, startMean } from "./running.js";
export type { WeightOptions } from "./weights.js";
