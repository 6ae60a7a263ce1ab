/**
 * The triplets of TriMap (Amid & Warmuth 2019): a sample, one that is to lie nearer, and one that is to lie farther. Nearer ones are its
 * neighbours, farther ones are drawn among those beyond them; a few triplets are drawn altogether. How different the two distances are is
 * the weight of a triplet. Functions of tensors.
 */
import { foldIn, type Key, randint } from "../../random/index.js";
import { arange, concat, type Tensor, where } from "../../tensor/index.js";
import { type DistanceOptions, isPrecomputed, spaceFor } from "../cluster/distances.js";
import { normOf } from "../neighbors/metric.js";
import { neighborGraph } from "./neighbor-graph.js";

/** Triplets of each sample. */
export interface Triplets {
  /** Samples that are to lie nearer, i32 [samples, triplets]. */
  readonly nearer: Tensor;
  /** Samples that are to lie farther, i32 [samples, triplets]. */
  readonly farther: Tensor;
  readonly weights: Tensor;
  readonly [name: string]: Tensor;
}

/** How many triplets are made, and how they are weighed. */
interface TripletOptions extends DistanceOptions {
  readonly nInliers: number;
  readonly nOutliers: number;
  readonly nRandom: number;
  readonly weightTemp: number;
}

/** Neighbours besides the wanted ones, among which distances over widths choose. */
const EXTRA = 50;
/** Random triplets count by this. */
const RANDOM_SHARE = 0.1;
/** Numbers from which whole ones are reduced: the bias is n / RANGE. */
const RANGE = 2 ** 31 - 1;

/**
 * Samples drawn among those that are not excluded. `excluded` is sorted, [..., e]; numbers from `count` on fill it up. `shape` is
 * [..., drawn]. @internal for tests: whether they are drawn evenly
 */
export function drawnOutside(from: Key, excluded: Tensor, count: number, shape: readonly number[]): Tensor {
  const room = excluded.less(count).cast("i32").sum({ axis: -1, keepDims: true }).neg().add(count);
  const drawn = randint(from, shape, 0, RANGE).remainder(room) as Tensor;
  // The r-th of those that are left has as many excluded ones before it as are less than it.
  const places = arange(excluded.shape.at(-1) as number, { device: excluded.device, dtype: "i32" });
  const least = where(excluded.less(count), excluded.sub(places), count).expandDims(-2);
  const before = least.lessEqual(drawn.expandDims(-1)).cast("i32").sum({ axis: -1 });
  return drawn.add(before).cast("i32") as Tensor;
}

/** Distances from each sample to some others, [samples, others]. */
function distancesTo(x: Tensor, others: Tensor, options: DistanceOptions): Tensor {
  if (isPrecomputed(options)) return x.takeAlongAxis(others, { axis: 1 }) as Tensor;
  const space = spaceFor(options);
  const samples = space.embed(x);
  return space.distances(normOf(samples.expandDims(1).sub(samples.take(others, { axis: 0 })) as Tensor, space));
}

/** The logarithm at temperature 1; (w^(1 − t) − 1) / (1 − t) at others, which grows faster the lower it is. */
const temperedLog = (w: Tensor, t: number): Tensor =>
  (t === 1
    ? w.log()
    : w
        .pow(1 - t)
        .sub(1)
        .div(1 - t)) as Tensor;

/** The triplets of samples. */
export function tripletsOf(operation: string, x: Tensor, options: TripletOptions, from: Key): Triplets {
  const { nInliers, nOutliers, nRandom, weightTemp } = options;
  const count = x.shape[0] as number;
  const { device } = x;
  const k = Math.min(count - 1, nInliers + EXTRA);
  const { distances, indices } = neighborGraph(operation, x, k, options);
  // A sample's width is its distance to the third to fifth neighbour.
  const widths = distances
    .at(":", `${Math.min(2, k - 1)}:5`)
    .mean({ axis: 1 })
    .maximum(1e-10) as Tensor;
  const scaled = (lengths: Tensor, others: Tensor): Tensor =>
    lengths.square().div(widths.expandDims(1)).div(widths.take(others)) as Tensor;
  const far = (others: Tensor): Tensor => scaled(distancesTo(x, others, options), others);
  const near = scaled(distances, indices).topK(nInliers, { largest: false });
  const inliers = indices.takeAlongAxis(near.indices, { axis: 1 }).cast("i32") as Tensor;
  const own = arange(count, { device, dtype: "i32" }).expandDims(1) as Tensor;

  // Neither the sample nor neighbours up to the nearer one are farther.
  const known = concat([own, inliers], { axis: 1 }).expandDims(1);
  const isUpTo = arange(nInliers + 1, { device, dtype: "i32" }).lessEqual(
    arange(1, nInliers + 1, { device, dtype: "i32" }).expandDims(1),
  );
  const excluded = where(isUpTo, known, count).cast("i32").sort({ axis: 2 }) as Tensor;
  const outliers = drawnOutside(foldIn(from, 0), excluded, count, [count, nInliers, nOutliers]).reshape(
    count,
    -1,
  ) as Tensor;
  const all = [count, nInliers, nOutliers] as const;
  const repeated = (of: Tensor): Tensor => of.expandDims(2).broadcastTo(all).reshape(count, -1) as Tensor;
  const triplets = {
    nearer: repeated(inliers),
    farther: outliers,
    weights: far(outliers).sub(repeated(near.values as Tensor)) as Tensor,
  };
  if (nRandom === 0) return { ...triplets, weights: tempered(triplets.weights, weightTemp) };

  const first = drawnOutside(foldIn(from, 1), own, count, [count, nRandom]);
  const both = concat([own.broadcastTo([count, nRandom]).expandDims(2), first.expandDims(2)], { axis: 2 });
  const second = drawnOutside(foldIn(from, 2), both.sort({ axis: 2 }) as Tensor, count, [count, nRandom, 1]).squeeze(
    2,
  ) as Tensor;
  const [a, b] = [far(first), far(second)];
  const isInOrder = a.lessEqual(b);
  const random = {
    nearer: where(isInOrder, first, second),
    farther: where(isInOrder, second, first),
    weights: a.sub(b).abs().mul(RANDOM_SHARE),
  };
  const joined = (name: "nearer" | "farther" | "weights"): Tensor =>
    concat([triplets[name], random[name]], { axis: 1 }) as Tensor;
  return { nearer: joined("nearer"), farther: joined("farther"), weights: tempered(joined("weights"), weightTemp) };
}

/** Weights from 0 on, those that stand out tempered. */
const tempered = (weights: Tensor, t: number): Tensor => temperedLog(weights.sub(weights.min()).add(1) as Tensor, t);
