/**
 * Multidimensional scaling: places whose distances are those of the samples, as nearly as so few dimensions allow. SMACOF (de Leeuw 1977)
 * lowers the stress in rounds, each of which moves all places to where a bound of the stress is least. Where only the order of the
 * distances counts (Kruskal 1964), each round first finds the numbers in that order that are nearest to the lengths there are. Classical
 * scaling (Torgerson 1952) is one decomposition. Functions of tensors, so that fits trace.
 */
import { checkChoice, checkWhole } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { eigh } from "../../linalg/eigh.js";
import { arange, full, stack, type Tensor, where, zeros } from "../../tensor/index.js";
import { scan, whileLoop } from "../../transforms/control.js";
import { map } from "../../transforms/tree.js";
import {
  checkDistances,
  checkPrecomputed,
  checkSquareShape,
  DISTANCE_KINDS,
  type DistanceOptions,
  isPrecomputed,
  spaceFor,
} from "../cluster/distances.js";
import { estimator } from "../core/estimator.js";
import { checkAmount } from "../core/settings.js";
import { noTargets } from "../core/sorts.js";
import { pooled } from "../linear/isotonic.js";
import { normOf } from "../neighbors/metric.js";
import { checkInit, drawnPlaces, givenPlaces, type Places } from "./first-places.js";

/** Options of `mds`. */
export interface MdsOptions extends DistanceOptions {
  /** The columns of the embedding: 2 unless told. */
  readonly nComponents?: number;
  /**
   * "smacof" unless told: rounds that lower the stress. "nonMetric": the same, but only the order of the distances counts. "classical":
   * by eigenvectors, at once.
   */
  readonly method?: "smacof" | "nonMetric" | "classical";
  /** First places: drawn ("random", unless told), by classical scaling, or these, [samples, nComponents]. */
  readonly init?: "random" | "classical" | Places;
  /** Drawn starts of which the best is kept: 4 unless told. */
  readonly nInit?: number;
  /** Rounds at most: 300 unless told. */
  readonly maxIter?: number;
  /**
   * Rounds end when the stress, over the sum of the places' lengths, falls by less than this: 1e-3 unless told. For "nonMetric" the stress
   * itself, 1e-5 unless told.
   */
  readonly tol?: number;
  /** Decides the random numbers: 0 unless told. */
  readonly seed?: number;
}

/** What `mds` learns. */
export interface MdsLearned {
  /** The place of each sample, [samples, nComponents]. */
  readonly embedding: Tensor;
  /**
   * Σ of the squared differences of distances over all pairs; for "nonMetric" the root of their share of the squares of what the
   * lengths should be, from 0 (the order is met) to 1.
   */
  readonly stress: Tensor;
  /** Rounds that were run, i32; 0 for classical scaling. */
  readonly iterations: Tensor;
  readonly [name: string]: Tensor;
}

/** Distances of all pairs, [samples, samples]. */
function distancesOf(operation: string, x: Tensor, options: DistanceOptions): Tensor {
  if (isPrecomputed(options)) {
    checkSquareShape(operation, "distances", x);
    return x;
  }
  const space = spaceFor(options);
  const samples = space.embed(x);
  return space.distances(normOf(samples.expandDims(1).sub(samples) as Tensor, space));
}

/** Differences of places in each column, [samples, samples], and their lengths. */
function differencesOf(places: Tensor): { readonly columns: readonly Tensor[]; readonly lengths: Tensor } {
  const columns = Array.from({ length: places.shape[1] as number }, (_, i) => {
    const column = places.at(":", i);
    return column.expandDims(1).sub(column) as Tensor;
  });
  const squares = columns.map((column) => column.square() as Tensor).reduce((sum, each) => sum.add(each) as Tensor);
  return { columns, lengths: squares.sqrt() as Tensor };
}

/** What lengths should be, and how far they are from it. */
interface Goal {
  /** Lengths as they should be, [samples, samples], by those there are. */
  wanted(lengths: Tensor): Tensor;
  stress(lengths: Tensor, wanted: Tensor): Tensor;
  /** The stress as rounds compare it: it does not depend on the scale of the samples. */
  compared(stress: Tensor, places: Tensor): Tensor;
  /** The fall of that at which rounds end, unless told. */
  readonly tol: number;
}

/** Σ over all pairs of a symmetric matrix. */
const overPairs = (matrix: Tensor): Tensor => matrix.sum().div(2) as Tensor;

/** The distances themselves. */
const metricGoal = (distances: Tensor): Goal => ({
  wanted: () => distances,
  stress: (lengths, wanted) => overPairs(lengths.sub(wanted).square() as Tensor),
  compared(stress, places) {
    const size = places.square().sum({ axis: 1 }).sqrt().sum();
    return stress.div(where(size.equal(0), 1, size)) as Tensor;
  },
  tol: 1e-3,
});

/**
 * Numbers in the order of the distances, nearest to the lengths there are; their mean square is 1. Pairs at one distance have one number.
 * The stress is Kruskal's first.
 */
function orderGoal(distances: Tensor): Goal {
  const { device } = distances;
  const count = distances.shape[0] as number;
  const number = arange(count, { device, dtype: "i32" }) as Tensor;
  const isUpper = number.expandDims(1).less(number) as Tensor;
  const pairs = (count * (count - 1)) / 2;
  // One sample has no order.
  if (pairs === 0) return metricGoal(distances);
  // Pairs come before what is no pair, the nearest first.
  const order = where(isUpper, distances, Number.POSITIVE_INFINITY).flatten().argsort().at(`:${pairs}`) as Tensor;
  const places = distances.flatten().take(order) as Tensor;
  const ranks = zeros([count * count], { device, dtype: "i32" }).scatter(
    order,
    arange(pairs, { device, dtype: "i32" }),
  );
  const upper = ranks.reshape(count, count) as Tensor;
  const both = where(isUpper, upper, upper.T) as Tensor;
  const isOwn = number.expandDims(1).equal(number) as Tensor;
  const once = places.mul(0).add(1) as Tensor;
  return {
    wanted(lengths) {
      const found = pooled(places, lengths.flatten().take(order) as Tensor, once);
      const size = found.square().mean().sqrt();
      const scaled = found.div(where(size.equal(0), 1, size));
      return where(isOwn, 0, scaled.take(both)) as Tensor;
    },
    stress(lengths, wanted) {
      const size = overPairs(wanted.square() as Tensor);
      const off = overPairs(lengths.sub(wanted).square() as Tensor);
      return off.div(where(size.equal(0), 1, size)).sqrt() as Tensor;
    },
    compared: (stress) => stress,
    tol: 1e-5,
  };
}

const stressAt = (places: Tensor, { wanted, stress }: Goal): Tensor => {
  const { lengths } = differencesOf(places);
  return stress(lengths, wanted(lengths));
};

/** Where the bound of the stress that touches it at places is least (Guttman's transform). */
function movedPlaces({ columns, lengths }: ReturnType<typeof differencesOf>, wanted: Tensor): Tensor {
  const ratio = wanted.div(where(lengths.equal(0), 1, lengths));
  const count = wanted.shape[0] as number;
  return stack(
    columns.map((column) => column.mul(ratio).sum({ axis: 1 }).div(count) as Tensor),
    { axis: 1 },
  ) as Tensor;
}

/** Rounds from first places. */
function smacof(goal: Goal, first: Tensor, { maxIter = 300, tol = goal.tol }: MdsOptions): MdsLearned {
  const { device, dtype } = first;
  const end = whileLoop(
    ({ goesOn, count }) => goesOn.logicalAnd(count.less(maxIter)) as Tensor,
    ({ places, before, count }) => {
      const differences = differencesOf(places);
      const wanted = goal.wanted(differences.lengths);
      const stress = goal.stress(differences.lengths, wanted);
      const next = movedPlaces(differences, wanted);
      const now = goal.compared(stress, next);
      return {
        places: next,
        before: now,
        count: count.add(1) as Tensor,
        goesOn: before.sub(now).greaterEqual(tol) as Tensor,
      };
    },
    {
      places: first,
      before: full([], Number.POSITIVE_INFINITY, { device, dtype }) as Tensor,
      count: full([], 0, { device, dtype: "i32" }) as Tensor,
      goesOn: full([], true, { device, dtype: "bool" }) as Tensor,
    },
  );
  return { embedding: end.places, stress: stressAt(end.places, goal), iterations: end.count };
}

/** Places by the eigenvectors of the products that distances from the middle imply. */
function classicalPlaces(distances: Tensor, nComponents: number): Tensor {
  const squares = distances.square() as Tensor;
  const rows = squares.mean({ axis: 1, keepDims: true });
  const columns = squares.mean({ axis: 0, keepDims: true });
  const products = squares.sub(rows).sub(columns).add(squares.mean()).mul(-0.5) as Tensor;
  const { eigenvalues, eigenvectors } = eigh(products);
  const vectors = eigenvectors.flip(1).at(":", `:${nComponents}`) as Tensor;
  const lengths = eigenvalues.flip(0).at(`:${nComponents}`).maximum(0).sqrt();
  // Eigenvectors have no sign; the largest number of each is made positive.
  const largest = vectors.takeAlongAxis(vectors.abs().argmax({ axis: 0, keepDims: true }), { axis: 0 });
  return vectors.mul(where(largest.less(0), -1, 1)).mul(lengths) as Tensor;
}

/** The best of several starts, one after the other. */
function bestOf(starts: readonly Tensor[], run: (first: Tensor) => MdsLearned): MdsLearned {
  const [first, ...rest] = starts as [Tensor, ...Tensor[]];
  if (rest.length === 0) return run(first);
  const round = (best: MdsLearned, start: Tensor): readonly [MdsLearned, null] => {
    const found = run(start);
    const isBetter = found.stress.less(best.stress);
    return [map((a: Tensor, b: Tensor) => where(isBetter, a, b) as Tensor, found, best) as MdsLearned, null];
  };
  return scan(round, run(first), stack(rest) as Tensor)[0];
}

/** First places of each start. They are as far apart as the samples. */
function startsOf(operation: string, x: Tensor, distances: Tensor, options: MdsOptions): Tensor[] {
  const { nComponents = 2, init = "random", nInit = 4, seed = 0 } = options;
  if (typeof init === "object") return [givenPlaces(operation, init, x, nComponents)];
  if (init === "classical") return [classicalPlaces(distances, nComponents)];
  const scale = distances.mean();
  const drawn = drawnPlaces(seed, x, nComponents * nInit).mul(scale);
  return Array.from(
    { length: nInit },
    (_, i) => drawn.at(":", `${i * nComponents}:${(i + 1) * nComponents}`) as Tensor,
  );
}

/** Places whose distances are those of the samples, as nearly as can be. */
export const mds = estimator({
  kind: "mds",
  options: {
    nComponents: "number",
    method: "text",
    init: "any",
    nInit: "number",
    maxIter: "number",
    tol: "number",
    seed: "number",
    ...DISTANCE_KINDS,
  },
  takesWeights: false,
  targets: noTargets,
  check(options: MdsOptions) {
    const { nComponents = 2, nInit = 1, maxIter = 1, method, tol = 0 } = options;
    checkDistances("mds", options);
    checkChoice("mds", "method", method, ["smacof", "nonMetric", "classical"]);
    checkWhole("mds", "nComponents", nComponents, 1);
    checkWhole("mds", "nInit", nInit, 1);
    checkWhole("mds", "maxIter", maxIter, 1);
    checkAmount("mds", "tol", tol);
    checkInit("mds", options.init ?? "random", ["random", "classical"]);
  },
  async checkSamples(operation, x, _, { metric }) {
    if (metric === "precomputed") await checkPrecomputed(operation, x);
  },
  learn({ x }, options): MdsLearned {
    const operation = "mds.fit";
    const { nComponents = 2, method } = options;
    const count = x.shape[0] as number;
    const isClassical = method === "classical" || options.init === "classical";
    if (isClassical && nComponents > count) {
      throw new ArgumentError(
        `${operation}: nComponents is ${nComponents}; classical scaling of ${count} samples gives ${count} at most.`,
      );
    }
    const distances = distancesOf(operation, x, options);
    if (method !== "classical") {
      const goal = method === "nonMetric" ? orderGoal(distances) : metricGoal(distances);
      return bestOf(startsOf(operation, x, distances, options), (first) => smacof(goal, first, options));
    }
    const embedding = classicalPlaces(distances, nComponents);
    return {
      embedding,
      stress: stressAt(embedding, metricGoal(distances)),
      iterations: full([], 0, { device: x.device, dtype: "i32" }) as Tensor,
    };
  },
  methods: {},
});
