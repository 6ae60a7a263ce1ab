/**
 * Samples and the centres nearest to them: places, sums by cluster, inertia. All k-means (k-means.ts, mini-batch.ts,
 * bisecting-k-means.ts) compute by these.
 *
 * Centres are compared by |c|² − 2 x·c, one product of matrices whose least is taken in the same kernel. This loses digits of means far from
 * zero, so callers take a common offset away first.
 */
import { type Tensor, zeros } from "../../tensor/index.js";
import { inBands } from "../neighbors/brute-force.js";

/** Products of samples and centres that may be in memory at a time. */
const BAND = 1 << 26;

/** The place of the nearest centre of each sample, [samples], i32; of equals, the first. */
export function nearestCenters(x: Tensor, centers: Tensor): Tensor {
  const squares = centers.square().sum({ axis: 1 });
  const most = Math.max(1, Math.floor(BAND / (centers.shape[0] as number)));
  return inBands(x, most, (band) => ({
    places: squares.sub(band.matmul(centers.T).mul(2)).argmin({ axis: 1 }).cast("i32") as Tensor,
  })).places;
}

/** Nearest centres of samples whose means are as they may be: the centres' mean is the offset. */
export function nearestOfFar(x: Tensor, centers: Tensor): Tensor {
  const offset = centers.mean({ axis: 0 });
  return nearestCenters(x.sub(offset) as Tensor, centers.sub(offset) as Tensor);
}

/** Squared distances of samples to the centres at these places, by differences, [samples]. */
export const squaresTo = (x: Tensor, centers: Tensor, places: Tensor): Tensor =>
  x
    .sub(centers.take(places, { axis: 0 }))
    .square()
    .sum({ axis: 1 }) as Tensor;

/** The sum of squared distances of samples to their centres, each counted by its weight. */
export function inertiaOf(x: Tensor, weights: Tensor | null, centers: Tensor, places: Tensor): Tensor {
  const squares = squaresTo(x, centers, places);
  return (weights ? squares.mul(weights) : squares).sum() as Tensor;
}

/** Sums of the samples of each cluster, [clusters, features], and the weight of each cluster, [clusters]. */
export interface Totals {
  readonly sums: Tensor;
  readonly counts: Tensor;
}

/** @see Totals */
export function totalsOf(x: Tensor, weights: Tensor | null, places: Tensor, clusters: number): Totals {
  const { device, dtype } = x;
  const features = x.shape[1] as number;
  const weighed = weights ? x.mul(weights.expandDims(1)) : x;
  return {
    sums: zeros([clusters, features], { device, dtype }).addAt(places, weighed) as Tensor,
    counts: zeros([clusters], { device, dtype }).addAt(places, weights ?? 1) as Tensor,
  };
}
