/**
 * Metrics: how far two samples are from each other. Every metric here is a norm of a difference, after a map of the samples that few of
 * them need: cosine distances are those of unit vectors, great circles those of chords of a sphere. So brute force, trees and forests
 * know four norms and no metrics.
 *
 * Searches compare reduced distances, which order pairs as distances do and cost less: squares without their root. Differences
 * are taken before anything is squared, so that near-duplicates keep their digits and no distance is negative.
 */
import { checkChoice } from "../../core/arguments.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { concat, stack, type Tensor, where } from "../../tensor/index.js";

/** How the distance between two samples is measured. */
export type Metric =
  | "minkowski"
  | "euclidean"
  | "sqeuclidean"
  | "manhattan"
  | "chebyshev"
  | "cosine"
  /** The angle between places (latitude, longitude), in radians. */
  | "haversine";

const METRICS: readonly Metric[] = [
  "minkowski",
  "euclidean",
  "sqeuclidean",
  "manhattan",
  "chebyshev",
  "cosine",
  "haversine",
];

/** Options that say how distances are measured. */
export interface MetricOptions {
  /** The measure of distance: "minkowski" unless told, which with `p` 2 is the Euclidean one. */
  readonly metric?: Metric;
  /** The power of "minkowski", 1 or more: 2 unless told. */
  readonly p?: number;
}

/** What options of a metric are. */
export const METRIC_KINDS = { metric: "text", p: "number" } as const;

/** A norm of a difference: Σd², Σ|d|, max |d| or Σ|d|^p. */
type Norm = "squares" | "absolutes" | "largest" | "powers";

/** A metric as searches see it. */
export interface Space {
  readonly norm: Norm;
  /** The power of the norm "powers". */
  readonly p: number;
  /** Samples as the norm compares them. */
  embed(x: Tensor): Tensor;
  /** Distances of reduced ones. */
  distances(reduced: Tensor): Tensor;
  /** The same of numbers. */
  distance(reduced: number): number;
  /** The reduced form of a distance. */
  reduced(distance: number): number;
}

/** Throws on a metric that there is not, and on a power that makes none. */
export function checkMetric(operation: string, { metric, p }: MetricOptions): void {
  checkChoice(operation, "metric", metric, METRICS);
  if (p === undefined || p >= 1) return;
  throw new ArgumentError(`${operation}: p is ${p}; it is a number from 1 on, or Infinity.`);
}

const asItIs = (x: Tensor): Tensor => x;
const roots = {
  distances: (reduced: Tensor): Tensor => reduced.sqrt() as Tensor,
  distance: Math.sqrt,
  reduced: (distance: number): number => distance * distance,
};
const plain = { distances: asItIs, distance: (reduced: number) => reduced, reduced: (distance: number) => distance };

/** The metric that options name. */
export function spaceOf({ metric = "minkowski", p = 2 }: MetricOptions): Space {
  switch (metric) {
    case "euclidean":
      return { norm: "squares", p: 2, embed: asItIs, ...roots };
    case "sqeuclidean":
      return { norm: "squares", p: 2, embed: asItIs, ...plain };
    case "manhattan":
      return { norm: "absolutes", p: 1, embed: asItIs, ...plain };
    case "chebyshev":
      return { norm: "largest", p: Number.POSITIVE_INFINITY, embed: asItIs, ...plain };
    case "minkowski":
      return minkowski(p);
    case "cosine":
      // 1 − a·b = |a − b|² / 2 of unit vectors.
      return {
        norm: "squares",
        p: 2,
        embed: unitVectors,
        distances: (reduced) => reduced.div(2) as Tensor,
        distance: (reduced) => reduced / 2,
        reduced: (distance) => 2 * distance,
      };
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

/** Rows of length 1. A row of zeros has no direction: it points along an axis of its own, at distance 1 from all others. */
function unitVectors(x: Tensor): Tensor {
  // Divided by the largest first: squares of very large and very small numbers leave the range of floats.
  const largest = x.abs().max({ axis: 1, keepDims: true });
  const isZero = largest.equal(0);
  const scaled = x.div(where(isZero, 1, largest));
  const length = scaled.square().sum({ axis: 1, keepDims: true }).sqrt();
  return concat([scaled.div(where(isZero, 1, length)), isZero.cast(x.dtype)], { axis: 1 }) as Tensor;
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
  }
}
