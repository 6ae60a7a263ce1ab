/**
 * How tight and how far apart groups of samples are, without targets: silhouettes, and the indices of Caliński & Harabasz and of Davies &
 * Bouldin. Distances of silhouettes go in bands, so that memory grows with the samples and not with their square.
 */
import { checkOptions } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { type Tensor, where } from "../../tensor/index.js";
import { membersOf } from "../core/members.js";
import { numberSamples, type Samples } from "../core/samples.js";
import { shareOf } from "../core/share.js";
import type { Label, Labels } from "../core/targets.js";
import { inBands } from "../neighbors/brute-force.js";
import { DISTANCE, type DistanceOptions, distanceRule, distancesBetween } from "./distances.js";
import { checkCounts, METRIC, type MetricOptions, type MetricPlace, placeOf } from "./inputs.js";
import { classesAmong, codesOf } from "./labels.js";

/** Options of `calinskiHarabasz` and `daviesBouldin`. */
export interface SpreadOptions extends Omit<MetricOptions, "weights"> {
  /** The groups, where they are told instead of read. */
  readonly labels?: readonly Label[];
}

/** Options of `silhouetteSamples` and `silhouetteScore`. */
export interface SilhouetteOptions extends SpreadOptions, DistanceOptions {}

const { weights: _, ...PLACE } = METRIC;
const SPREAD = { ...PLACE, labels: "any" } as const;

/** Distances in memory at a time. */
const BAND = 1 << 24;

interface Groups {
  readonly x: Tensor;
  readonly codes: Tensor;
  readonly count: number;
}

function groupsOf(operation: string, samples: Samples, groups: Labels, options: SpreadOptions): Groups {
  const place: MetricPlace = placeOf(operation, [samples, groups], options);
  const x = numberSamples.read(operation, samples, place, {}).matrix.cast(place.dtype) as Tensor;
  const labels = options.labels ?? classesAmong(operation, [groups]);
  const codes = codesOf(operation, groups, labels, place);
  const rows = x.shape[0] as number;
  checkCounts(operation, "samples", rows, codes.shape[0] as number);
  if (labels.length >= 2 && labels.length < rows) return { x, codes, count: labels.length };
  throw new ArgumentError(
    `${operation}: there are ${rows} samples in ${labels.length} groups; it takes two groups or more, and fewer than samples.`,
  );
}

/** (b − a) / max(a, b) of each sample: a is its mean distance to its own group, b to the nearest other. 0 for a sample alone. */
export function silhouetteSamples(samples: Samples, groups: Labels, options: SilhouetteOptions = {}): Tensor {
  const operation = "metrics.silhouetteSamples";
  checkOptions(operation, options, { ...SPREAD, ...DISTANCE });
  const { x, codes, count } = groupsOf(operation, samples, groups, options);
  const between = distancesBetween(distanceRule(operation, options, x, x));
  const members = membersOf(x, codes, count, null);
  const sizes = members.sum({ axis: 1 }) as Tensor;
  const most = Math.max(1, Math.floor(BAND / (x.shape[0] as number)));
  return inBands(x, most, (band, rows) => {
    const sums = between(band, x).matmul(members.T, { precision: "highest" }) as Tensor;
    const own = codes.take(rows).expandDims(1);
    const others = sizes.take(codes.take(rows)).sub(1) as Tensor;
    const inside = shareOf(sums.takeAlongAxis(own, { axis: 1 }).squeeze(1) as Tensor, others);
    const isOwn = members.take(rows, { axis: 1 }).T.greater(0);
    const outside = where(isOwn.logicalOr(sizes.equal(0)), Number.POSITIVE_INFINITY, sums.div(sizes)).min({ axis: 1 });
    const width = shareOf(outside.sub(inside) as Tensor, outside.maximum(inside) as Tensor);
    return { width: where(others.equal(0), 0, width) as Tensor };
  }).width;
}

/** The mean silhouette of all samples: near 1 for tight groups far apart, below 0 for samples that are nearer to others. */
export function silhouetteScore(samples: Samples, groups: Labels, options: SilhouetteOptions = {}): Tensor {
  return silhouetteSamples(samples, groups, options).mean() as Tensor;
}

/** Middles of groups, [groups, features], and how many samples each has. */
function middlesOf({ x, codes, count }: Groups) {
  const members = membersOf(x, codes, count, null);
  const sizes = members.sum({ axis: 1 }) as Tensor;
  // About the mean of all, so that products lose no digits to where the samples lie.
  const centred = x.sub(x.mean({ axis: 0 })) as Tensor;
  const middles = shareOf(members.matmul(centred, { precision: "highest" }) as Tensor, sizes.expandDims(1) as Tensor);
  return { members, sizes, centred, middles };
}

/** The variance between groups as a multiple of that inside them; 1 where there is none inside. */
export function calinskiHarabasz(samples: Samples, groups: Labels, options: SpreadOptions = {}): Tensor {
  checkOptions("metrics.calinskiHarabasz", options, SPREAD);
  const given = groupsOf("metrics.calinskiHarabasz", samples, groups, options);
  const { sizes, centred, middles } = middlesOf(given);
  const between = middles.square().sum({ axis: 1 }).mul(sizes).sum();
  const inside = centred
    .sub(middles.take(given.codes, { axis: 0 }))
    .square()
    .sum() as Tensor;
  const ratio = between.mul((given.x.shape[0] as number) - given.count).div(given.count - 1) as Tensor;
  return shareOf(ratio, inside, 1);
}

/** The mean over groups of how alike each is to the one most like it: spreads as a share of the distance of middles. 0 is best. */
export function daviesBouldin(samples: Samples, groups: Labels, options: SpreadOptions = {}): Tensor {
  checkOptions("metrics.daviesBouldin", options, SPREAD);
  const given = groupsOf("metrics.daviesBouldin", samples, groups, options);
  const { members, sizes, centred, middles } = middlesOf(given);
  const away = centred
    .sub(middles.take(given.codes, { axis: 0 }))
    .square()
    .sum({ axis: 1 })
    .sqrt();
  const spreads = members.mul(away).sum({ axis: 1 }).div(sizes);
  const apart = middles.expandDims(1).sub(middles.expandDims(0)).square().sum({ axis: 2 }).sqrt() as Tensor;
  // Groups with one middle are not compared, as in scikit-learn.
  const alike = shareOf(spreads.expandDims(1).add(spreads.expandDims(0)) as Tensor, apart);
  return alike.max({ axis: 1 }).mean() as Tensor;
}
