/** Nearest neighbours, and what is learned from them. */
export {
  type KNeighborsLearned,
  type KNeighborsPredictorOptions,
  kNeighborsClassifier,
  kNeighborsRegressor,
} from "./k-neighbors.js";
export type { KdTree } from "./kd-tree.js";
export {
  type DensityKernel,
  type DensitySampleOptions,
  type KernelDensityLearned,
  type KernelDensityOptions,
  kernelDensity,
} from "./kernel-density.js";
export {
  type LocalOutlierFactorLearned,
  type LocalOutlierFactorOptions,
  localOutlierFactor,
} from "./local-outlier-factor.js";
export type { Metric, MetricOptions } from "./metric.js";
export { type NearestCentroidLearned, type NearestCentroidOptions, nearestCentroid } from "./nearest-centroid.js";
export {
  type NearestNeighborsLearned,
  type NearestNeighborsOptions,
  nearestNeighbors,
  type RadiusGraphOptions,
  type RadiusOptions,
} from "./nearest-neighbors.js";
export type { GraphMode, KNeighborsGraphOptions, KNeighborsMethods, KNeighborsOptions } from "./neighbor-methods.js";
export { type LargeVisGraph, type LargeVisOptions, largeVis, type NnDescentOptions, nnDescent } from "./nn-descent.js";
export type { DistanceMetric, MetricFunction, PairMetricOptions } from "./pair-metric.js";
export {
  type Forest,
  type ForestOptions,
  type RandomProjectionForestLearned,
  type RandomProjectionForestOptions,
  randomProjectionForest,
} from "./projection-forest.js";
export {
  type RadiusNeighborsClassifierLearned,
  type RadiusNeighborsClassifierOptions,
  type RadiusNeighborsLearned,
  type RadiusNeighborsOptions,
  radiusNeighborsClassifier,
  radiusNeighborsRegressor,
} from "./radius-neighbors.js";
export type { RadiusNeighbors } from "./radius-search.js";
export type { Neighbors, Searched, SearchOptions } from "./search.js";
export type { NeighborWeights } from "./weights.js";
