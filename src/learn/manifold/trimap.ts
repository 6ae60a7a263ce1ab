/**
 * TriMap (Amid & Warmuth 2019): places of samples in few dimensions by triplets (triplets.ts), which keep the whole better than pairs of
 * neighbours do. Rounds of descent go down the loss of the triplets, from principal components on.
 */
import { checkWhole } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { key } from "../../random/index.js";
import { concat, stack, type Tensor, where } from "../../tensor/index.js";
import { forLoop } from "../../transforms/control.js";
import { map } from "../../transforms/tree.js";
import { checkDistances, DISTANCE_KINDS, type DistanceOptions } from "../cluster/distances.js";
import { type Data, estimator, type FitProgress } from "../core/estimator.js";
import { checkAmount, checkPositive } from "../core/settings.js";
import { noTargets } from "../core/sorts.js";
import { columnsOf, squaresOf } from "./columns.js";
import { endRows, sumOfEdges } from "./edge-rows.js";
import { checkComponents, checkInit, drawnPlaces, givenPlaces, type Places, principalPlaces } from "./first-places.js";
import { atRest, type Descent, type Step, stepped } from "./gained-descent.js";
import { type Triplets, tripletsOf } from "./triplets.js";

/** Options of `triMap`. */
export interface TriMapOptions extends DistanceOptions {
  /** The columns of the embedding: 2 unless told. */
  readonly nComponents?: number;
  /** Neighbours that are to lie nearer, fewer than the other samples: 12 unless told. */
  readonly nInliers?: number;
  /** Samples that are to lie farther, for each of those: 4 unless told. */
  readonly nOutliers?: number;
  /** Triplets of each sample that are drawn altogether: 3 unless told. */
  readonly nRandom?: number;
  /** How much large weights of triplets are tempered, from 0 (not at all) on; 1 is the logarithm. 0.5 unless told. */
  readonly weightTemp?: number;
  /** The length of steps: 0.1 unless told. */
  readonly learningRate?: number;
  /** Rounds: 400 unless told. */
  readonly maxIter?: number;
  /**
   * First places: along principal components ("pca", unless told), drawn ("random", unless told where samples are distances), or
   * these, [samples, nComponents].
   */
  readonly init?: "pca" | "random" | Places;
  /** Decides the random numbers: 0 unless told. */
  readonly seed?: number;
}

/** What `triMap` learns. */
export interface TriMapLearned {
  /** The place of each sample, [samples, nComponents]. */
  readonly embedding: Tensor;
  /** The mean over triplets of their weights times d / (d + e), where d and e are one more than the squared distances to the two. */
  readonly loss: Tensor;
  readonly [name: string]: Tensor;
}

/** Rounds in one piece, and with the first momentum. */
const PIECE = 50;
const EARLY = 250;
/** The spread of first places: of principal components, whose samples reach from 0 to 1, and of drawn ones. */
const PCA_SPREAD = 0.01;
const DRAWN_SPREAD = 1e-4;

interface Slope {
  readonly loss: Tensor;
  /** The gradient of the sum of the losses, [components, samples]. */
  readonly gradient: Tensor;
}

/** Triplets, and rows of those in which each sample is one of the other two. */
interface TripletGraph {
  readonly triplets: Triplets;
  /** The samples to which rows belong, i32 [rows]. */
  readonly owners: Tensor;
  /** The samples whose triplets they are, i32 [rows, width]. */
  readonly anchors: Tensor;
  /** The third ones. */
  readonly thirds: Tensor;
  /** Weights, below 0 where the owner is to lie nearer; 0 fills a row up. */
  readonly signed: Tensor;
  /** The rows of each sample. */
  readonly rowsOf: Tensor;
}

/** Triplets, ready for rounds. @internal for tests: the loss of given triplets */
export async function graphOfTriplets(triplets: Triplets): Promise<TripletGraph> {
  const { nearer, farther, weights } = triplets;
  const [count, each] = nearer.shape as [number, number];
  const both = (a: Tensor, b: Tensor): Tensor => concat([a.flatten(), b.flatten()]) as Tensor;
  const { owners, items, isItem, rowsOf } = await endRows(both(nearer, farther), count);
  return {
    triplets: map((tensor: Tensor) => tensor.realize() as Tensor, triplets) as Triplets,
    owners,
    anchors: items
      .remainder(count * each)
      .floorDivide(each)
      .cast("i32")
      .realize() as Tensor,
    thirds: both(farther, nearer).take(items).cast("i32").realize() as Tensor,
    signed: where(isItem, both(weights.neg() as Tensor, weights).take(items), 0).realize() as Tensor,
    rowsOf,
  };
}

/** Twice the weight of triplets times (1 + b) / (2 + a + b)², for squared distances a and b: the slope of d / (d + e) but for a difference. */
const steepness = (weights: Tensor, a: Tensor, b: Tensor): Tensor =>
  weights.mul(2).mul(b.add(1)).div(a.add(b).add(2).square()) as Tensor;

/** The loss of triplets at places, [components, samples], and its slope. @internal for tests: beside NumPy's */
export function lossAt(places: Tensor, { triplets, owners, anchors, thirds, signed, rowsOf }: TripletGraph): Slope {
  const { nearer, farther, weights } = triplets;
  const columns = columnsOf(places);
  const between = (from: (column: Tensor) => Tensor, others: Tensor): Tensor[] =>
    columns.map((column) => from(column).sub(column.take(others)) as Tensor);
  const own = (column: Tensor): Tensor => column.expandDims(1) as Tensor;
  const [inward, outward] = [between(own, nearer), between(own, farther)];
  const [d, e] = [squaresOf(inward), squaresOf(outward)];
  const [pull, push] = [steepness(weights, d, e), steepness(weights, e, d)];
  // What a sample feels as one of the other two is computed again there: cheaper than to keep it and fetch it.
  const anchored = (column: Tensor): Tensor => column.take(anchors) as Tensor;
  const fromOwner = between(anchored, owners.expandDims(1) as Tensor);
  const felt = steepness(signed, squaresOf(fromOwner), squaresOf(between(anchored, thirds)));
  const rows = columns.map((_, c) => {
    const [toward, away, back] = [inward[c], outward[c], fromOwner[c]] as [Tensor, Tensor, Tensor];
    const ofOwn = toward.mul(pull).sub(away.mul(push)).sum({ axis: 1 });
    return ofOwn.add(sumOfEdges({ rowsOf }, back.mul(felt) as Tensor)) as Tensor;
  });
  const loss = weights.mul(d.add(1)).div(d.add(e).add(2)).mean() as Tensor;
  return { loss, gradient: stack(rows) as Tensor };
}

/** First places, [samples, components]. */
function firstPlaces(operation: string, x: Tensor, options: TriMapOptions): Tensor {
  const { nComponents = 2, metric, seed = 0 } = options;
  const { init = metric === "precomputed" ? "random" : "pca" } = options;
  if (typeof init === "object") return givenPlaces(operation, init, x, nComponents);
  if (init === "random") return drawnPlaces(seed, x, nComponents).mul(DRAWN_SPREAD) as Tensor;
  checkComponents(operation, metric, "random");
  const range = x.max().sub(x.min());
  const places = principalPlaces(seed, x, nComponents);
  return places.div(where(range.greater(0), range, 1)).mul(PCA_SPREAD) as Tensor;
}

async function* learn({ x, signal }: Data, options: TriMapOptions): AsyncGenerator<FitProgress, TriMapLearned> {
  const operation = "triMap.fit";
  const { nInliers = 12, nOutliers = 4, nRandom = 3, weightTemp = 0.5, learningRate = 0.1, maxIter = 400 } = options;
  const { metric, p, seed = 0 } = options;
  const count = x.shape[0] as number;
  if (nInliers > count - 2) {
    throw new ArgumentError(
      `${operation}: nInliers is ${nInliers}; of ${count} samples it is ${Math.max(0, count - 2)} at most, so that one is farther.`,
    );
  }
  const wanted = { nInliers, nOutliers, nRandom, weightTemp, metric, p };
  const graph = await graphOfTriplets(tripletsOf(operation, x, wanted, key(seed, { device: x.device })));
  let state = atRest(firstPlaces(operation, x, options).T.realize() as Tensor);
  // The paper's rate is that of half of the gradient.
  const rate = learningRate / 2;
  let loss = lossAt(state.places, graph).loss;
  for (let step = 0; step < maxIter; ) {
    signal?.throwIfAborted();
    const end = Math.min(maxIter, step + PIECE);
    state = descended(state, graph, end - step, { momentum: step < EARLY ? 0.5 : 0.8, rate });
    step = end;
    loss = lossAt(state.places, graph).loss.realize() as Tensor;
    // Progress is told when it is made.
    await loss.item();
    yield { step, steps: maxIter };
  }
  return { embedding: state.places.T.realize() as Tensor, loss };
}

/** Rounds of descent. The slope is that of the place to which the momentum leads. */
function descended(start: Descent, graph: TripletGraph, rounds: number, step: Step): Descent {
  const end = forLoop(
    0,
    rounds,
    (_, state: Descent) => {
      const ahead = state.places.add(state.moves.mul(step.momentum)) as Tensor;
      return stepped(state, lossAt(ahead, graph).gradient, step);
    },
    start,
  );
  return map((each: Tensor) => each.realize() as Tensor, end) as Descent;
}

function check(options: TriMapOptions): void {
  const { nComponents = 2, nInliers = 12, nOutliers = 4, nRandom = 3, maxIter = 400 } = options;
  checkDistances("triMap", options);
  checkWhole("triMap", "nComponents", nComponents, 1);
  checkWhole("triMap", "nInliers", nInliers, 1);
  checkWhole("triMap", "nOutliers", nOutliers, 1);
  checkWhole("triMap", "nRandom", nRandom, 0);
  checkWhole("triMap", "maxIter", maxIter, 0);
  checkAmount("triMap", "weightTemp", options.weightTemp ?? 0.5);
  checkPositive("triMap", "learningRate", options.learningRate ?? 0.1);
  checkInit("triMap", options.init ?? "pca", ["pca", "random"]);
}

/** Places in few dimensions that keep the order of distances in triplets, near and far. */
export const triMap = estimator({
  kind: "triMap",
  options: {
    nComponents: "number",
    nInliers: "number",
    nOutliers: "number",
    nRandom: "number",
    weightTemp: "number",
    learningRate: "number",
    maxIter: "number",
    init: "any",
    seed: "number",
    ...DISTANCE_KINDS,
  },
  takesWeights: false,
  targets: noTargets,
  check,
  learn,
  methods: {},
});
