/** Nearest neighbours, and what is learned from them. */
export {
  type LocalOutlierFactorLearned,
  type LocalOutlierFactorOptions,
  localOutlierFactor,
} from "./local-outlier-factor.js";
export type { Metric, MetricOptions } from "./metric.js";
