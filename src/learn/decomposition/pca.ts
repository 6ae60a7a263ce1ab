/**
 * Principal components (Pearson 1901; Tipping & Bishop 1999 for the likelihood): the directions in which samples vary most. spectrum.ts finds
 * them. A number of components that depends on the values ("mle", or a share of the variance) is read on the way; otherwise fits trace.
 */
import { checkChoice } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { concat, eye, maximum, type Tensor, where, zeros } from "../../tensor/index.js";
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
  const distance = offset.matmul(components.T).square().div(explainedVariance).sum({ axis: 1 });
  const volume = explainedVariance
    .log()
    .sum()
    .add(features * Math.log(2 * Math.PI));
  const rest = features - count;
  if (rest === 0) return distance.add(volume).mul(-0.5) as Tensor;
  // The difference of the squares would lose the digits of what is outside.
  const outside = outsideOf(offset as Tensor, components)
    .sum({ axis: 1 })
    .div(noiseVariance);
  return distance.add(outside).add(volume).add(noiseVariance.log().mul(rest)).mul(-0.5) as Tensor;
}

/** Squares of what components leave of centred samples. */
const outsideOf = (offset: Tensor, components: Tensor): Tensor =>
  offset.sub(offset.matmul(components.T).matmul(components)).square() as Tensor;

/** The facts of samples besides their spectrum: their mean, and the centred samples, unless the spectrum is whole. */
interface Spread {
  readonly mean: Tensor;
  readonly offset: Tensor | null;
}

/** What is learned from singular values: all, or the first of them, which takes the centred samples, too. */
function pcaLearned(
  { values, rows }: { readonly values: Tensor; readonly rows: Tensor },
  { mean, offset }: Spread,
  samples: number,
  count: number,
): PcaLearned {
  const features = rows.shape[1] as number;
  const divisor = Math.max(1, samples - 1);
  const found = withoutRounding(values, samples - 1);
  const explained = found.square().div(divisor) as Tensor;
  const [kept, components] = [explained.at(`:${count}`), rows.at(`:${count}`)] as [Tensor, Tensor];
  const most = Math.min(samples, features);
  const isWhole = (values.shape[0] as number) >= most;
  // A whole spectrum tells the variance of all features together; else it takes one more pass over the samples.
  const total = isWhole || !offset ? explained.sum() : offset.square().sum().div(divisor);
  // The difference of the sums would lose the digits of a small rest.
  const rest = isWhole || !offset ? explained.at(`${count}:`).sum() : outsideOf(offset, components).sum().div(divisor);
  const noise = most > count ? rest.div(most - count) : total.mul(0);
  return {
    components,
    explainedVariance: kept,
    explainedVarianceRatio: kept.div(where(total.equal(0), 1, total)) as Tensor,
    singularValues: found.at(`:${count}`) as Tensor,
    mean,
    noiseVariance: noise as Tensor,
  };
}

/** Centred samples span one direction less than there are samples: a singular value beyond is zero, and what is found there is rounding. */
function withoutRounding(values: Tensor, most: number): Tensor {
  const beyond = (values.shape[0] as number) - most;
  if (beyond <= 0) return values;
  const { device, dtype } = values;
  return concat([values.at(`:${most}`), zeros([beyond], { device, dtype })]) as Tensor;
}

function learned(x: Tensor, options: PcaOptions, count: number): PcaLearned {
  const samples = x.shape[0] as number;
  const mean = x.mean({ axis: 0 }) as Tensor;
  const offset = x.sub(mean) as Tensor;
  return pcaLearned(spectrumOf(offset, count, options), { mean, offset }, samples, count);
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
  const spectrum = { values: whole.singularValues, rows: whole.components };
  return pcaLearned(spectrum, { mean: whole.mean, offset: null }, samples, count);
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
    if (nComponents === "mle" || nComponents < 1) return () => choosing(x, options);
    checkWholeSetting("pca.fit", "nComponents", nComponents, Math.min(samples, features));
    return learned(x, options, nComponents);
  },
  transform: projected,
  methods: pcaMethods,
});
