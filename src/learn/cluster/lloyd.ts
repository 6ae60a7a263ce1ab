/**
 * Rounds of k-means (Lloyd 1982): every sample goes to its nearest centre, every centre to the mean of its samples, until no sample changes
 * its cluster or centres hardly move. The rounds are one loop on the device.
 */
import { arange, full, type Tensor, where } from "../../tensor/index.js";
import { cond, whileLoop } from "../../transforms/control.js";
import { inertiaOf, nearestCenters, squaresTo, type Totals, totalsOf } from "./centers.js";

/** The end of a run of rounds. */
export interface Clustering {
  /** [clusters, features]. */
  readonly centers: Tensor;
  /** The nearest of these centres, [samples], i32. */
  readonly labels: Tensor;
  readonly inertia: Tensor;
  /** Rounds that were run, i32. */
  readonly iterations: Tensor;
}

/** When rounds end: `tolerance` is the sum of the centres' squared moves. */
interface RoundLimits {
  readonly tolerance: Tensor;
  readonly maxIter: number;
}

/** Rounds from first centres. Samples have means near zero. */
export function lloyd(x: Tensor, weights: Tensor | null, first: Tensor, limits: RoundLimits): Clustering {
  const { device } = x;
  const samples = x.shape[0] as number;
  const end = whileLoop(
    ({ goesOn, count }) => goesOn.logicalAnd(count.less(limits.maxIter)) as Tensor,
    ({ centers, labels, count }) => {
      const nearest = nearestCenters(x, centers);
      const next = movedCenters(x, weights, centers, nearest);
      const isStill = next.sub(centers).square().sum().lessEqual(limits.tolerance);
      return {
        centers: next,
        labels: nearest,
        count: count.add(1) as Tensor,
        goesOn: nearest.equal(labels).all().logicalOr(isStill).logicalNot() as Tensor,
      };
    },
    {
      centers: first,
      labels: full([samples], -1, { device, dtype: "i32" }) as Tensor,
      count: full([], 0, { device, dtype: "i32" }) as Tensor,
      goesOn: full([], true, { device, dtype: "bool" }) as Tensor,
    },
  );
  const labels = nearestCenters(x, end.centers);
  return {
    centers: end.centers,
    labels,
    inertia: inertiaOf(x, weights, end.centers, labels),
    iterations: end.count,
  };
}

/** Means of clusters. One that has lost its samples gets a sample of another. */
function movedCenters(x: Tensor, weights: Tensor | null, centers: Tensor, nearest: Tensor): Tensor {
  const totals = totalsOf(x, weights, nearest, centers.shape[0] as number);
  const { sums, counts } = cond(
    totals.counts.equal(0).any() as Tensor,
    (given: Totals) => withoutEmpty(x, weights, centers, nearest, given),
    (given: Totals) => given,
    totals,
  );
  const isEmpty = counts.equal(0);
  const means = sums.div(where(isEmpty, 1, counts).expandDims(1)) as Tensor;
  // All samples lie on their centres: there is nothing to give, and the cluster waits at the heaviest one.
  const heaviest = means.take(counts.argmax(), { axis: 0 });
  return where(isEmpty.expandDims(1), heaviest, means) as Tensor;
}

/** The farthest samples leave their clusters, one for each empty cluster, in order. */
function withoutEmpty(x: Tensor, weights: Tensor | null, centers: Tensor, nearest: Tensor, totals: Totals): Totals {
  const { sums, counts } = totals;
  const clusters = centers.shape[0] as number;
  const { values, indices } = squaresTo(x, centers, nearest).topK(clusters);
  const isEmpty = counts.equal(0);
  const isWanted = arange(clusters, { device: x.device, dtype: "i32" }).less(isEmpty.cast("i32").sum());
  const isMoving = isWanted.logicalAnd(values.at(0).greater(0));
  const shares = where(isMoving, weights ? weights.take(indices) : 1, 0).cast(x.dtype) as Tensor;
  const moved = x.take(indices, { axis: 0 }).mul(shares.expandDims(1)) as Tensor;
  // Empty clusters first, in their order; the places beyond their number move nothing.
  const to = isEmpty.logicalNot().cast("i32").argsort() as Tensor;
  const from = nearest.take(indices) as Tensor;
  return {
    sums: sums.addAt(from, moved.neg()).addAt(to, moved) as Tensor,
    counts: counts.addAt(from, shares.neg()).addAt(to, shares) as Tensor,
  };
}
