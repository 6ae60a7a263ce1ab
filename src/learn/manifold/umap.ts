/**
 * UMAP (McInnes, Healy & Melville 2018): places of samples in few dimensions, in which neighbours lie together and groups keep some of
 * their distances. The graph of neighbours (fuzzy-graph.ts) says who belongs together; rounds of steps by chance (umap-rounds.ts) lay
 * it out. New samples find their places among those of the fit.
 */
import { checkWhole } from "../../core/arguments.js";
import { UnsupportedError } from "../../core/errors.js";
import { foldIn, key, uniform } from "../../random/index.js";
import { type Tensor, tensor, where } from "../../tensor/index.js";
import { checkDistances, DISTANCE_KINDS, type DistanceOptions } from "../cluster/distances.js";
import type { Data, FitProgress } from "../core/estimator.js";
import { checkAmount, checkPositive, checkWholeSetting } from "../core/settings.js";
import { transformer } from "../core/sorts.js";
import { type Neighbors, neighborsOf, type Searched, searched } from "../neighbors/search.js";
import { type EdgeRows, edgeRows } from "./edge-rows.js";
import { checkComponents, checkInit, drawnPlaces, givenPlaces, type Places, principalPlaces } from "./first-places.js";
import { membershipsOf, sharesOfUnion } from "./fuzzy-graph.js";
import { neighborGraph, searchFor } from "./neighbor-graph.js";
import { spectralPlaces } from "./spectral-places.js";
import { curveOf } from "./umap-curve.js";
import { afterRounds, deckOf, guestsAfterRounds, type Pace } from "./umap-rounds.js";

/** Options of `umap`. */
export interface UmapOptions extends DistanceOptions {
  /** The columns of the embedding: 2 unless told. */
  readonly nComponents?: number;
  /** Neighbours of a sample, itself among them, as umap-learn counts: 15 unless told. Fewer show details, more show the whole. */
  readonly nNeighbors?: number;
  /** How near samples may lie together in the embedding: 0.1 unless told. */
  readonly minDist?: number;
  /** How far apart samples lie that belong together: 1 unless told, and at least `minDist`. */
  readonly spread?: number;
  /**
   * First places: along eigenvectors of the graph ("spectral", unless told), along principal components ("pca"), drawn ("random"), or
   * these, [samples, nComponents].
   */
  readonly init?: "spectral" | "pca" | "random" | Places;
  /** How often an edge of weight 1 pulls: 500 up to 10,000 samples, else 200, unless told. */
  readonly nEpochs?: number;
  /** The length of steps at first: 1 unless told. */
  readonly learningRate?: number;
  /** Samples that push a sample away, for each neighbour that pulls it: 5 unless told. */
  readonly negativeSampleRate?: number;
  /** How much those push: 1 unless told. */
  readonly repulsionStrength?: number;
  /** 1, unless told: samples belong together where one of the two says so. 0: where both do. */
  readonly setOpMixRatio?: number;
  /** So many neighbours belong to a sample wholly, however far they are: 1 unless told. */
  readonly localConnectivity?: number;
  /** Decides the random numbers: 0 unless told. */
  readonly seed?: number;
}

/** What `umap` learns. */
export interface UmapLearned {
  /** The place of each sample, [samples, nComponents]. */
  readonly embedding: Tensor;
  /** a and b of the curve 1 / (1 + a d^2b), which says how much samples at a distance d belong together. */
  readonly a: Tensor;
  readonly b: Tensor;
  /** The samples of the fit, ready for searches; null where they were distances. */
  readonly searched: (Searched & { readonly [name: string]: Tensor | Searched["tree"] }) | null;
  readonly [name: string]: Tensor | UmapLearned["searched"];
}

/** Epochs between two looks at the signal. */
const PIECE = 20;
/** First places reach so far from the middle, and samples at one place are parted by so much. */
const REACH = 10;
const NOISE = 1e-4;
/** Epochs of new samples, unless told, and the share of the learning rate that they take; umap-learn's. */
const GUEST_EPOCHS = 100;
const GUEST_RATE = 0.25;

const settled = (options: UmapOptions) => ({
  ...{ nComponents: 2, nNeighbors: 15, minDist: 0.1, spread: 1, init: "spectral" as const, learningRate: 1 },
  ...{ negativeSampleRate: 5, repulsionStrength: 1, setOpMixRatio: 1, localConnectivity: 1, seed: 0 },
  ...options,
});

/** Rounds of an epoch: a sample has about so many edges of weight 1. */
const perEpochOf = (nNeighbors: number): number => Math.max(1, Math.ceil(Math.log2(nNeighbors)));

/** Around the middle, and no two samples at one place. */
function spreadOut(places: Tensor, seed: number): Tensor {
  const largest = places.abs().max();
  const noise = drawnPlaces(seed, places, places.shape[1] as number).mul(NOISE);
  return places
    .mul(where(largest.greater(0), where(largest.greater(0), largest, 1).reciprocal(), 0))
    .mul(REACH)
    .add(noise) as Tensor;
}

/** First places, [samples, components]. */
async function firstPlaces(operation: string, x: Tensor, edges: EdgeRows, options: UmapOptions): Promise<Tensor> {
  const { nComponents, init, seed } = settled(options);
  if (typeof init === "object") return givenPlaces(operation, init, x, nComponents);
  switch (init) {
    case "spectral":
      return spreadOut(await spectralPlaces(edges, x, nComponents, seed), seed);
    case "pca":
      checkComponents(operation, options.metric, "spectral");
      return spreadOut(principalPlaces(seed, x, nComponents), seed);
    case "random": {
      const dtype = x.dtype as "f32" | "f64";
      const drawn = uniform(key(seed, { device: x.device }), [x.shape[0] as number, nComponents], { dtype });
      return drawn.mul(2).sub(1).mul(REACH) as Tensor;
    }
  }
}

async function* learn({ x, signal }: Data, options: UmapOptions): AsyncGenerator<FitProgress, UmapLearned> {
  const operation = "umap.fit";
  const { nNeighbors, minDist, spread, setOpMixRatio, localConnectivity, seed, ...rest } = settled(options);
  const { device, dtype } = x;
  const count = x.shape[0] as number;
  checkWholeSetting(operation, "nNeighbors", nNeighbors, count);
  const found = neighborGraph(operation, x, nNeighbors - 1, options);
  const memberships = membershipsOf(found.distances, nNeighbors, localConnectivity).realize() as Tensor;
  const indices = found.indices.realize() as Tensor;
  const edges = await edgeRows(indices, sharesOfUnion(memberships, indices, setOpMixRatio));
  const numbers = await curveOf(minDist, spread);
  const [a, b] = [numbers.a, numbers.b].map((value) => tensor(value, { device, dtype }) as Tensor) as [Tensor, Tensor];
  const { nEpochs = count <= 10_000 ? 500 : 200 } = options;
  const perEpoch = perEpochOf(nNeighbors);
  const pace: Pace = {
    rounds: nEpochs * perEpoch,
    perEpoch,
    rate: rest.learningRate,
    negatives: rest.negativeSampleRate,
    repulsion: rest.repulsionStrength,
  };
  const deck = deckOf(edges);
  const from = foldIn(key(seed, { device }), 1);
  let places = (await firstPlaces(operation, x, edges, options)).T.realize() as Tensor;
  for (let epoch = 0; epoch < nEpochs; epoch += PIECE) {
    signal?.throwIfAborted();
    const epochs = Math.min(PIECE, nEpochs - epoch);
    const first = tensor(epoch * perEpoch, { device, dtype: "i32" }) as Tensor;
    places = afterRounds(places, deck, { a, b }, from, first, epochs * perEpoch, pace).realize() as Tensor;
    // Progress is told when it is made.
    await places.at(0, 0).item();
    yield { step: epoch + epochs, steps: nEpochs };
  }
  const kept = options.metric === "precomputed" ? null : { ...searched("umap.fit", x, searchFor(options)) };
  return { embedding: places.T.realize() as Tensor, a, b, searched: kept };
}

/** Places of new samples: first in the middle of their neighbours, then moved in rounds. */
function transform({ embedding, a, b, searched: kept }: UmapLearned, x: Tensor, options: UmapOptions): Tensor {
  const operation = "umap.transform";
  if (kept === null) {
    throw new UnsupportedError(`${operation}: the model knows distances alone, and no samples; fit it to samples.`);
  }
  const { nNeighbors, localConnectivity, learningRate, negativeSampleRate, repulsionStrength, seed } = settled(options);
  const { distances, indices }: Neighbors = neighborsOf(operation, kept, x, nNeighbors - 1, searchFor(options));
  const memberships = membershipsOf(distances, nNeighbors, localConnectivity);
  const shares = memberships.div(memberships.sum({ axis: 1, keepDims: true })).expandDims(2);
  const first = embedding.take(indices, { axis: 0 }).mul(shares).sum({ axis: 1 }) as Tensor;
  const perEpoch = perEpochOf(nNeighbors);
  const epochs = options.nEpochs === undefined ? GUEST_EPOCHS : Math.floor(options.nEpochs / 3);
  const pace: Pace = {
    rounds: epochs * perEpoch,
    perEpoch,
    rate: learningRate * GUEST_RATE,
    negatives: negativeSampleRate,
    repulsion: repulsionStrength,
  };
  const guests = { hosts: embedding.T as Tensor, indices, memberships };
  const from = foldIn(key(seed, { device: x.device }), 2);
  return guestsAfterRounds(first.T as Tensor, guests, { a, b }, from, pace).T as Tensor;
}

function check(options: UmapOptions): void {
  const { nComponents, nNeighbors, minDist, spread, learningRate, negativeSampleRate, ...rest } = settled(options);
  checkDistances("umap", options);
  checkWhole("umap", "nComponents", nComponents, 1);
  checkWhole("umap", "nNeighbors", nNeighbors, 2);
  checkWhole("umap", "negativeSampleRate", negativeSampleRate, 0);
  if (options.nEpochs !== undefined) checkWhole("umap", "nEpochs", options.nEpochs, 0);
  checkPositive("umap", "spread", spread);
  checkPositive("umap", "learningRate", learningRate);
  checkAmount("umap", "minDist", minDist, 0, spread);
  checkAmount("umap", "repulsionStrength", rest.repulsionStrength);
  checkAmount("umap", "setOpMixRatio", rest.setOpMixRatio, 0, 1);
  checkAmount("umap", "localConnectivity", rest.localConnectivity);
  checkInit("umap", rest.init, ["spectral", "pca", "random"]);
}

/** Places in few dimensions, in which neighbours lie together; new samples find theirs. */
export const umap = transformer<UmapLearned, UmapOptions>({
  kind: "umap",
  options: {
    nComponents: "number",
    nNeighbors: "number",
    minDist: "number",
    spread: "number",
    init: "any",
    nEpochs: "number",
    learningRate: "number",
    negativeSampleRate: "number",
    repulsionStrength: "number",
    setOpMixRatio: "number",
    localConnectivity: "number",
    seed: "number",
    ...DISTANCE_KINDS,
  },
  takesWeights: false,
  check,
  learn,
  transform,
});
