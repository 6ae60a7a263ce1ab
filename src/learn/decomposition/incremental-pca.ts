/**
 * Principal components batch by batch (Ross et al. 2008): what was learned of the samples before stands for them as a few weighted rows, so
 * that samples need not be in memory together. `fit` goes through its samples in batches; `model.partialFit(batch)` is a model that has
 * also seen a batch.
 */
import { concat, type Tensor, tensor } from "../../tensor/index.js";
import type { Fitted, Method, Model } from "../core/model.js";
import type { Samples } from "../core/samples.js";
import { checkWholeSetting } from "../core/settings.js";
import { samplesFor, type TransformMethods, transformer } from "../core/sorts.js";
import { type PcaLearned, pcaMethods, projected } from "./pca.js";
import { spectrumOf } from "./spectrum.js";

/** Options of `incrementalPca`. */
export interface IncrementalPcaOptions {
  /** The number of components: as many as samples of the first batch, or features, allow, unless told. */
  readonly nComponents?: number;
  /** The number of samples of a batch: five times the number of features unless told. */
  readonly batchSize?: number;
  /** False unless told. True: the columns of transformed samples have variance 1. */
  readonly whiten?: boolean;
}

/** What `pca` learns, the variance of each feature, and how many samples were seen. */
export interface IncrementalPcaLearned extends PcaLearned {
  readonly variance: Tensor;
  readonly samplesSeen: Tensor;
}

/** The state after a batch. The first batch has no state before it. */
function updated(before: IncrementalPcaLearned | null, batch: Tensor, count: number): IncrementalPcaLearned {
  const { device, dtype } = batch;
  const [rows, features] = batch.shape as [number, number];
  const seenBefore = before?.samplesSeen ?? (tensor(0, { device, dtype }) as Tensor);
  const seen = seenBefore.add(rows) as Tensor;
  const batchMean = batch.mean({ axis: 0 }) as Tensor;
  const mean = (
    before
      ? before.mean
          .mul(seenBefore)
          .add(batch.sum({ axis: 0 }))
          .div(seen)
      : batchMean
  ) as Tensor;
  const batchSquares = batch.sub(batchMean).square().sum({ axis: 0 });
  const shift = before ? before.mean.sub(batchMean) : null;
  const between = shift ? shift.square().mul(seenBefore.mul(rows).div(seen)) : null;
  const squares = before && between ? before.variance.mul(seenBefore).add(batchSquares).add(between) : batchSquares;
  const parts = [batch.sub(batchMean)];
  if (before && shift) {
    parts.unshift(before.components.mul(before.singularValues.expandDims(1)));
    parts.push(shift.mul(seenBefore.mul(rows).div(seen).sqrt()).expandDims(0));
  }
  const joined = (parts.length > 1 ? concat(parts) : parts[0]) as Tensor;
  const most = Math.min(joined.shape[0] as number, features);
  const { values, rows: all } = spectrumOf(joined, most, { svdSolver: "full" });
  const explained = values.square().div(seen.sub(1).maximum(1)) as Tensor;
  const total = squares.sum();
  const isRest = count < most;
  return {
    components: all.at(`:${count}`) as Tensor,
    explainedVariance: explained.at(`:${count}`) as Tensor,
    explainedVarianceRatio: values.square().div(total).at(`:${count}`) as Tensor,
    singularValues: values.at(`:${count}`) as Tensor,
    mean,
    noiseVariance: (isRest ? explained.at(`${count}:`).mean() : total.mul(0)) as Tensor,
    variance: squares.div(seen) as Tensor,
    samplesSeen: seen,
  };
}

interface PartialFitMethods {
  /** The model that has also seen these samples. */
  partialFit(model: Fitted<IncrementalPcaLearned, IncrementalPcaOptions>, samples: Samples): IncrementalPcaModel;
  readonly [name: string]: Method;
}

type Methods = typeof pcaMethods & PartialFitMethods;

/** A model of `incrementalPca`. */
export type IncrementalPcaModel = Model<
  IncrementalPcaLearned,
  IncrementalPcaOptions,
  TransformMethods<IncrementalPcaLearned, IncrementalPcaOptions> & Methods
>;

const methods: Methods = {
  ...pcaMethods,
  partialFit(model, samples) {
    const batch = samplesFor(model, "partialFit", samples);
    const { options, features, classes, learned } = model;
    const count = learned.components.shape[0] as number;
    return incrementalPca.model(updated(learned, batch, count), options, { features, classes });
  },
};

/** Batches of a size; a rest that has fewer samples than components goes with the batch before it. */
function batchesOf(samples: number, size: number, count: number): readonly (readonly [number, number])[] {
  const batches: [number, number][] = [];
  for (let from = 0; from < samples; ) {
    const to = samples - (from + size) < count ? samples : from + size;
    batches.push([from, to]);
    from = to;
  }
  return batches;
}

/** Principal components learned batch by batch. */
export const incrementalPca = transformer<IncrementalPcaLearned, IncrementalPcaOptions, Methods>({
  kind: "incrementalPca",
  options: { nComponents: "number", batchSize: "number", whiten: "flag" },
  takesWeights: false,
  learn({ x }, { nComponents, batchSize }) {
    const [samples, features] = x.shape as [number, number];
    const size = Math.min(samples, batchSize ?? 5 * features);
    const most = Math.min(size, features);
    checkWholeSetting("incrementalPca.fit", "batchSize", size, samples);
    const count = checkWholeSetting("incrementalPca.fit", "nComponents", nComponents ?? most, most);
    let state: IncrementalPcaLearned | null = null;
    for (const [from, to] of batchesOf(samples, size, count)) {
      state = updated(state, x.at(`${from}:${to}`) as Tensor, count);
    }
    return state as IncrementalPcaLearned;
  },
  transform: projected,
  methods,
});
