/**
 * Factor analysis: samples are mixtures of a few normal factors, and each feature has noise of its own. Where all noises are equal this is
 * `pca`. The likeliest loadings by an iteration over the noise (Barber 2012, 21.1), on the covariance of the features, one loop on the
 * device.
 */
import { checkChoice, checkWhole } from "../../core/arguments.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { slogdet } from "../../linalg/determinant.js";
import { eigh } from "../../linalg/eigh.js";
import { inv } from "../../linalg/lu.js";
import { svd } from "../../linalg/svd.js";
import { eye, full, type Tensor, tensor, where } from "../../tensor/index.js";
import { whileLoop } from "../../transforms/control.js";
import type { Fitted } from "../core/model.js";
import type { Samples } from "../core/samples.js";
import { checkAmount, checkWholeSetting } from "../core/settings.js";
import { samplesFor, transformer } from "../core/sorts.js";

/** Options of `factorAnalysis`. */
export interface FactorAnalysisOptions {
  /** The number of factors: as many as samples or features allow unless told. */
  readonly nComponents?: number;
  /** The growth of the log-likelihood at which the search ends: 0.01 unless told. */
  readonly tol?: number;
  /** Rounds at most: 1000 unless told. */
  readonly maxIter?: number;
  /** The variance of each feature's noise to begin with: 1 unless told. */
  readonly noiseVarianceInit?: readonly number[];
  /** Factors turned so that each has few large loadings ("varimax"), or each feature has ("quartimax"); not at all unless told. */
  readonly rotation?: "varimax" | "quartimax";
}

/** Loadings as rows, [factors, features], and the noise of each feature. */
export interface FactorAnalysisLearned {
  readonly components: Tensor;
  readonly mean: Tensor;
  readonly noiseVariance: Tensor;
  /** The log-likelihood of the samples of the fit. */
  readonly logLikelihood: Tensor;
  /** Rounds, i32. */
  readonly iterations: Tensor;
  readonly [name: string]: Tensor;
}

/** No noise is less. */
const LEAST = 1e-12;

const unitOf = (count: number, { device, dtype }: Tensor): Tensor => eye(count, { device, dtype }) as Tensor;

/** Loadings for noises psi, and the log-likelihood, from the covariance of the features. */
function loadings(covariance: Tensor, psi: Tensor, count: number, samples: number): { w: Tensor; likelihood: Tensor } {
  const features = psi.shape[0] as number;
  const roots = psi.sqrt().add(LEAST) as Tensor;
  const { eigenvalues, eigenvectors } = eigh(covariance.div(roots).div(roots.expandDims(1)) as Tensor);
  const falling = eigenvalues.flip(0).relu() as Tensor;
  const first = falling.at(`:${count}`) as Tensor;
  const over = first.sub(1).relu().sqrt().expandDims(1);
  const w = eigenvectors.T.flip(0).at(`:${count}`).mul(over).mul(roots) as Tensor;
  const unexplained = falling.sum().sub(first.sum());
  const logs = first.maximum(1e-30).log().sum().add(psi.log().sum());
  const constant = features * Math.log(2 * Math.PI) + count;
  return {
    w,
    likelihood: logs
      .add(unexplained)
      .add(constant)
      .mul(-samples / 2) as Tensor,
  };
}

function learned(x: Tensor, count: number, options: FactorAnalysisOptions): FactorAnalysisLearned {
  const { tol = 1e-2, maxIter = 1000, rotation } = options;
  const [samples, features] = x.shape as [number, number];
  const { device, dtype } = x;
  const mean = x.mean({ axis: 0 }) as Tensor;
  const offset = x.sub(mean) as Tensor;
  const covariance = offset.T.matmul(offset).div(samples) as Tensor;
  const variances = covariance.diagonal() as Tensor;
  const first = full([], Number.NEGATIVE_INFINITY, { device, dtype }) as Tensor;
  const end = whileLoop(
    ({ goesOn, round }) => goesOn.logicalAnd(round.less(maxIter)) as Tensor,
    ({ psi, likelihood, round }) => {
      const found = loadings(covariance, psi, count, samples);
      const goesOn = found.likelihood.sub(likelihood).greaterEqual(tol) as Tensor;
      const next = variances.sub(found.w.square().sum({ axis: 0 })).maximum(LEAST);
      return {
        w: found.w,
        // The noise of the last loadings stays, as in scikit-learn.
        psi: where(goesOn, next, psi) as Tensor,
        likelihood: found.likelihood,
        goesOn,
        round: round.add(1) as Tensor,
      };
    },
    {
      w: offset.at(0).broadcastTo([count, features]).mul(0) as Tensor,
      psi: noiseOf(options, x),
      likelihood: first,
      goesOn: full([], true, { device, dtype: "bool" }) as Tensor,
      round: full([], 0, { device, dtype: "i32" }) as Tensor,
    },
  );
  return {
    components: rotation ? rotated(end.w, rotation) : end.w,
    mean,
    noiseVariance: end.psi,
    logLikelihood: end.likelihood,
    iterations: end.round,
  };
}

function noiseOf({ noiseVarianceInit }: FactorAnalysisOptions, x: Tensor): Tensor {
  const { device, dtype } = x;
  const features = x.shape[1] as number;
  if (noiseVarianceInit === undefined) return full([features], 1, { device, dtype }) as Tensor;
  if (noiseVarianceInit.length === features) return tensor([...noiseVarianceInit], { device, dtype }) as Tensor;
  throw new ShapeError(
    `factorAnalysis.fit: noiseVarianceInit has ${noiseVarianceInit.length} numbers, and there are ${features} features.`,
  );
}

/** Loadings turned to few large ones (Kaiser 1958), by singular vectors until their sum grows no more. */
function rotated(w: Tensor, rotation: "varimax" | "quartimax"): Tensor {
  const [count, features] = w.shape as [number, number];
  const { device, dtype } = w;
  const rows = w.T as Tensor;
  const { turn } = whileLoop(
    ({ goesOn, round }) => goesOn.logicalAnd(round.less(100)) as Tensor,
    ({ turn, size, round }) => {
      const turned = rows.matmul(turn) as Tensor;
      const mean = turned.square().sum({ axis: 0 }).div(features);
      const wanted = rotation === "varimax" ? turned.pow(3).sub(turned.mul(mean)) : turned.pow(3);
      const { u, s, vh } = svd(rows.T.matmul(wanted) as Tensor);
      const next = s.sum() as Tensor;
      return {
        turn: u.matmul(vh) as Tensor,
        size: next,
        goesOn: size.equal(0).logicalOr(next.greaterEqual(size.mul(1 + 1e-6))) as Tensor,
        round: round.add(1) as Tensor,
      };
    },
    {
      turn: unitOf(count, w),
      size: full([], 0, { device, dtype }) as Tensor,
      goesOn: full([], true, { device, dtype: "bool" }) as Tensor,
      round: full([], 0, { device, dtype: "i32" }) as Tensor,
    },
  );
  return rows.matmul(turn).T as Tensor;
}

/** The inverse of the covariance of the factors, given a sample: I + W Ψ⁻¹ Wᵀ. */
const factorPrecision = ({ components, noiseVariance }: FactorAnalysisLearned): Tensor =>
  components
    .div(noiseVariance)
    .matmul(components.T)
    .add(unitOf(components.shape[0] as number, components)) as Tensor;

const projected = (learned: FactorAnalysisLearned, x: Tensor): Tensor => {
  const { components, noiseVariance, mean } = learned;
  return x
    .sub(mean)
    .matmul(components.div(noiseVariance).T)
    .matmul(inv(factorPrecision(learned))) as Tensor;
};

const covarianceOf = ({ components, noiseVariance }: FactorAnalysisLearned): Tensor =>
  components.T.matmul(components).add(
    unitOf(noiseVariance.shape[0] as number, components).mul(noiseVariance),
  ) as Tensor;

/** Ψ⁻¹ − Ψ⁻¹ Wᵀ (I + W Ψ⁻¹ Wᵀ)⁻¹ W Ψ⁻¹: a small matrix is inverted. */
function precisionOf(learned: FactorAnalysisLearned): Tensor {
  const { components, noiseVariance } = learned;
  const scaled = components.div(noiseVariance) as Tensor;
  const unit = unitOf(noiseVariance.shape[0] as number, components);
  return unit.div(noiseVariance).sub(scaled.T.matmul(inv(factorPrecision(learned))).matmul(scaled)) as Tensor;
}

function scoresOf(learned: FactorAnalysisLearned, x: Tensor): Tensor {
  const precision = precisionOf(learned);
  const offset = x.sub(learned.mean);
  const distances = offset.matmul(precision).mul(offset).sum({ axis: 1 });
  // log |Σ| = log |I + W Ψ⁻¹ Wᵀ| + Σ log ψ.
  const volume = slogdet(factorPrecision(learned)).logAbsDet.add(learned.noiseVariance.log().sum());
  const constant = (learned.mean.shape[0] as number) * Math.log(2 * Math.PI);
  return distances.add(volume).add(constant).mul(-0.5) as Tensor;
}

type Model = Fitted<FactorAnalysisLearned, FactorAnalysisOptions>;

const methods = {
  /** The covariance of features that the model stands for, [features, features]. */
  covariance: (model: Model): Tensor => covarianceOf(model.learned),
  /** Its inverse. */
  precision: (model: Model): Tensor => precisionOf(model.learned),
  /** The log-likelihood of each sample, [samples]. */
  scoreSamples: (model: Model, samples: Samples): Tensor =>
    scoresOf(model.learned, samplesFor(model, "scoreSamples", samples)),
  /** The mean log-likelihood of samples. */
  score: (model: Model, samples: Samples): Tensor =>
    scoresOf(model.learned, samplesFor(model, "score", samples)).mean() as Tensor,
};

/** A few factors behind all features, and noise of each feature's own. */
export const factorAnalysis = transformer<FactorAnalysisLearned, FactorAnalysisOptions, typeof methods>({
  kind: "factorAnalysis",
  options: { nComponents: "number", tol: "number", maxIter: "number", noiseVarianceInit: "list", rotation: "text" },
  takesWeights: false,
  check({ tol = 0, maxIter = 1, noiseVarianceInit = [], rotation }) {
    checkChoice("factorAnalysis", "rotation", rotation, ["varimax", "quartimax"]);
    checkAmount("factorAnalysis", "tol", tol);
    checkWhole("factorAnalysis", "maxIter", maxIter, 1);
    if (noiseVarianceInit.every((each) => each > 0 && Number.isFinite(each))) return;
    throw new ArgumentError(
      `factorAnalysis: noiseVarianceInit is ${shown(noiseVarianceInit)}; variances are above zero.`,
    );
  },
  learn({ x }, options) {
    const most = Math.min(...(x.shape as [number, number]));
    const count = checkWholeSetting("factorAnalysis.fit", "nComponents", options.nComponents ?? most, most);
    return learned(x, count, options);
  },
  transform: projected,
  methods,
});
