/**
 * A forest of random-projection trees (Dasgupta & Freund 2008): each tree cuts the samples at the median of their places along random
 * directions, one for each level. Samples that are near mostly end in one leaf, of some tree at least. So the nearest of those who share a
 * leaf with a query are nearly always its neighbours. The trees are balanced: a level is one sort of a matrix for all of them.
 */
import { checkWhole } from "../../core/arguments.js";
import { key, normal } from "../../random/index.js";
import { concat, stack, type Tensor } from "../../tensor/index.js";
import { estimator } from "../core/estimator.js";
import { noTargets } from "../core/sorts.js";
import { inBands, type Nearest } from "./brute-force.js";
import { nearestAmong, placesOf, withoutRows } from "./candidates.js";
import { evenly } from "./even-parts.js";
import {
  checkMetric,
  embedQueries,
  METRIC_KINDS,
  type MetricOptions,
  queriesOf,
  type Space,
  spaceOf,
} from "./metric.js";
import { kNeighborsMethods } from "./neighbor-methods.js";
import { checkNeighborCount, type Neighbors } from "./search.js";

/** Options of a forest. */
export interface ForestOptions extends MetricOptions {
  /** Trees: 8 unless told. More find more of the neighbours. */
  readonly nTrees?: number;
  /** Samples in a leaf, at most: 32 unless told. More find more of the neighbours. */
  readonly leafSize?: number;
  /** Says which directions are drawn: 0 unless told. */
  readonly seed?: number;
}

/** Options of `randomProjectionForest`. */
export interface RandomProjectionForestOptions extends ForestOptions {
  /** How many neighbours `kNeighbors` gives: 5 unless told. */
  readonly nNeighbors?: number;
}

/** The trees of a forest. */
export interface Forest {
  /** Directions, [trees, levels, features]. */
  readonly directions: Tensor;
  /** Where each node cuts along its level's direction; node n has the children 2n + 1 and 2n + 2; [trees, nodes]. */
  readonly cuts: Tensor;
  /** The samples of each leaf, i32 [trees, leaves, size]; -1 fills a leaf up. */
  readonly leaves: Tensor;
  readonly [name: string]: Tensor;
}

/** What `randomProjectionForest` learns. */
export interface RandomProjectionForestLearned extends Forest {
  /** The samples of the fit, as the metric compares them. */
  readonly samples: Tensor;
}

export const FOREST_KINDS = { ...METRIC_KINDS, nTrees: "number", leafSize: "number", seed: "number" } as const;

/** Elements of candidates in memory at a time. */
const BAND = 1 << 22;

/** Throws on options that make no forest. */
export function checkForest(kind: string, options: ForestOptions): void {
  checkMetric(kind, options);
  checkWhole(kind, "nTrees", options.nTrees ?? 8, 1);
  checkWhole(kind, "leafSize", options.leafSize ?? 32, 1);
}

/** The forest of samples, which are embedded (metric.ts). */
export function forestOf(samples: Tensor, { nTrees = 8, leafSize = 32, seed = 0 }: ForestOptions): Forest {
  const [count, features] = samples.shape as [number, number];
  const { device, dtype } = samples;
  const { levels, sources, places } = evenly(count, leafSize, device);
  const total = sources.size;
  const drawn = normal(key(seed, { device }), [nTrees, Math.max(1, levels), features], { dtype: dtype as "f32" });
  const directions = drawn as Tensor;
  let order = placesOf(sources).broadcastTo([nTrees, 1, total]) as Tensor;
  const cuts: Tensor[] = [];
  for (let level = 0; level < levels; level++) {
    const direction = directions.at(":", level) as Tensor;
    const along = samples.matmul(direction.T).T.take(sources, { axis: 1 }) as Tensor;
    const [, nodes, length] = order.shape as [number, number, number];
    const values = along.takeAlongAxis(order.reshape(nTrees, total), { axis: 1 }).reshape(nTrees, nodes, length);
    const ranks = values.argsort({ axis: 2 });
    const sorted = values.takeAlongAxis(ranks, { axis: 2 });
    const middle = length / 2;
    cuts.push(
      sorted
        .at(":", ":", middle - 1)
        .add(sorted.at(":", ":", middle))
        .div(2) as Tensor,
    );
    order = order.takeAlongAxis(ranks, { axis: 2 }).reshape(nTrees, 2 * nodes, middle) as Tensor;
  }
  const none = directions.at(":", 0, ":1").mul(0) as Tensor;
  return {
    directions,
    cuts: levels === 0 ? none : (concat(cuts, { axis: 1 }) as Tensor),
    leaves: places.take(order) as Tensor,
  };
}

/** The leaf of each tree that queries end in, i32 [queries, trees]. */
function leavesOf({ directions, cuts, leaves }: Forest, queries: Tensor): Tensor {
  const [trees, count] = leaves.shape as [number, number];
  const levels = Math.log2(count);
  const each = Array.from({ length: trees }, (_, tree) => {
    let node = queries.at(":", 0).mul(0).cast("i32") as Tensor;
    for (let level = 0; level < levels; level++) {
      const along = queries.matmul(directions.at(tree, level) as Tensor);
      const cut = cuts.at(tree).take(node);
      node = node.mul(2).add(1).add(along.greater(cut).cast("i32")) as Tensor;
    }
    return node.sub(count - 1) as Tensor;
  });
  return stack(each, { axis: 1 }) as Tensor;
}

/** The k nearest samples of queries among those who share a leaf with them. `isSelf`: query i is sample i, and not its own neighbour. */
export function nearestInForest(
  forest: Forest,
  samples: Tensor,
  queries: Tensor,
  k: number,
  space: Space,
  isSelf = false,
): Nearest {
  const [trees, leaves, size] = forest.leaves.shape as [number, number, number];
  const flat = forest.leaves.reshape(trees * leaves, size) as Tensor;
  const first = placesOf(forest.leaves).mul(leaves);
  const perQuery = trees * size * (samples.shape[1] as number);
  return inBands(queries, Math.max(1, Math.floor(BAND / perQuery)), (band, rows) => {
    const found = leavesOf(forest, band).add(first);
    const candidates = flat.take(found, { axis: 0 }).reshape(-1, trees * size) as Tensor;
    return nearestAmong(samples, band, withoutRows(candidates, isSelf ? rows : null), k, space);
  });
}

/** The search of models of a forest. */
function searchForest(
  operation: string,
  learned: RandomProjectionForestLearned,
  queries: Tensor | null,
  k: number,
  options: RandomProjectionForestOptions,
): Neighbors {
  const { samples, leaves } = learned;
  const [trees, , size] = leaves.shape as [number, number, number];
  checkNeighborCount(operation, k, Math.min(trees * size, samples.shape[0] as number), queries === null);
  const space = spaceOf(options);
  const embedded = queries ? embedQueries(queries.cast(samples.dtype) as Tensor, space) : queriesOf(samples, space);
  const { reduced, indices } = nearestInForest(learned, samples, embedded, k, space, queries === null);
  return { distances: space.distances(reduced), indices };
}

const methods = kNeighborsMethods<RandomProjectionForestLearned, RandomProjectionForestOptions>(searchForest);

/**
 * Searches of the nearest samples by a forest of random-projection trees: quick with many features, and nearly always right. Where fewer
 * samples than wanted share a leaf with a query, the rest is -1 at an infinite distance.
 */
export const randomProjectionForest = estimator({
  kind: "randomProjectionForest",
  options: { nNeighbors: "number", ...FOREST_KINDS },
  takesWeights: false,
  targets: noTargets,
  check(options: RandomProjectionForestOptions) {
    checkForest("randomProjectionForest", options);
    checkWhole("randomProjectionForest", "nNeighbors", options.nNeighbors ?? 5, 1);
  },
  learn({ x }, options): RandomProjectionForestLearned {
    const samples = spaceOf(options).embed(x);
    return { samples, ...forestOf(samples, options) };
  },
  methods,
});
