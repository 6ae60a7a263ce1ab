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
import { type EndRows, endRows, sumOfEdges } from "./edge-rows.js";
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

/** Triplets, ready for rounds. @internal for tests: the loss of given triplets */
export async function graphOfTriplets(
  triplets: Triplets,
): Promise<{ readonly triplets: Triplets; readonly ends: EndRows }> {
  const { nearer, farther } = triplets;
  const ends = await endRows(concat([nearer.flatten(), farther.flatten()]) as Tensor, nearer.shape[0] as number);
  return { triplets: map((each: Tensor) => each.realize() as Tensor, triplets) as Triplets, ends };
}

/** The loss of triplets at places, [components, samples], and its slope. @internal for tests: beside NumPy's */
export function lossAt(places: Tensor, triplets: Triplets, ends: EndRows): Slope {
  const { nearer, farther, weights } = triplets;
  const columns = columnsOf(places);
  const to = (others: Tensor): Tensor[] =>
    columns.map((column) => column.expandDims(1).sub(column.take(others)) as Tensor);
  const [inward, outward] = [to(nearer), to(farther)];
  const [d, e] = [squaresOf(inward).add(1), squaresOf(outward).add(1)] as [Tensor, Tensor];
  const total = d.add(e);
  const scale = weights.mul(2).div(total.square());
  const [pull, push] = [e.mul(scale), d.mul(scale)];
  const rows = columns.map((_, c) => {
    const [toward, away] = [(inward[c] as Tensor).mul(pull), (outward[c] as Tensor).mul(push)];
    const others = concat([toward.neg().flatten(), away.flatten()]).take(ends.items);
    return toward
      .sub(away)
      .sum({ axis: 1 })
      .add(sumOfEdges(ends, where(ends.isItem, others, 0) as Tensor)) as Tensor;
  });
  return { loss: weights.mul(d).div(total).mean() as Tensor, gradient: stack(rows) as Tensor };
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
  const { triplets, ends } = await graphOfTriplets(tripletsOf(operation, x, wanted, key(seed, { device: x.device })));
  let state = atRest(firstPlaces(operation, x, options).T.realize() as Tensor);
  // The paper's rate is that of half of the gradient.
  const rate = learningRate / 2;
  let loss = lossAt(state.places, triplets, ends).loss;
  for (let step = 0; step < maxIter; ) {
    signal?.throwIfAborted();
    const end = Math.min(maxIter, step + PIECE);
    state = descended(state, triplets, ends, end - step, { momentum: step < EARLY ? 0.5 : 0.8, rate });
    step = end;
    loss = lossAt(state.places, triplets, ends).loss.realize() as Tensor;
    // Progress is told when it is made.
    await loss.item();
    yield { step, steps: maxIter };
  }
  return { embedding: state.places.T.realize() as Tensor, loss };
}

/** Rounds of descent. The slope is that of the place to which the momentum leads. */
function descended(start: Descent, triplets: Triplets, ends: EndRows, rounds: number, step: Step): Descent {
  const end = forLoop(
    0,
    rounds,
    (_, state: Descent) => {
      const ahead = state.places.add(state.moves.mul(step.momentum)) as Tensor;
      return stepped(state, lossAt(ahead, triplets, ends).gradient, step);
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
