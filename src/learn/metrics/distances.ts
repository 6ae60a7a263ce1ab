/**
 * Distances between all pairs of samples: every metric of scikit-learn's. Those of neighbour searches are theirs (neighbors/metric.ts);
 * the others are sums over features, which the compiler fuses, so that only the result is in memory.
 */
import { checkChoice, checkOptions, type OptionKinds } from "../../core/arguments.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { formatShape } from "../../core/shape.js";
import { solve } from "../../linalg/lu.js";
import { isTensor, type Tensor, tensor, where } from "../../tensor/index.js";
import { numberSamples, type Samples } from "../core/samples.js";
import { type Metric, normOf, spaceOf } from "../neighbors/metric.js";
import { FLAG_METRICS, type FlagMetric, flagDistance } from "./flag-distances.js";
import { METRIC, type MetricOptions, placeOf, shareOf } from "./inputs.js";

/** A measure of distance between two samples. */
export type DistanceMetric =
  | Metric
  | FlagMetric
  | "cityblock"
  | "l1"
  | "l2"
  | "nanEuclidean"
  | "canberra"
  | "braycurtis"
  | "correlation"
  | "hamming"
  | "seuclidean"
  | "mahalanobis";

const ALIASES: Readonly<Record<string, Metric>> = { cityblock: "manhattan", l1: "manhattan", l2: "euclidean" };
const SPACES: readonly string[] = [
  "minkowski",
  "euclidean",
  "sqeuclidean",
  "manhattan",
  "chebyshev",
  "cosine",
  "haversine",
];
const SUMS = ["nanEuclidean", "canberra", "braycurtis", "correlation", "hamming", "seuclidean", "mahalanobis"] as const;
const NAMES: readonly string[] = [...SPACES, ...Object.keys(ALIASES), ...FLAG_METRICS, ...SUMS];

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

/** A function that gives distances [a, b] of the rows of two matrices. */
type Between = (a: Tensor, b: Tensor) => Tensor;

/** What distances are measured by, once settings that depend on all samples are known. */
interface DistanceRule {
  readonly metric: DistanceMetric;
  readonly p: number;
  /** Variances or the covariance of the features, for the metrics that have them. */
  readonly scale: Tensor | null;
}

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
  return distancesBetween(operation, distanceRule(operation, options, a, b))(a, b);
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
  const found = distancesBetween(operation, distanceRule(operation, options, a, b))(a, b);
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

/** The rule that options name, for these samples. */
export function distanceRule(operation: string, options: DistanceOptions, a: Tensor, b: Tensor): DistanceRule {
  const { metric = "euclidean", p = 2, variances, covariance } = options;
  checkChoice(operation, "the option metric", metric, NAMES);
  if (!(p >= 1)) throw new ArgumentError(`${operation}: p is ${p}; it is a number from 1 on, or Infinity.`);
  const features = a.shape[1] as number;
  const given = metric === "seuclidean" ? variances : metric === "mahalanobis" ? covariance : undefined;
  if (given === undefined) return { metric, p, scale: scaleOf(metric, a, b) };
  const { dtype, device } = a;
  const scale = isTensor(given) ? given.cast(dtype) : tensor(given as number[], { dtype, device });
  const shape = metric === "seuclidean" ? [features] : [features, features];
  if (formatShape(scale.shape) === formatShape(shape)) return { metric, p, scale: scale as Tensor };
  const what = metric === "seuclidean" ? "variances" : "covariance";
  throw new ShapeError(
    `${operation}: the option ${what} has the shape ${formatShape(scale.shape)}, not ${formatShape(shape)}.`,
  );
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

/** Distances by a rule. */
export function distancesBetween(operation: string, { metric, p, scale }: DistanceRule): Between {
  const name = ALIASES[metric] ?? metric;
  if (SPACES.includes(name)) {
    const space = spaceOf({ metric: name as Metric, p });
    return (a, b) => space.distances(normOf(space.embed(a).expandDims(1).sub(space.embed(b)) as Tensor, space));
  }
  if ((FLAG_METRICS as readonly string[]).includes(name)) return flagDistance(name as FlagMetric);
  switch (name as (typeof SUMS)[number]) {
    case "nanEuclidean":
      return nanEuclidean;
    case "canberra":
      return pairs(
        (a, b) => shareOf(a.sub(b).abs() as Tensor, a.abs().add(b.abs()) as Tensor).sum({ axis: 2 }) as Tensor,
      );
    case "braycurtis":
      return pairs(
        (a, b) =>
          a
            .sub(b)
            .abs()
            .sum({ axis: 2 })
            .div(a.add(b).abs().sum({ axis: 2 })) as Tensor,
      );
    case "hamming":
      return pairs((a, b) => a.notEqual(b).cast(a.dtype).mean({ axis: 2 }) as Tensor);
    case "correlation":
      return correlation;
    case "seuclidean":
      return pairs(
        (a, b) =>
          a
            .sub(b)
            .square()
            .div(scale as Tensor)
            .sum({ axis: 2 })
            .sqrt() as Tensor,
      );
    case "mahalanobis":
      return mahalanobis(scale as Tensor);
    default:
      throw new ArgumentError(`${operation}: the metric is ${name}, which is none of ${NAMES.join(", ")}.`);
  }
}

const pairs =
  (rule: (a: Tensor, b: Tensor) => Tensor): Between =>
  (a, b) =>
    rule(a.expandDims(1) as Tensor, b.expandDims(0) as Tensor);

/** 1 − the correlation of the two samples' features; NaN for a constant sample. */
const correlation: Between = (a, b) => {
  const unit = (x: Tensor): Tensor => {
    const centred = x.sub(x.mean({ axis: 1, keepDims: true }));
    return centred.div(centred.square().sum({ axis: 1, keepDims: true }).sqrt()) as Tensor;
  };
  // Half the squared difference of unit vectors keeps the digits of small distances.
  return unit(a).expandDims(1).sub(unit(b)).square().sum({ axis: 2 }).div(2) as Tensor;
};

const mahalanobis =
  (covariance: Tensor): Between =>
  (a, b) => {
    const [rows, others, features] = [a.shape[0] as number, b.shape[0] as number, a.shape[1] as number];
    const differences = a.expandDims(1).sub(b) as Tensor;
    const flat = differences.reshape(rows * others, features) as Tensor;
    const solved = (solve(covariance, flat.T) as Tensor).T.reshape(rows, others, features);
    return differences.mul(solved).sum({ axis: 2 }).maximum(0).sqrt() as Tensor;
  };

/** Features that are missing in either sample are left out, and the rest scaled up; NaN where nothing is left. */
const nanEuclidean: Between = (a, b) => {
  const isThere = a.isNaN().logicalNot().expandDims(1).logicalAnd(b.isNaN().logicalNot());
  const squares = where(isThere, a.expandDims(1).sub(b).square(), 0).sum({ axis: 2 });
  const share = isThere.cast(a.dtype).mean({ axis: 2 });
  return squares.div(share).sqrt() as Tensor;
};
