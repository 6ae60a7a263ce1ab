/**
 * Gaussian process classification by Laplace's approximation (Rasmussen & Williams 2006, algorithms 3.1 and 3.2): the log-odds of the second
 * class are a function drawn under the kernel, and their distribution given the labels is taken for normal around its mode. More
 * than two classes are each held against the rest.
 */
import { checkChoice, checkWhole } from "../../core/arguments.js";
import { LinalgError } from "../../core/errors.js";
import { cholesky, choSolve, triangularSolve } from "../../linalg/triangular.js";
import { concat, eye, full, type Tensor, where } from "../../tensor/index.js";
import { whileLoop } from "../../transforms/control.js";
import { stopGradient } from "../../transforms/grad.js";
import type { Fitted, LearnedTree } from "../core/model.js";
import { classifier, probabilityMethods } from "../core/sorts.js";
import { checkSeveral } from "../linear/logistic.js";
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

/** Options of `gaussianProcessClassifier`. */
export interface GaussianProcessClassifierOptions extends ParameterSearchOptions {
  /** The covariance of the log-odds: `rbf()` with all parameters fixed unless told, as in scikit-learn. */
  readonly kernel?: Kernel;
  /** Rounds of Newton's method for the mode: 100 unless told. */
  readonly maxIterPredict?: number;
}

/** A class against the rest: the log-odds at the samples of the fit. */
interface LaplaceLearned extends LearnedTree {
  /** The logarithms of the kernel's parameters. */
  readonly parameters: KernelParameters;
  /** The slope of the log-likelihood at the mode, [samples]: the weights of samples in log-odds. */
  readonly slopes: Tensor;
  /** The roots of its curvature, [samples]. */
  readonly roots: Tensor;
  /** The Cholesky factor of 1 + roots · covariance · roots. */
  readonly factor: Tensor;
  readonly logMarginalLikelihood: Tensor;
}

/** What `gaussianProcessClassifier` learns. */
export interface GaussianProcessClassifierLearned extends LearnedTree {
  readonly samples: Tensor;
  /** The second of two classes, or each of more against the rest. */
  readonly against: readonly LaplaceLearned[];
  /** Of the labels; the mean over the classes of more than two. */
  readonly logMarginalLikelihood: Tensor;
}

const DEFAULT = product(constant(1, { valueBounds: "fixed" }), rbf(1, { lengthScaleBounds: "fixed" }));

/** The distribution of the log-odds after a step of Newton's method from `f`. */
function newtonStep(covariance: Tensor, isSecond: Tensor, f: Tensor) {
  const share = f.sigmoid() as Tensor;
  const slopes = isSecond.sub(share) as Tensor;
  const curvature = share.mul(share.neg().add(1)) as Tensor;
  const roots = curvature.sqrt() as Tensor;
  const scaled = covariance.mul(roots.expandDims(1)) as Tensor;
  const unit = eye(f.shape[0] as number, { device: f.device, dtype: f.dtype });
  const factor = cholesky(scaled.mul(roots).add(unit)) as Tensor;
  const right = curvature.mul(f).add(slopes) as Tensor;
  const solved = (choSolve(factor, scaled.matmul(right).expandDims(1) as Tensor) as Tensor).squeeze(1);
  const weights = right.sub(roots.mul(solved)) as Tensor;
  return { f: covariance.matmul(weights) as Tensor, weights, slopes, roots, factor };
}

/** log p(labels | f), less half of f · weights. */
const fitness = (isSecond: Tensor, f: Tensor, weights: Tensor): Tensor => {
  const sign = isSecond.mul(2).sub(1);
  const labels = sign.mul(f).neg().softplus().sum().neg();
  return labels.sub(f.mul(weights).sum().mul(0.5)) as Tensor;
};

/** The likeliest log-odds: Newton's method until the fit grows no more. */
function modeOf(covariance: Tensor, isSecond: Tensor, maxIter: number): Tensor {
  const { device, dtype } = covariance;
  const least = dtype === "f64" ? 1e-10 : 1e-5;
  const none = isSecond.mul(0) as Tensor;
  const end = whileLoop(
    ({ goesOn, count }) => goesOn.logicalAnd(count.less(maxIter)) as Tensor,
    ({ f, value, count }) => {
      const next = newtonStep(covariance, isSecond, f);
      const found = fitness(isSecond, next.f, next.weights);
      return {
        f: next.f,
        value: found,
        goesOn: found.sub(value).greaterEqual(least) as Tensor,
        count: count.add(1) as Tensor,
      };
    },
    {
      f: none,
      value: full([], -3e38, { device, dtype }) as Tensor,
      goesOn: full([], true, { device, dtype: "bool" }) as Tensor,
      count: full([], 0, { device, dtype: "i32" }) as Tensor,
    },
  );
  return end.f;
}

/** Labels as ones and zeros beside the samples. */
interface Labelled {
  readonly samples: Tensor;
  readonly isSecond: Tensor;
}

/**
 * Laplace's approximation. Gradients go through one step from the mode: at the mode it moves with the parameters exactly as the mode does, since
 * Newton's method forgets its start to first order.
 */
function approximated(kernel: Kernel, own: KernelParameters, { samples, isSecond }: Labelled, maxIter: number) {
  const covariance = autoCovariance(kernel, own, samples);
  const { f } = newtonStep(covariance, isSecond, stopGradient(modeOf(covariance, isSecond, maxIter)));
  const { weights, ...at } = newtonStep(covariance, isSecond, f);
  const likelihood = fitness(isSecond, f, weights).sub(at.factor.diagonal().log().sum()) as Tensor;
  return { ...at, likelihood };
}

/** Shares of error functions that add up to the logistic function (Williams & Barber 1998). */
const SCALES = [0.41, 0.4, 0.37, 0.44, 0.39];
const SHARES = [-1854.8214151, 3516.89893646, 221.29346712, 128.12323805, -2010.49422654];

/** The mean of the logistic function of normal log-odds. */
function meanShare(mean: Tensor, variance: Tensor): Tensor {
  const parts = SCALES.map((scale, i) => {
    const within = mean.mul(scale).div(
      variance
        .mul(2 * scale * scale)
        .add(1)
        .sqrt(),
    );
    return within
      .erf()
      .add(1)
      .mul((SHARES[i] as number) / 2) as Tensor;
  });
  return parts.reduce((a, b) => a.add(b) as Tensor).clip(0, 1) as Tensor;
}

/** The probability of each class, [samples, classes]. */
function probabilities(
  { samples, against }: GaussianProcessClassifierLearned,
  x: Tensor,
  { kernel = DEFAULT }: GaussianProcessClassifierOptions,
): Tensor {
  const at = x.cast(samples.dtype) as Tensor;
  const columns = against.map(({ parameters, slopes, roots, factor }) => {
    const cross = crossCovariance(kernel, parameters, samples, at);
    const explained = triangularSolve(factor, cross.mul(roots.expandDims(1)) as Tensor);
    const variance = variances(kernel, parameters, at)
      .sub(explained.square().sum({ axis: 0 }))
      .maximum(0);
    return meanShare(slopes.matmul(cross) as Tensor, variance as Tensor).expandDims(1) as Tensor;
  });
  if (columns.length === 1) {
    const [second] = columns as [Tensor];
    return concat([second.neg().add(1), second], { axis: 1 }) as Tensor;
  }
  const joint = concat(columns, { axis: 1 }) as Tensor;
  const total = joint.sum({ axis: 1, keepDims: true });
  // Where every class is impossible, none is more likely than another.
  const isNone = total.equal(0);
  return where(isNone, 1 / columns.length, joint.div(where(isNone, 1, total))) as Tensor;
}

const methods = {
  ...probabilityMethods<GaussianProcessClassifierLearned, GaussianProcessClassifierOptions>(
    (learned, x, options) => probabilities(learned, x, options).log() as Tensor,
  ),
  /** The logarithm of the likelihood of the labels, by the approximation; the mean over the classes of more than two. */
  logMarginalLikelihood: ({ learned }: Fitted<GaussianProcessClassifierLearned>): Tensor =>
    learned.logMarginalLikelihood,
};

/** Classification by a Gaussian process on the log-odds, with probabilities that know how far away the samples of the fit are. */
export const gaussianProcessClassifier = classifier<
  GaussianProcessClassifierLearned,
  GaussianProcessClassifierOptions,
  typeof methods
>({
  kind: "gaussianProcessClassifier",
  options: { ...SEARCH, kernel: "any", maxIterPredict: "number" },
  takesWeights: false,
  check(options) {
    const { kernel, optimizer, maxIterPredict = 100 } = options;
    if (kernel !== undefined) checkIsKernel("gaussianProcessClassifier", kernel);
    checkChoice("gaussianProcessClassifier", "optimizer", optimizer, ["lbfgs", "none"]);
    checkWhole("gaussianProcessClassifier", "maxIterPredict", maxIterPredict, 1);
    checkSearch("gaussianProcessClassifier", options);
  },
  learn({ x, y, classes, facts }, options) {
    const { kernel = DEFAULT, maxIterPredict = 100 } = options;
    checkSeveral("gaussianProcessClassifier", classes, facts.classes);
    checkPerFeature("gaussianProcessClassifier.fit", kernel, x.shape[1] as number);
    const likelihood = (own: KernelParameters, data: Labelled): Tensor =>
      approximated(kernel, own, data, maxIterPredict).likelihood;
    const one = (label: number): LaplaceLearned => {
      const data = { samples: x, isSecond: y.equal(label).cast(x.dtype) as Tensor };
      const parameters = likeliestParameters(kernel, x, data, likelihood, options);
      const {
        likelihood: logMarginalLikelihood,
        slopes,
        roots,
        factor,
      } = approximated(kernel, parameters, data, maxIterPredict);
      return { parameters, slopes, roots, factor, logMarginalLikelihood };
    };
    const against = classes === 2 ? [one(1)] : Array.from({ length: classes }, (_, label) => one(label));
    const total = against.map((each) => each.logMarginalLikelihood).reduce((a, b) => a.add(b) as Tensor);
    return { samples: x, against, logMarginalLikelihood: total.div(against.length) as Tensor };
  },
  async checkLearned(operation, { logMarginalLikelihood }) {
    if (Number.isFinite(Number(await logMarginalLikelihood.item()))) return;
    throw new LinalgError(
      `${operation}: the likelihood of the labels is no finite number; the kernel's values are too large.`,
    );
  },
  scores: probabilities,
  methods,
});
