/**
 * Affinity propagation (Frey & Dueck 2007): samples send each other messages about who stands for whom, until some are the exemplars of
 * all. The rounds are a loop on the device; the exemplars, of which nobody knows the number before, are read at its end.
 */
import { checkChoice, checkWhole } from "../../core/arguments.js";
import { ArgumentError, UnsupportedError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { key, normal } from "../../random/index.js";
import { arange, eye, full, type Tensor, tensor, where, zeros } from "../../tensor/index.js";
import { whileLoop } from "../../transforms/control.js";
import type { Fitted } from "../core/model.js";
import type { Samples } from "../core/samples.js";
import { clusterer, samplesFor } from "../core/sorts.js";
import { nearestOfAll } from "../neighbors/brute-force.js";
import { normOf, spaceOf } from "../neighbors/metric.js";
import { hostValues } from "../neighbors/within.js";
import { checkSquareShape } from "./distances.js";

/** Options of `affinityPropagation`. */
export interface AffinityPropagationOptions {
  /** The share of a message that is kept from one round to the next, at least 0.5 and below 1: 0.5 unless told. */
  readonly damping?: number;
  /** Rounds at most: 200 unless told. */
  readonly maxIter?: number;
  /** The rounds in which exemplars stay the same at the end: 15 unless told. */
  readonly convergenceIter?: number;
  /** How much each sample wants to be an exemplar, or a list of that: the median of similarities unless told. Larger ones make more. */
  readonly preference?: number | readonly number[];
  /** "euclidean" unless told: similarities are −|a − b|². "precomputed": the samples are similarities, [samples, samples]. */
  readonly affinity?: "euclidean" | "precomputed";
  /** Decides the noise, of the size of rounding, that parts samples which are equally good: 0 unless told. */
  readonly seed?: number;
}

/** What `affinityPropagation` learns. */
export interface AffinityPropagationLearned {
  /** The cluster of each sample, [samples], i32; -1 for all where no exemplars were found. */
  readonly labels: Tensor;
  /** The samples that are exemplars, in order, i32. */
  readonly centerIndices: Tensor;
  /** Their rows of the samples, [clusters, features]. */
  readonly centers: Tensor;
  /** The rounds, i32. */
  readonly iterations: Tensor;
  /** bool: the exemplars stayed the same to the end. */
  readonly converged: Tensor;
  readonly [name: string]: Tensor;
}

type PropagationModel = Fitted<AffinityPropagationLearned, AffinityPropagationOptions>;

const SQUARES = spaceOf({ metric: "sqeuclidean" });

const methods = {
  /** The cluster of each sample, [samples], i32: that of the nearest exemplar; -1 where there are none. */
  predict(model: PropagationModel, samples: Samples): Tensor {
    if (model.options.affinity === "precomputed") {
      throw new UnsupportedError(
        "affinityPropagation.predict: the model knows similarities alone, and no samples; fit it to samples.",
      );
    }
    const { centers } = model.learned;
    const x = samplesFor(model, "predict", samples);
    if (centers.shape[0] === 0) return full([x.shape[0] as number], -1, { device: x.device, dtype: "i32" }) as Tensor;
    return nearestOfAll(centers, x.cast(centers.dtype) as Tensor, 1, SQUARES).indices.at(":", 0) as Tensor;
  },
};

/** The end of the rounds. */
interface Propagated {
  readonly isExemplar: Tensor;
  readonly iterations: Tensor;
  readonly converged: Tensor;
}

/** Rounds of messages. `similarities` have the preferences on their diagonal. */
function propagated(similarities: Tensor, options: AffinityPropagationOptions): Propagated {
  const { damping = 0.5, maxIter = 200, convergenceIter = 15 } = options;
  const { device, dtype } = similarities;
  const count = similarities.shape[0] as number;
  const isOwn = eye(count, { device, dtype }).equal(1) as Tensor;
  const onDiagonal = (messages: Tensor): Tensor => where(isOwn, messages, 0).sum({ axis: 0 }) as Tensor;
  const damped = (before: Tensor, after: Tensor): Tensor => before.mul(damping).add(after.mul(1 - damping)) as Tensor;
  const none = zeros([count, count], { device, dtype }) as Tensor;
  const end = whileLoop(
    ({ converged, round }) => converged.logicalNot().logicalAnd(round.less(maxIter)) as Tensor,
    ({ responsibilities, availabilities, isExemplar, steady, round }) => {
      const best = bestTwo(availabilities.add(similarities) as Tensor);
      const rivals = where(best.isFirst, best.second, best.first);
      const nextResponsibilities = damped(responsibilities, similarities.sub(rivals) as Tensor);
      const own = where(isOwn, nextResponsibilities, nextResponsibilities.maximum(0)) as Tensor;
      const support = own.sum({ axis: 0 }).sub(own) as Tensor;
      const nextAvailabilities = damped(availabilities, where(isOwn, support, support.minimum(0)) as Tensor);
      const isNow = onDiagonal(nextAvailabilities.add(nextResponsibilities) as Tensor).greater(0) as Tensor;
      const nextSteady = where(isNow.equal(isExemplar), steady.add(1), 1) as Tensor;
      const isSteady = nextSteady.greaterEqual(convergenceIter).all().logicalAnd(isNow.any());
      return {
        responsibilities: nextResponsibilities,
        availabilities: nextAvailabilities,
        isExemplar: isNow,
        steady: nextSteady,
        round: round.add(1) as Tensor,
        converged: isSteady.logicalAnd(round.greaterEqual(convergenceIter)) as Tensor,
      };
    },
    {
      responsibilities: none,
      availabilities: none,
      isExemplar: full([count], false, { device }) as Tensor,
      steady: full([count], 0, { device, dtype: "i32" }) as Tensor,
      round: full([], 0, { device, dtype: "i32" }) as Tensor,
      converged: full([], false, { device }) as Tensor,
    },
  );
  return { isExemplar: end.isExemplar, iterations: end.round, converged: end.converged };
}

/** The largest of each row, where it is, and the next. */
function bestTwo(x: Tensor): { readonly first: Tensor; readonly second: Tensor; readonly isFirst: Tensor } {
  const places = x.argmax({ axis: 1, keepDims: true });
  const columns = arange(x.shape[1] as number, { device: x.device, dtype: "i32" });
  const isFirst = columns.equal(places.cast("i32")) as Tensor;
  const first = x.max({ axis: 1, keepDims: true }) as Tensor;
  const second = where(isFirst, Number.NEGATIVE_INFINITY, x).max({ axis: 1, keepDims: true }) as Tensor;
  return { first, second, isFirst };
}

/** The exemplars after a last round of choice: in each cluster the sample that is most alike to all of it. */
async function refined(similarities: Tensor, exemplars: Int32Array): Promise<Int32Array> {
  const labels = await labelsBeside(similarities, exemplars);
  const on = tensor(labels, { device: similarities.device }) as Tensor;
  const isTogether = on.expandDims(1).equal(on);
  const sums = await hostValues(where(isTogether, similarities, 0).sum({ axis: 0 }) as Tensor);
  const best = exemplars.slice().fill(-1);
  labels.forEach((label, i) => {
    const known = best[label] as number;
    if (known < 0 || (sums[i] as number) > (sums[known] as number)) best[label] = i;
  });
  return best.sort();
}

/** The exemplar that each sample is most alike to, by its place among them; each is its own. */
async function labelsBeside(similarities: Tensor, exemplars: Int32Array): Promise<Int32Array> {
  const columns = similarities.take(tensor(exemplars, { device: similarities.device }), { axis: 1 });
  const labels = Int32Array.from((await columns.argmax({ axis: 1 }).cast("i32").data()) as Int32Array);
  exemplars.forEach((i, place) => {
    labels[i] = place;
  });
  return labels;
}

/** Similarities with preferences on their diagonal, and whether all of either are the same. */
async function prepared(
  x: Tensor,
  { affinity, preference, seed = 0 }: AffinityPropagationOptions,
): Promise<{ readonly similarities: Tensor; readonly alike: "all" | "none" | null }> {
  const { device, dtype } = x;
  const count = x.shape[0] as number;
  if (affinity === "precomputed") checkSquareShape("affinityPropagation.fit", "similarities", x);
  const plain = affinity === "precomputed" ? x : (normOf(x.expandDims(1).sub(x) as Tensor, SQUARES).neg() as Tensor);
  if (Array.isArray(preference) && preference.length !== count) {
    throw new ArgumentError(
      `affinityPropagation.fit: there are ${preference.length} preferences and ${count} samples.`,
    );
  }
  const preferences =
    preference === undefined
      ? plain.quantile(0.5).broadcastTo([count])
      : tensor((Array.isArray(preference) ? preference : Array(count).fill(preference)) as number[], { device, dtype });
  const isOwn = eye(count, { device, dtype }).equal(1);
  const wanted = await hostValues(preferences as Tensor);
  const first = wanted[0] as number;
  if (wanted.every((each) => each === first)) {
    const most = Number(await where(isOwn, Number.NEGATIVE_INFINITY, plain).max().item());
    const least = Number(await where(isOwn, Number.POSITIVE_INFINITY, plain).min().item());
    if (count === 1) return { similarities: plain, alike: "none" };
    if (most === least) return { similarities: plain, alike: first >= most ? "none" : "all" };
  }
  const similarities = where(isOwn, preferences, plain) as Tensor;
  const epsilon = dtype === "f64" ? 2 ** -52 : 2 ** -23;
  const noise = normal(key(seed, { device }), [count, count], { dtype: dtype as "f32" | "f64" });
  return { similarities: similarities.add(similarities.mul(epsilon).mul(noise)) as Tensor, alike: null };
}

/** Clusters around samples that stand for others. How many there are comes of the samples and the preference. */
export const affinityPropagation = clusterer<AffinityPropagationLearned, AffinityPropagationOptions, typeof methods>({
  kind: "affinityPropagation",
  options: {
    damping: "number",
    maxIter: "number",
    convergenceIter: "number",
    preference: "numbers",
    affinity: "text",
    seed: "number",
  },
  takesWeights: false,
  check({ damping = 0.5, maxIter = 1, convergenceIter = 1, affinity }) {
    checkWhole("affinityPropagation", "maxIter", maxIter, 1);
    checkWhole("affinityPropagation", "convergenceIter", convergenceIter, 1);
    checkChoice("affinityPropagation", "affinity", affinity, ["euclidean", "precomputed"]);
    if (damping >= 0.5 && damping < 1) return;
    throw new ArgumentError(`affinityPropagation: damping is ${shown(damping)}; it is at least 0.5 and below 1.`);
  },
  learn:
    ({ x, signal }, options) =>
    async () => {
      const { device } = x;
      const count = x.shape[0] as number;
      const { similarities, alike } = await prepared(x, options);
      signal?.throwIfAborted();
      const learned = (exemplars: Int32Array, labels: Int32Array, iterations: Tensor, converged: Tensor) => {
        const centerIndices = tensor(exemplars, { device }) as Tensor;
        const centers = x.take(centerIndices, { axis: 0 }) as Tensor;
        return { labels: tensor(labels, { device }) as Tensor, centerIndices, centers, iterations, converged };
      };
      if (alike) {
        const each = Int32Array.from({ length: count }, (_, i) => i);
        const [exemplars, labels] = alike === "none" ? [each, each] : [Int32Array.of(0), new Int32Array(count)];
        return learned(
          exemplars,
          labels,
          full([], 0, { device, dtype: "i32" }) as Tensor,
          full([], true, { device }) as Tensor,
        );
      }
      const { isExemplar, iterations, converged } = propagated(similarities, options);
      const flags = (await isExemplar.cast("i32").data()) as Int32Array;
      const found = Int32Array.from([...flags.keys()].filter((i) => flags[i]));
      if (found.length === 0) return learned(found, new Int32Array(count).fill(-1), iterations, converged);
      const exemplars = await refined(similarities, found);
      return learned(exemplars, await labelsBeside(similarities, exemplars), iterations, converged);
    },
  methods,
});
