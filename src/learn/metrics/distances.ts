/**
 * Distances between all pairs of samples: every metric of scikit-learn's. The metrics are those of neighbour searches
 * (neighbors/pair-metric.ts); sums over features fuse, so that only the result is in memory.
 */
import { checkChoice, checkOptions, type OptionKinds } from "../../core/arguments.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { formatShape } from "../../core/shape.js";
import { arange, isTensor, type Tensor, tensor, where } from "../../tensor/index.js";
import { numberSamples, type Samples } from "../core/samples.js";
import { embedQueries } from "../neighbors/metric.js";
import { DISTANCE_METRICS, type DistanceMetric, pairSpaceOf, reducedBetween } from "../neighbors/pair-metric.js";
import { METRIC, type MetricOptions, placeOf } from "./inputs.js";

export type { DistanceMetric } from "../neighbors/pair-metric.js";

/** How distances are measured. */
export interface DistanceOptions {
  /** "euclidean" unless told. */
  readonly metric?: DistanceMetric;
  /** The power of "minkowski", 1 or more: 2 unless told. */
  readonly p?: number;
  /** Variances of the features for "seuclidean": those of all samples unless told. */
  readonly variances?: Tensor | readonly number[];
  /** The covariance of the features for "mahalanobis": that of all samples unless told. */
  readonly covariance?: Tensor | readonly (readonly number[])[];
}

export const DISTANCE: OptionKinds<DistanceOptions> = {
  metric: "text",
  p: "number",
  variances: "any",
  covariance: "any",
};

/** Options of `pairwiseDistances`. */
export interface PairwiseDistanceOptions extends DistanceOptions, Omit<MetricOptions, "weights"> {}

const { weights: _, ...PLACE } = METRIC;

/** Distances [samples, others] of all pairs; between the samples themselves when `others` is left out or null. */
export function pairwiseDistances(
  samples: Samples,
  others: Samples | null = null,
  options: PairwiseDistanceOptions = {},
): Tensor {
  const operation = "metrics.pairwiseDistances";
  checkOptions(operation, options, { ...PLACE, ...DISTANCE });
  const [a, b] = samplePair(operation, samples, others, options);
  const found = distancesBetween(distanceRule(operation, options, a, b))(a, b);
  // A sample is at distance 0 from itself, also where the metric compares it with nothing (zeros, constants). Missing values stay.
  if (a !== b || options.metric === "nanEuclidean") return found;
  const places = arange(a.shape[0] as number, { device: a.device, dtype: "i32" });
  return where(places.expandDims(1).equal(places), 0, found).cast(found.dtype) as Tensor;
}

/** The nearest of others for each sample. */
export interface Nearest {
  /** Its place, [samples], i32; the first of equals. */
  readonly indices: Tensor;
  /** How far it is, [samples]. */
  readonly distances: Tensor;
}

/** The nearest of `others` for each sample. */
export function pairwiseNearest(samples: Samples, others: Samples, options: PairwiseDistanceOptions = {}): Nearest {
  const operation = "metrics.pairwiseNearest";
  checkOptions(operation, options, { ...PLACE, ...DISTANCE });
  const [a, b] = samplePair(operation, samples, others, options);
  const found = distancesBetween(distanceRule(operation, options, a, b))(a, b);
  return {
    indices: found.argmin({ axis: 1 }).cast("i32") as Tensor,
    distances: found.min({ axis: 1 }) as Tensor,
  };
}

/** Two matrices with the same columns. */
export function samplePair(
  operation: string,
  samples: Samples,
  others: Samples | null,
  options: Omit<MetricOptions, "weights">,
): readonly [Tensor, Tensor] {
  const place = placeOf(operation, [samples, others], options);
  const read = (x: Samples): Tensor => numberSamples.read(operation, x, place, {}).matrix;
  const a = read(samples);
  const b = others === null ? a : read(others);
  if (a.shape[1] === b.shape[1]) return [a, b];
  throw new ShapeError(`${operation}: samples have ${a.shape[1]} features, and the others ${b.shape[1]}.`);
}

/** The options of distances with the settings that depend on all samples. */
export function distanceRule(operation: string, options: DistanceOptions, a: Tensor, b: Tensor): DistanceOptions {
  const { metric = "euclidean", p = 2, variances, covariance } = options;
  checkChoice(operation, "the option metric", metric, DISTANCE_METRICS);
  if (!(p >= 1)) throw new ArgumentError(`${operation}: p is ${p}; it is a number from 1 on, or Infinity.`);
  const { dtype, device } = a;
  const { shape } = a;
  const settled = (
    given: Tensor | readonly unknown[] | undefined,
    what: string,
    size: readonly (number | undefined)[],
  ): Tensor => {
    if (given === undefined) return scaleOf(metric, a, b) as Tensor;
    const scale = isTensor(given) ? given.cast(dtype) : tensor(given as number[], { dtype, device });
    if (formatShape(scale.shape) === formatShape(size as number[])) return scale as Tensor;
    throw new ShapeError(
      `${operation}: the option ${what} has the shape ${formatShape(scale.shape)}, not ${formatShape(size as number[])}.`,
    );
  };
  if (metric === "seuclidean") return { metric, variances: settled(variances, "variances", [shape[1]]) };
  if (metric === "mahalanobis") return { metric, covariance: settled(covariance, "covariance", [shape[1], shape[1]]) };
  return { metric, p };
}

/** Variances or the covariance of all samples, with n − 1. */
function scaleOf(metric: DistanceMetric, a: Tensor, b: Tensor): Tensor | null {
  if (metric !== "seuclidean" && metric !== "mahalanobis") return null;
  const count = (a.shape[0] as number) + (a === b ? 0 : (b.shape[0] as number));
  const all = a === b ? [a] : [a, b];
  const sum = (of: (x: Tensor) => Tensor): Tensor => all.map(of).reduce((x, y) => x.add(y) as Tensor);
  const mean = sum((x) => x.sum({ axis: 0 }) as Tensor).div(count);
  const centred = (x: Tensor): Tensor => x.sub(mean) as Tensor;
  const squares =
    metric === "seuclidean"
      ? sum((x) => centred(x).square().sum({ axis: 0 }) as Tensor)
      : sum((x) => centred(x).T.matmul(centred(x), { precision: "highest" }) as Tensor);
  return squares.div(count - 1) as Tensor;
}

/** Distances [a, b] of the rows of two matrices. */
export function distancesBetween(rule: DistanceOptions): (a: Tensor, b: Tensor) => Tensor {
  const space = pairSpaceOf(rule);
  return (a, b) => space.distances(reducedBetween(embedQueries(a, space), space.embed(b), space));
}
