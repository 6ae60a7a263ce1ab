/**
 * Metrics that are no norm of a difference: they compare all pairs. Flags, sums of shares, distances that a user gives as a function, and
 * those that were computed before. Brute force knows them beside the norms of metric.ts; trees cannot, as boxes bound norms alone.
 */
import { checkChoice } from "../../core/arguments.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { formatShape } from "../../core/shape.js";
import { type Tensor, where } from "../../tensor/index.js";
import { vmap } from "../../transforms/vmap.js";
import { shareOf } from "../core/share.js";
import { FLAG_METRICS, type FlagMetric, flagDistance } from "./flag-distances.js";
import { checkMetric, METRICS, type Metric, type MetricOptions, normOf, type Space, spaceOf } from "./metric.js";

const SUMS = ["nanEuclidean", "canberra", "braycurtis", "hamming"] as const;

/** A measure of distance between two samples, by name. */
export type DistanceMetric = Metric | FlagMetric | (typeof SUMS)[number];

/** A measure of distance of one's own: two samples, [features], to a number. It is mapped over all pairs by `vmap`. */
export type MetricFunction = (a: Tensor, b: Tensor) => Tensor;

/** Options that say how distances of all pairs are measured. */
export interface PairMetricOptions extends Omit<MetricOptions, "metric"> {
  /**
   * The measure of distance: "minkowski" unless told, which with `p` 2 is the Euclidean one. "precomputed": samples are rows of distances
   * to the samples of the fit.
   */
  readonly metric?: DistanceMetric | "precomputed" | MetricFunction;
}

export const PAIR_METRIC_KINDS = { metric: "any", p: "number", variances: "any", covariance: "any" } as const;

/** All names. */
export const DISTANCE_METRICS: readonly DistanceMetric[] = [...METRICS, ...FLAG_METRICS, ...SUMS];

/** Distances [a, b] of the rows of two matrices. */
type Between = (a: Tensor, b: Tensor) => Tensor;

/** Whether a metric is a norm of a difference, which trees know. */
export const isNorm = ({ metric = "minkowski" }: PairMetricOptions): boolean =>
  (METRICS as readonly unknown[]).includes(metric);

/** Whether samples are distances themselves. */
export const isPrecomputed = ({ metric }: PairMetricOptions): boolean => metric === "precomputed";

/** Throws on a metric that there is not. */
export function checkPairMetric(operation: string, options: PairMetricOptions): void {
  if (isNorm(options)) checkMetric(operation, options as MetricOptions);
  else if (typeof options.metric !== "function") {
    checkChoice(operation, "metric", options.metric, [...DISTANCE_METRICS, "precomputed"]);
  }
}

/** Throws unless precomputed distances of a fit are those of each to each. */
export function checkOwnDistances(operation: string, { shape }: Tensor, options: PairMetricOptions): void {
  if (!isPrecomputed(options) || shape[0] === shape[1]) return;
  throw new ShapeError(`${operation}: precomputed distances are [samples, samples], not ${formatShape(shape)}.`);
}

/** The metric that options name. */
export function pairSpaceOf(options: PairMetricOptions): Space {
  if (isNorm(options)) return spaceOf(options as MetricOptions);
  return {
    norm: "pairs",
    p: 2,
    embed: (x) => x,
    distances: (reduced) => reduced,
    distance: (reduced) => reduced,
    reduced: (distance) => distance,
    between: betweenOf(options.metric as Exclude<PairMetricOptions["metric"], Metric | undefined>),
  };
}

function betweenOf(metric: Exclude<PairMetricOptions["metric"], Metric | undefined>): Between {
  if (typeof metric === "function") return mapped(metric);
  switch (metric) {
    case "precomputed":
      return (queries) => queries;
    case "nanEuclidean":
      return nanEuclidean;
    case "canberra":
      return pairs(
        (a, b) => shareOf(a.sub(b).abs() as Tensor, a.abs().add(b.abs()) as Tensor).sum({ axis: 2 }) as Tensor,
      );
    case "braycurtis":
      return pairs((a, b) => {
        const apart = a.sub(b).abs().sum({ axis: 2 });
        return apart.div(a.add(b).abs().sum({ axis: 2 })) as Tensor;
      });
    case "hamming":
      return pairs((a, b) => a.notEqual(b).cast(a.dtype).mean({ axis: 2 }) as Tensor);
    default:
      return flagDistance(metric);
  }
}

const pairs =
  (rule: Between): Between =>
  (a, b) =>
    rule(a.expandDims(1) as Tensor, b.expandDims(0) as Tensor);

const mapped =
  (metric: MetricFunction): Between =>
  (a, b) => {
    const measured = (x: Tensor, y: Tensor): Tensor => {
      const distance = metric(x, y);
      if (distance.size === 1) return distance.reshape([]).cast(x.dtype) as Tensor;
      throw new ArgumentError(
        `metric: the function gives one number for two samples, not a tensor of shape ${formatShape(distance.shape)}.`,
      );
    };
    return vmap((x: Tensor) => vmap((y: Tensor) => measured(x, y))(b))(a) as Tensor;
  };

/** Features that are missing in either sample are left out, and the rest scaled up; NaN where nothing is left. */
const nanEuclidean: Between = (a, b) => {
  const isThere = a.isNaN().logicalNot().expandDims(1).logicalAnd(b.isNaN().logicalNot());
  const squares = where(isThere, a.expandDims(1).sub(b).square(), 0).sum({ axis: 2 });
  const share = isThere.cast(a.dtype).mean({ axis: 2 });
  return squares.div(share).sqrt() as Tensor;
};

/** Reduced distances of all queries to all samples. Both are embedded. */
export const reducedBetween = (queries: Tensor, samples: Tensor, space: Space): Tensor =>
  space.between ? space.between(queries, samples) : normOf(queries.expandDims(1).sub(samples) as Tensor, space);

/** Reduced distances of some pairs: query `rows[i]` and sample `places[i]`, [pairs]. */
export function reducedOfPairs(queries: Tensor, rows: Tensor, samples: Tensor, places: Tensor, space: Space): Tensor {
  const { between } = space;
  const own = queries.take(rows, { axis: 0 }) as Tensor;
  if (!between) return normOf(own.sub(samples.take(places, { axis: 0 })) as Tensor, space);
  const one = (query: Tensor, place: Tensor): Tensor => {
    const sample = samples.take(place.expandDims(0), { axis: 0 }) as Tensor;
    const found = between(query.expandDims(0) as Tensor, sample).flatten();
    // Precomputed distances of a query are those to all samples.
    return (found.size === 1 ? found.at(0) : found.take(place)) as Tensor;
  };
  return vmap(one)(own, places) as Tensor;
}
