/**
 * Centres that see their samples batch by batch (Sculley 2010): each centre is the mean of all samples that ever were its own. A centre with
 * few of them lies between clusters, so it is given a sample of the batch from time to time.
 */
import { choice, type Key } from "../../random/index.js";
import { full, type Tensor, where } from "../../tensor/index.js";
import { cond } from "../../transforms/control.js";
import { nearestOfFar, squaresTo, totalsOf } from "./centers.js";

/** Centres and what they have seen. */
export interface Seen {
  /** [clusters, features]. */
  readonly centers: Tensor;
  /** The weight of all samples that a centre is the mean of, [clusters]. */
  readonly counts: Tensor;
  /** Samples since centres were last looked through for small ones, i32. */
  readonly sinceReassignment: Tensor;
}

/** First centres, which have seen nothing: the first samples of their own take them away. */
export function unseen(centers: Tensor): Seen {
  const { device, dtype } = centers;
  const clusters = centers.shape[0] as number;
  return {
    centers,
    counts: full([clusters], 0, { device, dtype }) as Tensor,
    sinceReassignment: full([], 0, { device, dtype: "i32" }) as Tensor,
  };
}

type Means = Pick<Seen, "centers" | "counts">;

/**
 * Centres that have also seen a batch, and the batch's inertia about those before. Centres whose counts are less than `ratio` of the largest
 * get samples of the batch where one had none, or after ten samples for each cluster.
 */
export function afterBatch(
  x: Tensor,
  weights: Tensor | null,
  { centers, counts, sinceReassignment }: Seen,
  { key, ratio }: { readonly key: Key; readonly ratio: number },
): { readonly seen: Seen; readonly inertia: Tensor } {
  const rows = x.shape[0] as number;
  const clusters = centers.shape[0] as number;
  const places = nearestOfFar(x, centers);
  const squares = squaresTo(x, centers, places);
  // Sums of differences: sums of samples would lose the digits of distant means.
  const apart = x.sub(centers.take(places, { axis: 0 })) as Tensor;
  const own = totalsOf(apart, weights, places, clusters);
  const total = counts.add(own.counts) as Tensor;
  const means: Means = {
    centers: centers.add(own.sums.div(where(total.equal(0), 1, total).expandDims(1))) as Tensor,
    counts: total,
  };
  const since = sinceReassignment.add(rows);
  const isDue = counts
    .equal(0)
    .any()
    .logicalOr(since.greaterEqual(10 * clusters)) as Tensor;
  return {
    seen: {
      ...reassigned(x, weights, means, isDue, { key, ratio }),
      sinceReassignment: where(isDue, 0, since) as Tensor,
    },
    inertia: (weights ? squares.mul(weights) : squares).sum() as Tensor,
  };
}

/** Means with samples of the batch, half of them at most, in the place of those with the smallest counts. */
function reassigned(
  x: Tensor,
  weights: Tensor | null,
  means: Means,
  isDue: Tensor,
  { key, ratio }: { readonly key: Key; readonly ratio: number },
): Means {
  const [rows, clusters] = [x.shape[0], means.counts.shape[0]] as [number, number];
  const most = Math.min(clusters, Math.floor(rows / 2));
  if (ratio === 0 || most === 0) return means;
  const ranks = means.counts.argsort().argsort();
  const isSmall = means.counts.less(means.counts.max().mul(ratio)).logicalAnd(ranks.less(most)) as Tensor;
  return cond(
    isDue.logicalAnd(isSmall.any()) as Tensor,
    ({ centers, counts }: Means): Means => {
      const drawn = choice(key, rows, { shape: [most], replace: false, p: weights ?? undefined });
      const order = isSmall.cast("i32").cumsum({ axis: 0 }).sub(1).maximum(0) as Tensor;
      const samples = x.take(drawn.take(order as Tensor<"i32">), { axis: 0 });
      // A count that is not the least lets a centre stay for a while.
      const least = where(isSmall, Number.POSITIVE_INFINITY, counts).min();
      return {
        centers: where(isSmall.expandDims(1), samples, centers) as Tensor,
        counts: where(isSmall, least, counts) as Tensor,
      };
    },
    (given: Means): Means => given,
    means,
  );
}
