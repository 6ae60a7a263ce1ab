/**
 * Metrics: how far two samples are from each other. Every metric here is a norm of a difference, after a map of the samples that few of
 * them need: cosine distances are those of unit vectors, great circles those of chords of a sphere. So brute force, trees and forests
 * know four norms and no metrics. The other metrics are those of pair-metric.ts.
 *
 * Searches compare reduced distances, which order pairs as distances do and cost less: squares without their root. Differences
 * are taken before anything is squared, so that near-duplicates keep their digits and no distance is negative.
 */
import { checkChoice } from "../../core/arguments.js";
import { ArgumentError, ShapeError, UnsupportedError } from "../../core/errors.js";
import { formatShape } from "../../core/shape.js";
import { cholesky, triangularSolve } from "../../linalg/triangular.js";
import { concat, isTensor, stack, type Tensor, tensor, where } from "../../tensor/index.js";

/** How the distance between two samples is measured. */
export type Metric =
  | "minkowski"
  | "euclidean"
  | "l2"
  | "sqeuclidean"
  | "manhattan"
  | "cityblock"
  | "l1"
  | "chebyshev"
  | "cosine"
  | "correlation"
  /** The angle between places (latitude, longitude), in radians. */
  | "haversine"
  /** Euclidean, of features divided by their deviations. */
  | "seuclidean"
  /** Euclidean, of features made uncorrelated. */
  | "mahalanobis";

export const METRICS: readonly Metric[] = [
  "minkowski",
  "euclidean",
  "l2",
  "sqeuclidean",
  "manhattan",
  "cityblock",
  "l1",
  "chebyshev",
  "cosine",
  "correlation",
  "haversine",
  "seuclidean",
  "mahalanobis",
];

/** Options that say how distances are measured. */
export interface MetricOptions {
  /** The measure of distance: "minkowski" unless told, which with `p` 2 is the Euclidean one. */
  readonly metric?: Metric;
  /** The power of "minkowski", 1 or more: 2 unless told. */
  readonly p?: number;
  /** The variances of the features, which "seuclidean" needs. */
  readonly variances?: Tensor | readonly number[];
  /** The covariance of the features, which "mahalanobis" needs. */
  readonly covariance?: Tensor | readonly (readonly number[])[];
}

/** What options of a metric are. */
export const METRIC_KINDS = { metric: "text", p: "number", variances: "any", covariance: "any" } as const;

/** A norm of a difference: Σd², Σ|d|, max |d| or Σ|d|^p. "pairs": none; the space says how pairs are compared. */
type Norm = "squares" | "absolutes" | "largest" | "powers" | "pairs";

/** A metric as searches see it. */
export interface Space {
  readonly norm: Norm;
  /** The power of the norm "powers". */
  readonly p: number;
  /** Samples as the norm compares them. */
  embed(x: Tensor): Tensor;
  /** Embedded samples as queries, where those are embedded differently. */
  asked?(embedded: Tensor): Tensor;
  /** Distances of all pairs of queries and samples, for the norm "pairs". */
  between?(queries: Tensor, samples: Tensor): Tensor;
  /** Distances of reduced ones. */
  distances(reduced: Tensor): Tensor;
  /** The same of numbers. */
  distance(reduced: number): number;
  /** The reduced form of a distance. */
  reduced(distance: number): number;
}

/** Throws on a metric that there is not, and on a power that makes none. */
export function checkMetric(operation: string, { metric, p, variances, covariance }: MetricOptions): void {
  checkChoice(operation, "metric", metric, METRICS);
  if (p !== undefined && !(p >= 1)) {
    throw new ArgumentError(`${operation}: p is ${p}; it is a number from 1 on, or Infinity.`);
  }
  const [needed, given] =
    metric === "seuclidean" ? ["variances", variances] : metric === "mahalanobis" ? ["covariance", covariance] : [];
  if (needed === undefined || given !== undefined) return;
  throw new ArgumentError(`${operation}: the metric "${metric}" needs the option ${needed}, of the features.`);
}

/** Queries as they are compared with embedded samples. */
export const embedQueries = (x: Tensor, space: Space): Tensor => queriesOf(space.embed(x), space);

/** Embedded samples as queries. */
export const queriesOf = (embedded: Tensor, space: Space): Tensor => space.asked?.(embedded) ?? embedded;

const asItIs = (x: Tensor): Tensor => x;
const roots = {
  distances: (reduced: Tensor): Tensor => reduced.sqrt() as Tensor,
  distance: Math.sqrt,
  reduced: (distance: number): number => distance * distance,
};
/** 1 − a·b = |a − b|² / 2 of unit vectors. */
const halves = {
  distances: (reduced: Tensor): Tensor => reduced.div(2) as Tensor,
  distance: (reduced: number): number => reduced / 2,
  reduced: (distance: number): number => 2 * distance,
};
const plain = { distances: asItIs, distance: (reduced: number) => reduced, reduced: (distance: number) => distance };

/** The metric that options name. */
export function spaceOf({ metric = "minkowski", p = 2, variances, covariance }: MetricOptions): Space {
  switch (metric) {
    case "euclidean":
    case "l2":
      return { norm: "squares", p: 2, embed: asItIs, ...roots };
    case "sqeuclidean":
      return { norm: "squares", p: 2, embed: asItIs, ...plain };
    case "manhattan":
    case "cityblock":
    case "l1":
      return { norm: "absolutes", p: 1, embed: asItIs, ...plain };
    case "chebyshev":
      return { norm: "largest", p: Number.POSITIVE_INFINITY, embed: asItIs, ...plain };
    case "minkowski":
      return minkowski(p);
    case "cosine":
      return { norm: "squares", p: 2, embed: unitVectors, asked: withOtherAxis, ...halves };
    case "correlation":
      return { norm: "squares", p: 2, embed: centredUnitVectors, ...halves };
    case "seuclidean": {
      const embed = (x: Tensor) => x.div(settingBeside(metric, variances, x, [x.shape[1] as number]).sqrt()) as Tensor;
      return { norm: "squares", p: 2, embed, ...roots };
    }
    case "mahalanobis": {
      const embed = (x: Tensor): Tensor => {
        const features = x.shape[1] as number;
        // (a − b)ᵀ C⁻¹ (a − b) is the square of L⁻¹(a − b) for C = L·Lᵀ.
        const factor = cholesky(settingBeside(metric, covariance, x, [features, features]));
        return triangularSolve(factor, x.T as Tensor, { lower: true }).T as Tensor;
      };
      return { norm: "squares", p: 2, embed, ...roots };
    }
    case "haversine":
      return {
        norm: "squares",
        p: 2,
        embed: onSphere,
        distances: (reduced) => reduced.sqrt().div(2).minimum(1).asin().mul(2) as Tensor,
        distance: (reduced) => 2 * Math.asin(Math.min(1, Math.sqrt(reduced) / 2)),
        reduced: (distance) => (2 * Math.sin(Math.min(distance, Math.PI) / 2)) ** 2,
      };
  }
}

function minkowski(p: number): Space {
  if (p === 1) return spaceOf({ metric: "manhattan" });
  if (p === 2) return spaceOf({ metric: "euclidean" });
  if (p === Number.POSITIVE_INFINITY) return spaceOf({ metric: "chebyshev" });
  return {
    norm: "powers",
    p,
    embed: asItIs,
    distances: (reduced) => reduced.pow(1 / p) as Tensor,
    distance: (reduced) => reduced ** (1 / p),
    reduced: (distance) => distance ** p,
  };
}

/** Variances or a covariance beside samples. */
function settingBeside(
  metric: Metric,
  given: MetricOptions["covariance" | "variances"],
  x: Tensor,
  shape: number[],
): Tensor {
  const { dtype, device } = x;
  const setting = isTensor(given) ? given.cast(dtype) : tensor(given as number[], { dtype, device });
  if (formatShape(setting.shape) === formatShape(shape)) return setting as Tensor;
  const what = metric === "seuclidean" ? "variances" : "covariance";
  throw new ShapeError(
    `${metric}: the option ${what} has the shape ${formatShape(setting.shape)}, not ${formatShape(shape)}.`,
  );
}

/**
 * Rows of length 1. A row of zeros has no direction: it points along an axis of its own, at distance 1 from all others. Queries of zeros
 * point along another one (`withOtherAxis`), so that they are at distance 1 from samples of zeros, too.
 */
function unitVectors(x: Tensor): Tensor {
  // Divided by the largest first: squares of very large and very small numbers leave the range of floats.
  const largest = x.abs().max({ axis: 1, keepDims: true });
  const isZero = largest.equal(0);
  const scaled = x.div(where(isZero, 1, largest));
  const length = scaled.square().sum({ axis: 1, keepDims: true }).sqrt();
  const axis = isZero.cast(x.dtype);
  return concat([scaled.div(where(isZero, 1, length)), axis, axis.mul(0)], { axis: 1 }) as Tensor;
}

function withOtherAxis(units: Tensor): Tensor {
  const parts = [units.at(":", ":-2"), units.at(":", "-1:"), units.at(":", "-2:-1")];
  return concat(parts, { axis: 1 }) as Tensor;
}

/** Rows less their mean, of length 1; NaN for a row that does not vary. */
function centredUnitVectors(x: Tensor): Tensor {
  const centred = x.sub(x.mean({ axis: 1, keepDims: true }));
  return centred.div(centred.square().sum({ axis: 1, keepDims: true }).sqrt()) as Tensor;
}

function onSphere(x: Tensor): Tensor {
  if (x.shape[1] !== 2) {
    throw new ShapeError(`haversine: samples are [samples, 2], latitude and longitude, not ${x.shape[1]} features.`);
  }
  const [latitude, longitude] = [x.at(":", 0), x.at(":", 1)];
  const flat = latitude.cos();
  return stack([flat.mul(longitude.cos()), flat.mul(longitude.sin()), latitude.sin()], { axis: 1 }) as Tensor;
}

/** The norm of differences along their last axis: reduced distances. */
export function normOf(differences: Tensor, { norm, p }: Space): Tensor {
  switch (norm) {
    case "squares":
      return differences.square().sum({ axis: -1 }) as Tensor;
    case "absolutes":
      return differences.abs().sum({ axis: -1 }) as Tensor;
    case "largest":
      return differences.abs().max({ axis: -1 }) as Tensor;
    case "powers":
      return differences.abs().pow(p).sum({ axis: -1 }) as Tensor;
    case "pairs":
      throw new UnsupportedError("neighbours: this metric is no norm of a difference.");
  }
}
