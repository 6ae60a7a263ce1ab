/**
 * Gaussian process regression (Rasmussen & Williams 2006, algorithm 2.1): targets are a function drawn from a normal distribution of
 * functions, whose covariance is the kernel, with noise on top. Predictions are the function's mean and covariance given the samples. The
 * kernel's parameters are those under which the targets are likeliest.
 */
import { checkChoice, checkOptions, checkWhole } from "../../core/arguments.js";
import { ArgumentError, LinalgError, ShapeError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { eigh } from "../../linalg/eigh.js";
import { cholesky, choSolve, triangularSolve } from "../../linalg/triangular.js";
import { type Key, normal } from "../../random/index.js";
import { isTensor, type Tensor, tensor, where, zeros } from "../../tensor/index.js";
import type { Fitted, LearnedTree } from "../core/model.js";
import type { Samples } from "../core/samples.js";
import { regressor, samplesFor } from "../core/sorts.js";
import type { Uncertain } from "../linear/bayesian-ridge.js";
import {
  autoCovariance,
  checkIsKernel,
  checkPerFeature,
  crossCovariance,
  type KernelParameters,
  variances,
} from "./covariance.js";
import { constant, type Kernel, product, rbf } from "./kernel.js";
import { checkSearch, likeliestParameters, type ParameterSearchOptions, SEARCH } from "./parameter-search.js";

/** Options of `gaussianProcessRegressor`. */
export interface GaussianProcessRegressorOptions extends ParameterSearchOptions {
  /** The covariance of the function: `rbf()` with all parameters fixed unless told, as in scikit-learn. */
  readonly kernel?: Kernel;
  /** The variance of the noise, added to the diagonal: 1e-10 unless told. A list has one for each sample of the fit. */
  readonly alpha?: number | readonly number[] | Tensor;
  /** False unless told. True: targets are centred and scaled to variance 1 first, and predictions are scaled back. */
  readonly normalizeY?: boolean;
}

/** What `gaussianProcessRegressor` learns. */
export interface GaussianProcessRegressorLearned extends LearnedTree {
  /** The logarithms of the kernel's parameters. */
  readonly parameters: KernelParameters;
  readonly samples: Tensor;
  /** Targets as the process sees them, [samples, outputs]. */
  readonly targets: Tensor;
  /** The variance of each sample's noise, [samples]. */
  readonly noise: Tensor;
  /** The Cholesky factor of the covariance of the targets. */
  readonly factor: Tensor;
  /** The inverse of that covariance times the targets, [samples, outputs]. */
  readonly dualCoefficients: Tensor;
  readonly targetMean: Tensor;
  readonly targetScale: Tensor;
  readonly logMarginalLikelihood: Tensor;
}

type RegressorModel = Fitted<GaussianProcessRegressorLearned, GaussianProcessRegressorOptions>;

/** What is given to the process. */
interface Observed {
  readonly samples: Tensor;
  readonly targets: Tensor;
  readonly noise: Tensor;
}

const DEFAULT = product(constant(1, { valueBounds: "fixed" }), rbf(1, { lengthScaleBounds: "fixed" }));

const kernelOf = ({ kernel = DEFAULT }: GaussianProcessRegressorOptions): Kernel => kernel;

/** The process after the samples: factor, dual coefficients and the likelihood of the targets. */
function conditioned(kernel: Kernel, parameters: KernelParameters, { samples, targets, noise }: Observed) {
  const covariance = autoCovariance(kernel, parameters, samples);
  const [count, outputs] = targets.shape as [number, number];
  const factor = cholesky(withDiagonal(covariance, withJitter(noise, covariance))) as Tensor;
  const dual = choSolve(factor, targets) as Tensor;
  const volume = factor.diagonal().log().sum().mul(outputs);
  const likelihood = targets
    .mul(dual)
    .sum()
    .mul(-0.5)
    .sub(volume)
    .sub(0.5 * outputs * count * Math.log(2 * Math.PI)) as Tensor;
  return { factor, dual, likelihood };
}

const withDiagonal = (matrix: Tensor, diagonal: Tensor): Tensor => {
  const { device } = matrix;
  const places = zeros([matrix.shape[0] as number], { device, dtype: "i32" })
    .add(1)
    .cumsum()
    .sub(1);
  const isDiagonal = places.expandDims(1).equal(places);
  return matrix.add(where(isDiagonal, diagonal, 0)) as Tensor;
};

/** In f32 the sums of a factorisation are off by some of the last digits: noise of that size keeps smooth kernels positive definite. */
function withJitter(noise: Tensor, covariance: Tensor): Tensor {
  if (covariance.dtype === "f64") return noise;
  const count = covariance.shape[0] as number;
  return noise.add(
    covariance
      .diagonal()
      .mean()
      .mul(count * 2 ** -23),
  ) as Tensor;
}

/** The noise of each sample, [samples]. */
function noiseOf(alpha: number | readonly number[] | Tensor, x: Tensor): Tensor {
  const { device, dtype } = x;
  const given = isTensor(alpha)
    ? (alpha.cast(dtype) as Tensor)
    : (tensor(alpha as number[], { device, dtype }) as Tensor);
  const count = x.shape[0] as number;
  if (given.rank === 0) return given.broadcastTo([count]) as Tensor;
  if (given.rank === 1 && given.shape[0] === count) return given;
  throw new ShapeError(`gaussianProcessRegressor.fit: there are ${given.size} numbers in alpha and ${count} samples.`);
}

interface Predicted {
  readonly mean: Tensor;
  /** L⁻¹ times the covariances of the samples of the fit with new ones. */
  readonly explained: Tensor;
}

function meanAt({ learned, options }: Pick<RegressorModel, "learned" | "options">, x: Tensor): Predicted {
  const { parameters, samples, dualCoefficients, targetMean, targetScale, factor } = learned;
  const cross = crossCovariance(kernelOf(options), parameters, samples, x.cast(samples.dtype) as Tensor);
  const mean = cross.T.matmul(dualCoefficients).mul(targetScale).add(targetMean) as Tensor;
  return { mean: alone(mean, learned), explained: triangularSolve(factor, cross) as Tensor };
}

/** One output is no axis where targets were a list. */
const alone = (values: Tensor, { targetMean }: GaussianProcessRegressorLearned): Tensor =>
  (targetMean.rank === 0 ? values.squeeze(1) : values) as Tensor;

/** A mean with the covariance of all samples, [samples, samples], or with several outputs [samples, samples, outputs]. */
export interface JointlyUncertain {
  readonly mean: Tensor;
  readonly covariance: Tensor;
}

function covarianceAt(model: RegressorModel, x: Tensor): JointlyUncertain & { readonly unscaled: Tensor } {
  const { parameters, samples, targetScale } = model.learned;
  const { mean, explained } = meanAt(model, x);
  const own = autoCovariance(kernelOf(model.options), parameters, x.cast(samples.dtype) as Tensor);
  const unscaled = own.sub(explained.T.matmul(explained)) as Tensor;
  const squares = targetScale.square();
  const covariance = (targetScale.rank === 0 ? unscaled.mul(squares) : unscaled.expandDims(2).mul(squares)) as Tensor;
  return { mean, covariance, unscaled };
}

/** Options of `sampleY`. */
export interface SampleYOptions {
  /** How many functions are drawn: 1 unless told. */
  readonly count?: number;
}

const methods = {
  /** Predictions with their standard deviations, of the function without the noise of `alpha`; both [samples] or [samples, outputs]. */
  predictWithStd(model: RegressorModel, samples: Samples): Uncertain {
    const x = samplesFor(model, "predictWithStd", samples);
    const { parameters, targetScale } = model.learned;
    const { mean, explained } = meanAt(model, x);
    const own = variances(kernelOf(model.options), parameters, x.cast(explained.dtype) as Tensor);
    const variance = own.sub(explained.square().sum({ axis: 0 })).maximum(0);
    const std = variance.sqrt();
    return {
      mean,
      std: (targetScale.rank === 0 ? std.mul(targetScale) : std.expandDims(1).mul(targetScale)) as Tensor,
    };
  },
  /** Predictions with the covariance of all pairs of them. */
  predictWithCovariance(model: RegressorModel, samples: Samples): JointlyUncertain {
    const { mean, covariance } = covarianceAt(model, samplesFor(model, "predictWithCovariance", samples));
    return { mean, covariance };
  },
  /** Functions drawn given the samples of the fit: their values at samples, [samples, count], or [samples, outputs, count]. */
  sampleY(model: RegressorModel, samples: Samples, key: Key, options: SampleYOptions = {}): Tensor {
    checkOptions("gaussianProcessRegressor.sampleY", options, { count: "number" });
    const count = checkWhole("gaussianProcessRegressor.sampleY", "the count", options.count ?? 1, 1);
    const { mean, unscaled } = covarianceAt(model, samplesFor(model, "sampleY", samples));
    const { targetScale, targets } = model.learned;
    // The covariance often has no rank left: eigenvectors stand where a Cholesky factor would break.
    const { eigenvalues, eigenvectors } = eigh(unscaled);
    const root = eigenvectors.mul(eigenvalues.maximum(0).sqrt()) as Tensor;
    const [size, outputs] = [mean.shape[0] as number, targets.shape[1] as number];
    const drawn = normal(key, [size, outputs * count]).cast(root.dtype);
    const parts = root.matmul(drawn).reshape([size, outputs, count]);
    if (targetScale.rank === 0) return parts.squeeze(1).mul(targetScale).add(mean.expandDims(1)) as Tensor;
    return parts.mul(targetScale.expandDims(1)).add(mean.expandDims(2)) as Tensor;
  },
  /** The logarithm of the likelihood of the targets under other parameters of the kernel; `grad` goes through them. */
  logMarginalLikelihood: (model: RegressorModel, parameters?: KernelParameters): Tensor =>
    conditioned(kernelOf(model.options), parameters ?? model.learned.parameters, model.learned).likelihood,
};

/** Throws where the covariance of the targets was not positive definite. */
async function checkLikelihood(
  operation: string,
  { logMarginalLikelihood }: { readonly logMarginalLikelihood: Tensor },
): Promise<void> {
  if (Number.isFinite(Number(await logMarginalLikelihood.item()))) return;
  const { dtype } = logMarginalLikelihood;
  throw new LinalgError(
    `${operation}: the covariance of the samples is not positive definite in ${dtype}; samples stand twice or the kernel is too ` +
      `smooth for its noise. Raise alpha, or add kernels.white()${dtype === "f64" ? "." : ', or fit with { dtype: "f64" }.'}`,
  );
}

function checkAlpha(alpha: unknown): void {
  const list = Array.isArray(alpha) ? alpha : [alpha];
  if (isTensor(alpha) || list.every((each) => typeof each === "number" && each >= 0 && Number.isFinite(each))) return;
  throw new ArgumentError(
    `gaussianProcessRegressor: alpha is ${shown(alpha)}; it is a variance, zero or more, or a list of one for each sample.`,
  );
}

/** Regression by a Gaussian process: predictions that tell how certain they are. */
export const gaussianProcessRegressor = regressor<
  GaussianProcessRegressorLearned,
  GaussianProcessRegressorOptions,
  typeof methods
>({
  kind: "gaussianProcessRegressor",
  options: { ...SEARCH, kernel: "any", alpha: "any", normalizeY: "flag" },
  takesWeights: false,
  check(options) {
    const { kernel, alpha = 1e-10, optimizer } = options;
    if (kernel !== undefined) checkIsKernel("gaussianProcessRegressor", kernel);
    checkChoice("gaussianProcessRegressor", "optimizer", optimizer, ["lbfgs", "none"]);
    checkSearch("gaussianProcessRegressor", options);
    checkAlpha(alpha);
  },
  learn({ x, y }, options) {
    const kernel = kernelOf(options);
    checkPerFeature("gaussianProcessRegressor.fit", kernel, x.shape[1] as number);
    const isList = y.rank === 1;
    const columns = (isList ? y.expandDims(1) : y) as Tensor;
    const { mean, scale } = scaling(columns, options.normalizeY ?? false);
    const observed: Observed = {
      samples: x,
      targets: columns.sub(mean).div(scale) as Tensor,
      noise: noiseOf(options.alpha ?? 1e-10, x),
    };
    const likelihood = (own: KernelParameters, given: Observed): Tensor => conditioned(kernel, own, given).likelihood;
    const parameters = likeliestParameters(kernel, x, observed, likelihood, options);
    const found = conditioned(kernel, parameters, observed);
    return {
      parameters,
      ...observed,
      factor: found.factor,
      dualCoefficients: found.dual,
      targetMean: (isList ? mean.squeeze(0) : mean) as Tensor,
      targetScale: (isList ? scale.squeeze(0) : scale) as Tensor,
      logMarginalLikelihood: found.likelihood,
    };
  },
  checkLearned: checkLikelihood,
  predict: (learned, x, options) => meanAt({ learned, options }, x).mean,
  methods,
});

/** The mean and the spread of targets, [outputs]; 0 and 1 where they stay as they are. */
function scaling(y: Tensor, isScaled: boolean): { readonly mean: Tensor; readonly scale: Tensor } {
  const none = y.at(0).mul(0) as Tensor;
  if (!isScaled) return { mean: none, scale: none.add(1) as Tensor };
  const spread = y.std({ axis: 0 });
  return { mean: y.mean({ axis: 0 }) as Tensor, scale: where(spread.equal(0), 1, spread) as Tensor };
}
