/**
 * k-means of batches of samples (mini-batch.ts), which costs a fraction of k-means where there are many. `fit` draws its batches from its
 * samples, as one loop on the device; `model.partialFit(batch)` is a model that has also seen a batch.
 */
import { checkWhole } from "../../core/arguments.js";
import { choice, foldIn, type Key, randint, split } from "../../random/index.js";
import { full, type Tensor, where } from "../../tensor/index.js";
import { whileLoop } from "../../transforms/control.js";
import { type FitOptions, weightsBeside } from "../core/estimator.js";
import type { Fitted, Method, Model } from "../core/model.js";
import type { Samples } from "../core/samples.js";
import { checkAmount } from "../core/settings.js";
import { clusterer, samplesFor } from "../core/sorts.js";
import { inertiaOf, nearestCenters, nearestOfFar } from "./centers.js";
import { centersMethods } from "./centers-methods.js";
import {
  CENTERS,
  type CentersOptions,
  checkCenters,
  clustersFor,
  drawnCenters,
  firstCenters,
} from "./k-means-options.js";
import { afterBatch, type Seen, unseen } from "./mini-batch.js";
import { keyOf } from "./seeding.js";
import { bestStart, isOfLessInertia } from "./starts.js";

/**
 * Options of `miniBatchKMeans`. `maxIter` (100 unless told) counts rounds of as many samples as there are. A fit ends before that where the
 * inertia of batches no longer falls, or, where `tol` is not 0 (0 unless told), where the squared moves of the centres are in sum no more than
 * `tol` times the mean variance of the features.
 */
export interface MiniBatchKMeansOptions extends CentersOptions {
  /** Samples of a batch: 1024 unless told. */
  readonly batchSize?: number;
  /** Batches without a fall of their smoothed inertia after which a fit ends: 10 unless told. null: it does not end by them. */
  readonly maxNoImprovement?: number | null;
  /** The share of the largest count below which a centre is given another sample: 0.01 unless told. 0: none is. */
  readonly reassignmentRatio?: number;
  /** Samples that first centres are drawn from: three batches unless told, and more than clusters. */
  readonly initSize?: number;
  /** First centres of which the best are kept. "auto", unless told: 1 for "k-means++" and for given rows, 3 for "random". */
  readonly nInit?: number | "auto";
}

/** What mini-batch k-means learns. */
export interface MiniBatchKMeansLearned extends Seen {
  /** The cluster of each sample of the fit, [samples], i32; after `partialFit`, of each sample of the batch. */
  readonly labels: Tensor;
  /** The sum of the squared distances of the same samples to their centres, each counted by its weight. */
  readonly inertia: Tensor;
  /** Batches that were seen, i32. */
  readonly steps: Tensor;
  /** The key of what `partialFit` draws. */
  readonly key: Tensor;
  readonly [name: string]: Tensor;
}

interface PartialFitMethods {
  /** The model that has also seen these samples. Weights are zero or more. */
  partialFit(
    model: Fitted<MiniBatchKMeansLearned, MiniBatchKMeansOptions>,
    samples: Samples,
    options?: Pick<FitOptions, "weights">,
  ): MiniBatchKMeansModel;
  readonly [name: string]: Method;
}

type Methods = typeof centersMethods & PartialFitMethods;

/** A model of `miniBatchKMeans`. */
export type MiniBatchKMeansModel = Model<MiniBatchKMeansLearned, MiniBatchKMeansOptions, Methods>;

/** Samples that a fit draws from. Their means are near zero. */
interface Source {
  readonly x: Tensor;
  readonly weights: Tensor | null;
  readonly offset: Tensor;
}

const ratioOf = ({ reassignmentRatio = 0.01 }: MiniBatchKMeansOptions): number => reassignmentRatio;

/** Some of the samples, drawn by their weights, which are thus counted; all where there are no more. */
function someOf({ x, weights, offset }: Source, key: Key, size: number): Source {
  const count = x.shape[0] as number;
  if (size >= count) return { x, weights, offset };
  // Sums of weights are rounded: the last draw may lie beyond them.
  const drawn = choice(key, count, { shape: [size], p: weights ?? undefined }).minimum(count - 1) as Tensor<"i32">;
  return { x: x.take(drawn, { axis: 0 }) as Tensor, weights: null, offset };
}

/** First centres: of several, those of the least inertia on samples that all are measured by. */
function startOf(source: Source, from: Key, batch: number, options: MiniBatchKMeansOptions): Tensor {
  const { nInit = "auto", nClusters = 8, init } = options;
  const initSize = options.initSize ?? 3 * batch;
  const size = initSize < nClusters ? 3 * nClusters : initSize;
  const [testKey, startKey] = split(from) as [Key, Key];
  const starts = drawnCenters(options) === null ? 1 : nInit === "auto" ? (init === "random" ? 3 : 1) : nInit;
  const test = someOf(source, testKey, size);
  const run = (key: Key): { readonly centers: Tensor; readonly inertia: Tensor } => {
    const [someKey, drawKey] = split(key) as [Key, Key];
    const centers = firstCenters("miniBatchKMeans.fit", options, drawKey, someOf(source, someKey, size));
    return { centers, inertia: inertiaOf(test.x, test.weights, centers, nearestCenters(test.x, centers)) };
  };
  return bestStart(starts, startKey, run, isOfLessInertia).centers;
}

/** A fit on its way. */
interface Rounds extends Seen {
  readonly step: Tensor;
  /** The moving average of the inertia of batches, for each sample. */
  readonly smoothed: Tensor;
  /** Its least value, and the batches since. */
  readonly least: Tensor;
  readonly stale: Tensor;
  readonly goesOn: Tensor;
}

/** Batches until the inertia no longer falls. The first one measures the first centres and says nothing of a fall. */
function rounds(source: Source, first: Tensor, from: Key, batch: number, options: MiniBatchKMeansOptions): Rounds {
  const { maxIter = 100, maxNoImprovement = 10, tol = 0 } = options;
  const { x, weights } = source;
  const { device, dtype } = x;
  const count = x.shape[0] as number;
  const steps = Math.floor((maxIter * count) / batch);
  const share = Math.min(1, (2 * batch) / (count + 1));
  const tolerance = tol === 0 ? null : x.variance({ axis: 0 }).mean().mul(tol);
  const infinity = full([], Number.POSITIVE_INFINITY, { device, dtype }) as Tensor;
  const zero = full([], 0, { device, dtype: "i32" }) as Tensor;
  return whileLoop(
    ({ goesOn, step }: Rounds) => goesOn.logicalAnd(step.less(steps)) as Tensor,
    ({ step, smoothed, least, stale, ...before }: Rounds): Rounds => {
      const [drawKey, key] = split(foldIn(from, step)) as [Key, Key];
      const drawn = randint(drawKey, [batch], 0, count);
      const own = weights ? (weights.take(drawn) as Tensor) : null;
      const { seen, inertia } = afterBatch(x.take(drawn, { axis: 0 }) as Tensor, own, before, {
        key,
        ratio: ratioOf(options),
      });
      const mean = inertia.div(batch) as Tensor;
      const isFirst = step.equal(0) as Tensor;
      const average = where(step.lessEqual(1), mean, smoothed.mul(1 - share).add(mean.mul(share))) as Tensor;
      const waits = where(isFirst.logicalOr(average.less(least)), 0, stale.add(1)) as Tensor;
      const moves = seen.centers.sub(before.centers).square().sum();
      const isStale = waits.greaterEqual(maxNoImprovement ?? steps + 1) as Tensor;
      const isStill = tolerance?.greater(0).logicalAnd(moves.lessEqual(tolerance));
      const ends = isStill ? isStale.logicalOr(isStill) : isStale;
      return {
        ...seen,
        step: step.add(1) as Tensor,
        smoothed: average,
        least: where(isFirst, infinity, least.minimum(average)) as Tensor,
        stale: waits,
        goesOn: isFirst.logicalOr(ends.logicalNot()) as Tensor,
      };
    },
    {
      ...unseen(first),
      step: zero,
      smoothed: infinity,
      least: infinity,
      stale: zero,
      goesOn: full([], true, { device, dtype: "bool" }) as Tensor,
    },
  );
}

const methods: Methods = {
  ...centersMethods,
  partialFit(model, samples, { weights: given } = {}) {
    const { options, features, classes, learned } = model;
    const x = samplesFor(model, "partialFit", samples).cast(learned.centers.dtype) as Tensor;
    const weights = given === undefined ? null : weightsBeside("miniBatchKMeans.partialFit", given, x);
    const [key, later] = split(learned.key as Key) as [Key, Key];
    const { seen } = afterBatch(x, weights, learned, { key, ratio: ratioOf(options) });
    const labels = nearestOfFar(x, seen.centers);
    const state = {
      ...seen,
      labels,
      inertia: inertiaOf(x, weights, seen.centers, labels),
      steps: learned.steps.add(1) as Tensor,
      key: later as Tensor,
    };
    return miniBatchKMeans.model(state, options, { features, classes });
  },
};

/** Throws on settings that the table of kinds cannot tell to be wrong. */
function checkMiniBatch(options: MiniBatchKMeansOptions): void {
  const kind = "miniBatchKMeans";
  checkCenters(kind, options);
  const { batchSize = 1024, initSize = 1, nInit = "auto", maxNoImprovement = 10, reassignmentRatio = 0 } = options;
  checkWhole(kind, "batchSize", batchSize, 1);
  checkWhole(kind, "initSize", initSize, 1);
  if (nInit !== "auto") checkWhole(kind, "nInit", nInit, 1);
  if (maxNoImprovement !== null) checkWhole(kind, "maxNoImprovement", maxNoImprovement, 0);
  checkAmount(kind, "reassignmentRatio", reassignmentRatio, 0, 1);
}

/** Clusters around centres, learned batch by batch. */
export const miniBatchKMeans = clusterer<MiniBatchKMeansLearned, MiniBatchKMeansOptions, Methods>({
  kind: "miniBatchKMeans",
  options: {
    ...CENTERS,
    batchSize: "number",
    maxNoImprovement: "any",
    reassignmentRatio: "number",
    initSize: "number",
    nInit: "any",
  },
  check: checkMiniBatch,
  learn({ x: samples, weights }, options) {
    clustersFor("miniBatchKMeans.fit", options, samples);
    const batch = Math.min(options.batchSize ?? 1024, samples.shape[0] as number);
    const offset = samples.mean({ axis: 0 }) as Tensor;
    const source = { x: samples.sub(offset) as Tensor, weights, offset };
    const [startKey, stepsKey, key] = split(keyOf(options.seed ?? 0, samples), 3) as [Key, Key, Key];
    const first = startOf(source, startKey, batch, options);
    const { centers, counts, sinceReassignment, step } = rounds(source, first, stepsKey, batch, options);
    const labels = nearestCenters(source.x, centers);
    return {
      centers: centers.add(offset) as Tensor,
      counts,
      sinceReassignment,
      labels,
      inertia: inertiaOf(source.x, weights, centers, labels),
      steps: step,
      key: key as Tensor,
    };
  },
  methods,
});
