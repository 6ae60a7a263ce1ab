/**
 * Graphs of nearest neighbours, nearly exact, without comparing all pairs. A forest gives the first guess; then rounds look among the
 * neighbours of neighbours, since who is near my neighbour is likely near me (NN-descent; Dong, Moses & Li 2011). LargeVis (Tang, Liu,
 * Zhang & Mei 2016) makes symmetric probabilities of such a graph, from which embeddings are drawn.
 *
 * Functions of tensors: they go through `jit`.
 */
import { checkOptions, checkWhole } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { concat, full, type Tensor, where } from "../../tensor/index.js";
import { whileLoop } from "../../transforms/control.js";
import { numberSamples, type Placing, type Samples } from "../core/samples.js";
import { inBands, type Nearest } from "./brute-force.js";
import { nearestAmong, placesOf, withoutRows } from "./candidates.js";
import { type Space, spaceOf } from "./metric.js";
import { conditionalOf, symmetric } from "./perplexity.js";
import { checkForest, FOREST_KINDS, type ForestOptions, forestOf, nearestInForest } from "./projection-forest.js";
import { checkNeighborCount, type Neighbors } from "./search.js";

/** Options of `nnDescent`. */
export interface NnDescentOptions extends ForestOptions, Placing {
  /** Neighbours of each sample: 10 unless told. */
  readonly nNeighbors?: number;
  /** Rounds at most: 8 unless told. */
  readonly maxIter?: number;
  /** Rounds end when a smaller share of all neighbours changes in one: 0.001 unless told. */
  readonly tol?: number;
}

/** Options of `largeVis`. */
export interface LargeVisOptions extends NnDescentOptions {
  /** How many neighbours count in effect, at most `nNeighbors`: a third of them unless told, at least 1. */
  readonly perplexity?: number;
}

/** A graph of neighbours with symmetric probabilities. */
export interface LargeVisGraph extends Neighbors {
  /** The probability that a sample chooses its neighbour, given the sample, [samples, nNeighbors]. */
  readonly conditional: Tensor;
  /** The symmetric probability of each pair: the mean of both directions over the number of samples, [samples, nNeighbors]. */
  readonly weights: Tensor;
}

const KINDS = {
  ...FOREST_KINDS,
  nNeighbors: "number",
  maxIter: "number",
  tol: "number",
  device: "text",
  dtype: "dtype",
} as const;

/** Elements of candidates in memory at a time. */
const BAND = 1 << 22;

/** The nearest neighbours of each sample among all others, nearly always: by a forest, and then neighbours of neighbours. */
export function nnDescent(samples: Samples, options: NnDescentOptions = {}): Neighbors {
  checkOptions("nnDescent", options, KINDS);
  return descended("nnDescent", samples, options);
}

function descended(operation: string, given: Samples, options: NnDescentOptions): Neighbors {
  checkForest(operation, options);
  const { nNeighbors: k = 10, maxIter = 8, tol = 0.001 } = options;
  checkWhole(operation, "maxIter", maxIter, 0);
  const space = spaceOf(options);
  const samples = space.embed(numberSamples.read(operation, given, options, options).matrix);
  checkNeighborCount(operation, k, samples.shape[0] as number, true);
  const most = tol * k * (samples.shape[0] as number);
  const leafSize = Math.max(options.leafSize ?? 32, k + 1);
  const first = nearestInForest(forestOf(samples, { ...options, leafSize }), samples, samples, k, space, true);
  const goesOn = ({ round, changed }: Progress): Tensor =>
    round.less(maxIter).logicalAnd(changed.greater(most)) as Tensor;
  const step = ({ graph, round }: Progress): Progress => {
    const next = explored(samples, graph, k, space);
    const isNew = next.indices.expandDims(2).notEqual(graph.indices.expandDims(1)).all({ axis: 2 });
    return { graph: next, round: round.add(1) as Tensor, changed: isNew.cast("i32").sum().cast("f32") as Tensor };
  };
  const { device } = samples;
  const zero = full([], 0, { device, dtype: "i32" }) as Tensor;
  const all = full([], Number.MAX_SAFE_INTEGER, { device, dtype: "f32" }) as Tensor;
  const { graph } = whileLoop(goesOn, step, { graph: first, round: zero, changed: all });
  return { distances: space.distances(graph.reduced), indices: graph.indices };
}

interface Progress {
  readonly graph: Nearest;
  readonly round: Tensor;
  readonly changed: Tensor;
}

/** The k nearest among a sample's neighbours, those who have it as a neighbour, and the neighbours of both. */
function explored(samples: Tensor, { indices }: Nearest, k: number, space: Space): Nearest {
  const [count, features] = samples.shape as [number, number];
  const known = concat([indices, followersOf(indices)], { axis: 1 }) as Tensor;
  const width = 2 * k;
  return inBands(samples, Math.max(1, Math.floor(BAND / ((k + 1) * width * features))), (band, rows) => {
    const own = known.take(rows, { axis: 0 }) as Tensor;
    const beyond = indices.take(own.maximum(0), { axis: 0 });
    const theirs = where(own.expandDims(2).less(0), -1, beyond).reshape(-1, width * k);
    const candidates = withoutRows(concat([own, theirs], { axis: 1 }) as Tensor, rows);
    return nearestAmong(samples, band, candidates.minimum(count - 1) as Tensor, k, space);
  });
}

/** For each sample, up to k of those who have it as a neighbour, -1 for none: the first of them, with the nearest first. */
function followersOf(indices: Tensor): Tensor {
  const [count, k] = indices.shape as [number, number];
  const { device } = indices;
  // Column by column, so that those for whom it is the nearest come first.
  const followed = indices.T.flatten() as Tensor;
  const targets = where(followed.less(0), count, followed) as Tensor;
  const order = targets.argsort();
  const sorted = targets.take(order) as Tensor;
  const starts = sorted.searchSorted(placesOf(indices)) as Tensor;
  const places = starts.expandDims(1).add(placesOf(full([k], 0, { device, dtype: "i32" })));
  const inside = places.minimum(count * k - 1);
  const isOwn = sorted
    .take(inside)
    .equal(placesOf(indices).expandDims(1))
    .logicalAnd(places.less(count * k));
  return where(isOwn, order.take(inside).remainder(count), -1).cast("i32") as Tensor;
}

/**
 * The graph of LargeVis: neighbours of each sample, and how likely the two of a pair choose each other. Each sample's probabilities
 * fall with the square of the distance, as far as its perplexity says.
 */
export function largeVis(samples: Samples, options: LargeVisOptions = {}): LargeVisGraph {
  checkOptions("largeVis", options, { ...KINDS, perplexity: "number" });
  const { nNeighbors = 10, perplexity = Math.max(1, nNeighbors / 3), ...rest } = options;
  if (!(perplexity >= 1 && perplexity <= nNeighbors)) {
    throw new ArgumentError(
      `largeVis: perplexity is ${shown(perplexity)}; it is a number from 1 to nNeighbors, ${nNeighbors}.`,
    );
  }
  const { distances, indices } = descended("largeVis", samples, { ...rest, nNeighbors });
  const conditional = conditionalOf(distances, perplexity);
  const count = indices.shape[0] as number;
  return { distances, indices, conditional, weights: symmetric(conditional, indices).div(2 * count) as Tensor };
}
