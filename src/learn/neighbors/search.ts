/**
 * The search that kinds of nearest neighbours share: the options that choose it, what a fit keeps for it, and its answers. A function of
 * tensors throughout.
 */
import { checkChoice, checkWhole } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import type { Tensor } from "../../tensor/index.js";
import { nearestOfAll } from "./brute-force.js";
import { type KdTree, kdTreeOf, nearestInTree } from "./kd-tree.js";
import { embedQueries, queriesOf } from "./metric.js";
import {
  checkOwnDistances,
  checkPairMetric,
  isNorm,
  PAIR_METRIC_KINDS,
  type PairMetricOptions,
  pairSpaceOf,
} from "./pair-metric.js";

/** Options that say how neighbours are searched. The answers are the same. */
export interface SearchOptions extends PairMetricOptions {
  /**
   * "brute" compares with all samples, "kdTree" with those in boxes that are near. "auto" unless told: the tree where there are many
   * samples of few features.
   */
  readonly algorithm?: "auto" | "brute" | "kdTree";
  /** Samples in a leaf of the tree, at most: 32 unless told. */
  readonly leafSize?: number;
}

/** The kinds of options of searches. */
export const SEARCH_KINDS = { ...PAIR_METRIC_KINDS, algorithm: "text", leafSize: "number" } as const;

/** Samples as a fit keeps them for searches. */
export interface Searched {
  /** The samples of the fit, as the metric compares them. */
  readonly samples: Tensor;
  /** The tree of the samples; null where searches compare with all. */
  readonly tree: KdTree | null;
}

/** The nearest samples of queries. */
export interface Neighbors {
  /** Distances, the least first, [queries, k]. */
  readonly distances: Tensor;
  /** Places among the samples of the fit, i32 [queries, k]; of samples equally near, the first comes first. */
  readonly indices: Tensor;
}

/** From so many samples on, and up to so many features, a tree is faster. */
const TREE_SAMPLES = 1 << 14;
const TREE_FEATURES = 6;

/** Throws on options that make no search. */
export function checkSearch(kind: string, options: SearchOptions): void {
  checkPairMetric(kind, options);
  checkChoice(kind, "algorithm", options.algorithm, ["auto", "brute", "kdTree"]);
  if (options.algorithm === "kdTree" && !isNorm(options)) {
    throw new ArgumentError(
      `${kind}: the algorithm "kdTree" bounds norms of differences, and the metric ${shown(options.metric)} is none; take "brute".`,
    );
  }
  if (options.leafSize !== undefined) checkWhole(kind, "leafSize", options.leafSize, 1);
}

/** Samples made ready for searches. */
export function searched(operation: string, x: Tensor, options: SearchOptions): Searched {
  const { algorithm = "auto", leafSize = 32 } = options;
  checkOwnDistances(operation, x, options);
  const samples = pairSpaceOf(options).embed(x);
  const [count, features] = samples.shape as [number, number];
  const isForTree =
    algorithm === "auto"
      ? isNorm(options) && count >= TREE_SAMPLES && features <= TREE_FEATURES
      : algorithm === "kdTree";
  return { samples, tree: isForTree ? kdTreeOf(samples, leafSize) : null };
}

/** Throws unless a number of neighbours can be found among so many samples. `isSelf`: a sample is not its own neighbour. */
export function checkNeighborCount(operation: string, k: number, count: number, isSelf: boolean): void {
  const most = count - (isSelf ? 1 : 0);
  if (Number.isSafeInteger(k) && k >= 1 && k <= most) return;
  throw new ArgumentError(
    `${operation}: nNeighbors is ${shown(k)}; it is a whole number from 1 to ${most}, the number of ` +
      `${isSelf ? "other samples" : "samples"} to choose from.`,
  );
}

/** The k nearest samples of each query; of each sample, without itself, where queries are null. */
export function neighborsOf(
  operation: string,
  { samples, tree }: Searched,
  queries: Tensor | null,
  k: number,
  options: SearchOptions,
): Neighbors {
  checkNeighborCount(operation, k, samples.shape[0] as number, queries === null);
  const space = pairSpaceOf(options);
  const embedded = queries ? embedQueries(queries.cast(samples.dtype) as Tensor, space) : queriesOf(samples, space);
  const { reduced, indices } = tree
    ? nearestInTree(tree, embedded, k, space, queries === null)
    : nearestOfAll(samples, embedded, k, space, queries === null);
  return { distances: space.distances(reduced), indices };
}
