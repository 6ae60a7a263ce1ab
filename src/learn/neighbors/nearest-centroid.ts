/**
 * Labels by the nearest centre of a class. `shrinkThreshold` draws the centres towards the mean of all samples, feature by feature, so
 * that features which part no classes drop out: nearest shrunken centroids (Tibshirani et al. 2002).
 */
import { ArgumentError } from "../../core/errors.js";
import { type Tensor, where } from "../../tensor/index.js";
import type { Data } from "../core/estimator.js";
import { membersOf } from "../core/members.js";
import { classifier } from "../core/sorts.js";
import { embedQueries } from "./metric.js";
import {
  checkPairMetric,
  type DistanceMetric,
  isPrecomputed,
  type MetricFunction,
  PAIR_METRIC_KINDS,
  type PairMetricOptions,
  pairSpaceOf,
  reducedBetween,
} from "./pair-metric.js";

/** Options of `nearestCentroid`. */
export interface NearestCentroidOptions extends Omit<PairMetricOptions, "metric"> {
  /** "euclidean" unless told. Centres are means; with "manhattan" medians. */
  readonly metric?: DistanceMetric | MetricFunction;
  /** How far centres are drawn to the mean of all, in standard errors of a feature; not at all unless told. */
  readonly shrinkThreshold?: number;
}

/** The centres of the classes. */
export interface NearestCentroidLearned {
  /** [classes, features]; infinite for a class without samples. */
  readonly centroids: Tensor;
  readonly [name: string]: Tensor;
}

type Classified = Data & { readonly y: Tensor; readonly classes: number };

/** Medians by class: samples sorted by value, then by class, so that a class is one stretch of each column. */
function mediansOf(x: Tensor, y: Tensor, counts: Tensor): Tensor {
  const byValue = x.argsort({ axis: 0 });
  const byClass = y.take(byValue).argsort({ axis: 0 });
  const sorted = x.takeAlongAxis(byValue.takeAlongAxis(byClass, { axis: 0 }), { axis: 0 });
  const sizes = counts.cast("i32");
  const start = sizes.cumsum({ axis: 0 }).sub(sizes);
  const middle = (place: Tensor): Tensor =>
    sorted.take(start.add(place).minimum((x.shape[0] as number) - 1), { axis: 0 }) as Tensor;
  const [lower, upper] = [sizes.sub(1).maximum(0).floorDivide(2), sizes.floorDivide(2)];
  return middle(lower as Tensor)
    .add(middle(upper as Tensor))
    .div(2) as Tensor;
}

/** Centres drawn to the mean of all by so many standard errors, those nearer than that to the mean itself. */
function shrunken(centroids: Tensor, { x, y, classes }: Classified, counts: Tensor, threshold: number): Tensor {
  const samples = x.shape[0] as number;
  const mean = x.mean({ axis: 0 });
  const within = x
    .sub(centroids.take(y, { axis: 0 }))
    .square()
    .sum({ axis: 0 });
  const spread = within.div(samples - classes).sqrt();
  const error = counts
    .reciprocal()
    .sub(1 / samples)
    .sqrt()
    .expandDims(1)
    .mul(spread.add(spread.median()));
  const offset = centroids.sub(mean);
  const rest = offset.abs().sub(error.mul(threshold)).maximum(0);
  return mean.add(rest.mul(offset.sign())) as Tensor;
}

/** Labels by the nearest centre of a class; of classes equally near, the first. */
export const nearestCentroid = classifier<NearestCentroidLearned, NearestCentroidOptions>({
  kind: "nearestCentroid",
  options: { ...PAIR_METRIC_KINDS, shrinkThreshold: "number" },
  takesWeights: false,
  check(options) {
    const { shrinkThreshold = 0 } = options;
    checkPairMetric("nearestCentroid", options);
    if (isPrecomputed(options)) {
      throw new ArgumentError('nearestCentroid: the metric is "precomputed"; distances have no centres.');
    }
    if (shrinkThreshold >= 0 && Number.isFinite(shrinkThreshold)) return;
    throw new ArgumentError(`nearestCentroid: shrinkThreshold is ${shrinkThreshold}; it is a number, zero or more.`);
  },
  learn(data, { metric, shrinkThreshold }) {
    const { x, y, classes } = data;
    const members = membersOf(x, y, classes, null);
    const counts = members.sum({ axis: 1 }) as Tensor;
    const ofSome = counts.maximum(1) as Tensor;
    const centroids = (
      metric === "manhattan" ? mediansOf(x, y, counts) : members.div(ofSome.expandDims(1)).matmul(x)
    ) as Tensor;
    const drawn = shrinkThreshold ? shrunken(centroids, data, ofSome, shrinkThreshold) : centroids;
    return { centroids: where(counts.expandDims(1).equal(0), Number.POSITIVE_INFINITY, drawn) as Tensor };
  },
  scores({ centroids }, x, options) {
    const space = pairSpaceOf({ metric: "euclidean", ...options });
    const isThere = centroids.at(":", 0).isFinite();
    const centres = space.embed(where(isThere.expandDims(1), centroids, 0) as Tensor);
    const apart = reducedBetween(embedQueries(x.cast(centroids.dtype) as Tensor, space), centres, space);
    return where(isThere, apart.neg(), Number.NEGATIVE_INFINITY) as Tensor;
  },
});
