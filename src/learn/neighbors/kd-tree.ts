/**
 * A k-d tree (Bentley 1975) as tensors, so that building and asking it trace and run on the device. It is balanced: each level sorts the
 * samples of its nodes along the axis on which they spread most, and cuts at the median. So all leaves hold the same number of samples, and
 * a level is one sort of a matrix.
 *
 * Asking is exact. Distances to the boxes of all leaves come first; then rounds look into the nearest boxes that are left, until none
 * is as near as the last neighbour found. That pays where there are few features; with many, all boxes are near (brute-force.ts).
 */
import { concat, full, type Tensor } from "../../tensor/index.js";
import { whileLoop } from "../../transforms/control.js";
import { inBands, type Nearest } from "./brute-force.js";
import { nearestOf, placesOf, withoutRows } from "./candidates.js";
import { evenly } from "./even-parts.js";
import { normOf, type Space } from "./metric.js";

/** The leaves of a tree. */
export interface KdTree {
  /** The samples of each leaf, in the order of their places, [leaves, size, features]. */
  readonly points: Tensor;
  /** Their places among all samples, i32 [leaves, size]; -1 for a copy, which fills a leaf. */
  readonly places: Tensor;
  /** The least and largest values of each leaf's samples, [leaves, features]. */
  readonly lows: Tensor;
  readonly highs: Tensor;
  readonly [name: string]: Tensor;
}

/** Leaves that a round looks into. */
const LEAVES = 8;
/** Distances in memory at a time. */
const BAND = 1 << 22;

/** The tree of samples, which are embedded (metric.ts); leaves hold about `leafSize` of them, at most. */
export function kdTreeOf(samples: Tensor, leafSize: number): KdTree {
  const [count, features] = samples.shape as [number, number];
  const { device } = samples;
  const { levels, sources, places } = evenly(count, leafSize, device);
  const filled = samples.take(sources, { axis: 0 });
  let order = placesOf(sources).expandDims(0) as Tensor;
  for (let level = 0; level < levels; level++) {
    const points = filled.take(order, { axis: 0 });
    const widest = points
      .max({ axis: 1 })
      .sub(points.min({ axis: 1 }))
      .argmax({ axis: 1 });
    const [nodes, length] = order.shape as [number, number];
    const along = filled.flatten().take(order.mul(features).add(widest.expandDims(1)));
    order = order.takeAlongAxis(along.argsort({ axis: 1 }), { axis: 1 }).reshape(2 * nodes, length / 2) as Tensor;
  }
  order = order.sort({ axis: 1 }) as Tensor;
  const points = filled.take(order, { axis: 0 }) as Tensor;
  return {
    points,
    places: places.take(order) as Tensor,
    lows: points.min({ axis: 1 }) as Tensor,
    highs: points.max({ axis: 1 }) as Tensor,
  };
}

/** What rounds hand on: distances to leaves that are left, and the neighbours so far. */
interface Round {
  readonly bounds: Tensor;
  readonly reduced: Tensor;
  readonly indices: Tensor;
}

/** The k nearest samples of each query, as `nearestOfAll` gives them. `isSelf`: query i is sample i, and not its own neighbour. */
export function nearestInTree(tree: KdTree, queries: Tensor, k: number, space: Space, isSelf = false): Nearest {
  const [leaves, size, features] = tree.points.shape as [number, number, number];
  const perQuery = leaves + Math.min(leaves, LEAVES) * size * features;
  return inBands(queries, Math.max(1, Math.floor(BAND / perQuery)), (band, rows) =>
    searchBand(tree, band, isSelf ? rows : null, k, space),
  );
}

function searchBand(tree: KdTree, band: Tensor, self: Tensor | null, k: number, space: Space): Nearest {
  const { places, lows, highs } = tree;
  const { device, dtype } = band;
  const queries = band.shape[0] as number;
  const [leaves, size, features] = tree.points.shape as [number, number, number];
  const each = Math.min(leaves, LEAVES);
  const query = band.expandDims(1) as Tensor;
  const gaps = lows.sub(query).maximum(query.sub(highs)).maximum(0) as Tensor;
  // Sums may round up, and then a box would seem farther than a sample in it.
  const slack = 1 - (features + 4) * (dtype === "f64" ? 2 ** -52 : 2 ** -23);
  const init: Round = {
    bounds: normOf(gaps, space).mul(slack) as Tensor,
    reduced: full([queries, k], Number.POSITIVE_INFINITY, { device, dtype }) as Tensor,
    indices: full([queries, k], -1, { device, dtype: "i32" }) as Tensor,
  };
  const round = ({ bounds, reduced, indices }: Round): Round => {
    const chosen = bounds.topK(each, { largest: false }).indices;
    const inside = places.take(chosen, { axis: 0 }).reshape(queries, each * size);
    const points = tree.points.take(chosen, { axis: 0 }).reshape(queries, each * size, features);
    const found = withoutRows(inside as Tensor, self);
    const distances = normOf(query.sub(points) as Tensor, space);
    return {
      bounds: bounds.putAlongAxis(chosen, Number.POSITIVE_INFINITY, { axis: 1 }) as Tensor,
      ...nearestOf(
        concat([reduced, distances], { axis: 1 }) as Tensor,
        concat([indices, found], { axis: 1 }) as Tensor,
        k,
      ),
    };
  };
  const goesOn = ({ bounds, reduced }: Round): Tensor => {
    const nearest = bounds.min({ axis: 1 });
    const last = reduced.at(":", k - 1);
    return nearest.lessEqual(last).logicalAnd(nearest.isFinite()).any() as Tensor;
  };
  const { reduced, indices } = whileLoop(goesOn, round, init);
  return { reduced, indices };
}
