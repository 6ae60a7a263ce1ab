/**
 * Principal components (Pearson 1901; Tipping & Bishop 1999 for the likelihood): the directions in which samples vary most. spectrum.ts finds
 * them. A number of components that depends on the values ("mle", or a share of the variance) is read on the way; otherwise fits trace.
 */
import { checkChoice } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { eye, maximum, type Tensor, where } from "../../tensor/index.js";
import type { Learning } from "../core/estimator.js";
import type { Fitted } from "../core/model.js";
import type { Samples } from "../core/samples.js";
import { checkWholeSetting } from "../core/settings.js";
import { samplesFor, transformer } from "../core/sorts.js";
import { rankByEvidence } from "./evidence.js";
import { type SpectrumOptions, spectrumOf } from "./spectrum.js";

/** Options of `pca`. */
export interface PcaOptions extends SpectrumOptions {
  /**
   * The number of components: all unless told. A number between 0 and 1 asks for as many as explain more than this share of the
   * variance, "mle" for Minka's choice (2000).
   */
  readonly nComponents?: number | "mle";
  /** False unless told. True: the columns of transformed samples have variance 1. */
  readonly whiten?: boolean;
}

/** Components as rows, [components, features], the variance along each, its share of the whole, and the mean that is taken away. */
export interface PcaLearned {
  readonly components: Tensor;
  readonly explainedVariance: Tensor;
  readonly explainedVarianceRatio: Tensor;
  readonly singularValues: Tensor;
  readonly mean: Tensor;
  /** The mean variance along the directions that were left out. */
  readonly noiseVariance: Tensor;
  readonly [name: string]: Tensor;
}

type PcaModel = Fitted<PcaLearned, { readonly whiten?: boolean }>;

/** Lengths of the columns of transformed samples before they are made 1; never zero. */
const lengths = ({ explainedVariance }: PcaLearned): Tensor =>
  where(explainedVariance.greater(0), explainedVariance, 1).sqrt() as Tensor;

/** Samples along the components. */
export const projected = (learned: PcaLearned, x: Tensor, { whiten }: { readonly whiten?: boolean }): Tensor => {
  const along = x.sub(learned.mean).matmul(learned.components.T) as Tensor;
  return whiten ? (along.div(lengths(learned)) as Tensor) : along;
};

/** The covariance of the model: components with their variances, and noise in all other directions. */
function modelCovariance({ components, explainedVariance, noiseVariance }: PcaLearned): Tensor {
  const features = components.shape[1] as number;
  const unit = eye(features, { device: components.device, dtype: components.dtype });
  const over = maximum(explainedVariance.sub(noiseVariance), 0).expandDims(1);
  return components.T.matmul(components.mul(over)).add(unit.mul(noiseVariance)) as Tensor;
}

/** Methods that `pca` and `incrementalPca` share. */
export const pcaMethods = {
  /** Samples back in their own columns; what was left out is lost. */
  inverseTransform(model: PcaModel, transformed: Tensor): Tensor {
    const { components, mean } = model.learned;
    const along = model.options.whiten ? transformed.mul(lengths(model.learned)) : transformed;
    return along.matmul(components).add(mean) as Tensor;
  },
  /** The covariance of features that the model stands for, [features, features]. */
  covariance: (model: PcaModel): Tensor => modelCovariance(model.learned),
  /** The log-likelihood of each sample, [samples], of probabilistic principal components. */
  scoreSamples: (model: PcaModel, samples: Samples): Tensor =>
    logLikelihood(model.learned, samplesFor(model, "scoreSamples", samples)),
  /** The mean log-likelihood of samples. */
  score: (model: PcaModel, samples: Samples): Tensor =>
    logLikelihood(model.learned, samplesFor(model, "score", samples)).mean() as Tensor,
};

/** By components: along each its own variance, in the rest the noise; nothing is inverted. */
function logLikelihood(learned: PcaLearned, x: Tensor): Tensor {
  const { components, explainedVariance, noiseVariance, mean } = learned;
  const [count, features] = components.shape as [number, number];
  const offset = x.sub(mean);
  const along = offset.matmul(components.T).square();
  const distance = along.div(explainedVariance).sum({ axis: 1 });
  const volume = explainedVariance
    .log()
    .sum()
    .add(features * Math.log(2 * Math.PI));
  const rest = features - count;
  if (rest === 0) return distance.add(volume).mul(-0.5) as Tensor;
  const outside = maximum(
    offset
      .square()
      .sum({ axis: 1 })
      .sub(along.sum({ axis: 1 })),
    0,
  ).div(noiseVariance);
  return distance.add(outside).add(volume).add(noiseVariance.log().mul(rest)).mul(-0.5) as Tensor;
}

/** What is learned from singular values, all or the first of them. `total`: the variance of all features together. */
function pcaLearned(
  { values, rows }: { readonly values: Tensor; readonly rows: Tensor },
  mean: Tensor,
  total: Tensor,
  samples: number,
  count: number,
): PcaLearned {
  const features = rows.shape[1] as number;
  const explained = values.square().div(Math.max(1, samples - 1)) as Tensor;
  const [kept, components] = [explained.at(`:${count}`), rows.at(`:${count}`)] as [Tensor, Tensor];
  const most = Math.min(samples, features);
  const isWhole = (values.shape[0] as number) >= most;
  // The difference of the sums would lose the digits of a small rest.
  const rest = isWhole ? explained.at(`${count}:`).sum() : maximum(total.sub(kept.sum()), 0);
  const noise = most > count ? rest.div(most - count) : total.mul(0);
  return {
    components,
    explainedVariance: kept,
    explainedVarianceRatio: kept.div(where(total.equal(0), 1, total)) as Tensor,
    singularValues: values.at(`:${count}`) as Tensor,
    mean,
    noiseVariance: noise as Tensor,
  };
}

function learned(x: Tensor, options: PcaOptions, count: number): PcaLearned {
  const samples = x.shape[0] as number;
  const mean = x.mean({ axis: 0 }) as Tensor;
  const offset = x.sub(mean) as Tensor;
  const total = offset
    .square()
    .sum()
    .div(Math.max(1, samples - 1)) as Tensor;
  return pcaLearned(spectrumOf(offset, count, options), mean, total, samples, count);
}

/** All components are computed, and their variances read, to see how many are asked for. */
async function choosing(x: Tensor, options: PcaOptions): Promise<PcaLearned> {
  const [samples, features] = x.shape as [number, number];
  const most = Math.min(samples, features);
  const solver = options.svdSolver === "randomized" ? "auto" : (options.svdSolver ?? "auto");
  const whole = learned(x, { ...options, svdSolver: solver }, most);
  const variances = Array.from((await whole.explainedVariance.cast("f64").data()) as Float64Array);
  const count =
    options.nComponents === "mle"
      ? rankByEvidence(variances, samples)
      : countOfShare(variances, options.nComponents as number);
  const total = whole.explainedVariance.sum() as Tensor;
  return pcaLearned({ values: whole.singularValues, rows: whole.components }, whole.mean, total, samples, count);
}

/** The fewest whose variances are more than a share of the whole. */
function countOfShare(variances: readonly number[], share: number): number {
  const total = variances.reduce((sum, each) => sum + each, 0);
  let sum = 0;
  const place = variances.findIndex((each) => {
    sum += each;
    return sum > share * total;
  });
  return place < 0 ? variances.length : place + 1;
}

/** The directions in which samples vary most. */
export const pca = transformer<PcaLearned, PcaOptions, typeof pcaMethods>({
  kind: "pca",
  options: { nComponents: "any", whiten: "flag", svdSolver: "text", iteratedPower: "number", seed: "number" },
  takesWeights: false,
  check({ nComponents, svdSolver }) {
    checkChoice("pca", "svdSolver", svdSolver, ["auto", "full", "covariance", "randomized"]);
    if (nComponents === undefined || nComponents === "mle") return;
    const isShare = typeof nComponents === "number" && nComponents > 0 && nComponents < 1;
    if (isShare || (Number.isSafeInteger(nComponents) && (nComponents as number) >= 1)) return;
    throw new ArgumentError(
      `pca: nComponents is ${shown(nComponents)}; it is a whole number, a share of the variance between 0 and 1, or "mle".`,
    );
  },
  learn({ x }, options): Learning<PcaLearned> {
    const [samples, features] = x.shape as [number, number];
    const { nComponents = Math.min(samples, features) } = options;
    if (nComponents === "mle" && samples < features) {
      throw new ArgumentError(
        `pca.fit: nComponents "mle" needs as many samples as features at least, and there are ${samples} and ${features}.`,
      );
    }
    if (nComponents === "mle" || nComponents < 1) return choosing(x, options);
    checkWholeSetting("pca.fit", "nComponents", nComponents, Math.min(samples, features));
    return learned(x, options, nComponents);
  },
  transform: projected,
  methods: pcaMethods,
});
