/**
 * t-SNE (van der Maaten & Hinton 2008): places of samples in few dimensions, in which neighbours lie together. Rounds of descent go down the
 * divergence of two sets of probabilities of pairs (t-sne-forces.ts). Fifty rounds are one loop on the device; then the divergence is read,
 * to see whether it still falls.
 */
import { checkWhole } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { stack, type Tensor, tensor, where } from "../../tensor/index.js";
import { forLoop } from "../../transforms/control.js";
import { map } from "../../transforms/tree.js";
import { checkDistances, DISTANCE_KINDS, type DistanceOptions } from "../cluster/distances.js";
import { type Data, estimator, type FitProgress } from "../core/estimator.js";
import { checkAmount, checkPositive } from "../core/settings.js";
import { noTargets } from "../core/sorts.js";
import { hostValues } from "../neighbors/within.js";
import { checkComponents, checkInit, drawnPlaces, givenPlaces, type Places, principalPlaces } from "./first-places.js";
import { atRest, type Descent, type Step, stepped } from "./gained-descent.js";
import { neighborGraph } from "./neighbor-graph.js";
import { type Attraction, attractionOf, forcesAt } from "./t-sne-forces.js";

/** Options of `tsne`. */
export interface TsneOptions extends DistanceOptions {
  /** The columns of the embedding: 2 unless told. */
  readonly nComponents?: number;
  /** How many neighbours of a sample count in effect, below the number of samples: 30 unless told. */
  readonly perplexity?: number;
  /** Neighbours that attract each other at all: three times the perplexity unless told. All others make the attraction exact. */
  readonly nNeighbors?: number;
  /** How much more neighbours attract each other in the first 250 rounds: 12 unless told. */
  readonly earlyExaggeration?: number;
  /** The length of steps. "auto", unless told: samples / earlyExaggeration / 4, and 50 at least. */
  readonly learningRate?: number | "auto";
  /** Rounds at most: 1000 unless told. */
  readonly maxIter?: number;
  /** After the first 250, rounds end when the divergence has not fallen in this many: 300 unless told. */
  readonly nIterWithoutProgress?: number;
  /** Rounds end when the gradient is no longer than this: 1e-7 unless told. */
  readonly minGradNorm?: number;
  /**
   * First places: along principal components ("pca", unless told), drawn ("random", unless told where samples are distances), or
   * these, [samples, nComponents].
   */
  readonly init?: "pca" | "random" | Places;
  /** Decides the random numbers: 0 unless told. */
  readonly seed?: number;
}

/** What `tsne` learns. */
export interface TsneLearned {
  /** The place of each sample, [samples, nComponents]. */
  readonly embedding: Tensor;
  /** The Kullback–Leibler divergence there. */
  readonly klDivergence: Tensor;
  /** Rounds that were run, i32. */
  readonly iterations: Tensor;
  readonly [name: string]: Tensor;
}

/** Rounds with exaggeration, and rounds between two looks at the divergence; scikit-learn's. */
const EXAGGERATED = 250;
const PIECE = 50;
/** The spread of first places. */
const SPREAD = 1e-4;

/** How a piece of the rounds goes. */
interface Pace extends Step {
  readonly exaggeration: number;
}

/** Rounds of descent. */
function descended(start: Descent, attraction: Attraction, rounds: number, pace: Pace): Descent {
  return forLoop(
    0,
    rounds,
    (_, state: Descent) => stepped(state, forcesAt(state.places, attraction, pace.exaggeration).gradient, pace),
    start,
  );
}

const realized = (state: Descent): Descent => map((each: Tensor) => each.realize() as Tensor, state) as Descent;

/** First places, [samples, components]. */
function firstPlaces(operation: string, x: Tensor, options: TsneOptions): Tensor {
  const { nComponents = 2, metric, seed = 0 } = options;
  const { init = metric === "precomputed" ? "random" : "pca" } = options;
  if (typeof init === "object") return givenPlaces(operation, init, x, nComponents);
  if (init === "random") return drawnPlaces(seed, x, nComponents).mul(SPREAD) as Tensor;
  checkComponents(operation, metric, "random");
  const places = principalPlaces(seed, x, nComponents);
  const width = places.at(":", 0).variance().sqrt();
  return places.div(where(width.greater(0), width, 1)).mul(SPREAD) as Tensor;
}

async function* learn({ x, signal }: Data, options: TsneOptions): AsyncGenerator<FitProgress, TsneLearned> {
  const operation = "tsne.fit";
  const { perplexity = 30, earlyExaggeration = 12, learningRate = "auto", maxIter = 1000 } = options;
  const { nIterWithoutProgress = 300, minGradNorm = 1e-7 } = options;
  const count = x.shape[0] as number;
  if (perplexity >= count) {
    throw new ArgumentError(`${operation}: perplexity is ${perplexity}; it is below the number of samples, ${count}.`);
  }
  const { nNeighbors = Math.min(count - 1, Math.floor(3 * perplexity + 1)) } = options;
  const rate = learningRate === "auto" ? Math.max(50, count / earlyExaggeration / 4) : learningRate;
  const graph = neighborGraph(operation, x, nNeighbors, options);
  const attraction = await attractionOf(graph, perplexity);
  let state = atRest(firstPlaces(operation, x, options).T.realize() as Tensor);
  let best = { divergence: Number.POSITIVE_INFINITY, step: 0 };
  let isExaggerated = true;
  let isFlat = false;
  let step = 0;
  while (step < maxIter) {
    signal?.throwIfAborted();
    if (isExaggerated && (step >= EXAGGERATED || isFlat)) {
      // Moves of the exaggerated rounds do not go on after them.
      isExaggerated = false;
      state = atRest(state.places);
    }
    const rounds = Math.min(PIECE, maxIter - step);
    const pace = { exaggeration: isExaggerated ? earlyExaggeration : 1, momentum: isExaggerated ? 0.5 : 0.8, rate };
    state = realized(descended(state, attraction, rounds, pace));
    step += rounds;
    const { gradient, divergence } = forcesAt(state.places, attraction, pace.exaggeration);
    const read = await hostValues(stack([gradient.square().sum().sqrt(), divergence]) as Tensor);
    yield { step, steps: maxIter };
    const [length, now] = [read[0] as number, read[1] as number];
    isFlat = length <= minGradNorm;
    if (isExaggerated) continue;
    if (now < best.divergence) best = { divergence: now, step };
    else if (step - best.step > nIterWithoutProgress) break;
    if (isFlat) break;
  }
  const { divergence } = forcesAt(state.places, attraction, 1);
  return {
    embedding: state.places.T.realize() as Tensor,
    klDivergence: divergence,
    iterations: tensor(step, { device: x.device, dtype: "i32" }) as Tensor,
  };
}

function check(options: TsneOptions): void {
  const { nComponents = 2, nNeighbors = 1, maxIter = 1, nIterWithoutProgress = 0, learningRate = "auto" } = options;
  checkDistances("tsne", options);
  checkWhole("tsne", "nComponents", nComponents, 1);
  checkWhole("tsne", "nNeighbors", nNeighbors, 1);
  checkWhole("tsne", "maxIter", maxIter, 0);
  checkWhole("tsne", "nIterWithoutProgress", nIterWithoutProgress, 0);
  checkAmount("tsne", "perplexity", options.perplexity ?? 1, 1);
  checkAmount("tsne", "earlyExaggeration", options.earlyExaggeration ?? 1, 1);
  checkAmount("tsne", "minGradNorm", options.minGradNorm ?? 0);
  checkInit("tsne", options.init ?? "pca", ["pca", "random"]);
  if (typeof learningRate === "number") checkPositive("tsne", "learningRate", learningRate);
  else if (learningRate !== "auto") {
    throw new ArgumentError(`tsne: learningRate is ${shown(learningRate)}; it is a number above zero, or "auto".`);
  }
}

/** Places in few dimensions, in which neighbours lie together. */
export const tsne = estimator({
  kind: "tsne",
  options: {
    nComponents: "number",
    perplexity: "number",
    nNeighbors: "number",
    earlyExaggeration: "number",
    learningRate: "any",
    maxIter: "number",
    nIterWithoutProgress: "number",
    minGradNorm: "number",
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
