/**
 * Covariances of features: as they are, and drawn towards a multiple of the identity, which is better where samples are few (Ledoit &
 * Wolf 2004; Chen et al. 2010). Closed forms, so that fits trace.
 */
import { slogdet } from "../../linalg/determinant.js";
import { pinv } from "../../linalg/least-squares.js";
import { eye, minimum, type Tensor, where, zeros } from "../../tensor/index.js";
import { type Data, estimator } from "../core/estimator.js";
import type { Fitted } from "../core/model.js";
import type { Samples } from "../core/samples.js";
import { checkAmount } from "../core/settings.js";
import { noTargets, samplesFor } from "../core/sorts.js";

/** Options of every covariance. */
export interface CovarianceOptions {
  /** False unless told. True: the mean of the samples is taken to be zero. */
  readonly assumeCentered?: boolean;
}

/** The mean, [features], the covariance and its inverse, [features, features], and how far it was drawn to the identity, 0 to 1. */
export interface CovarianceLearned {
  readonly location: Tensor;
  readonly covariance: Tensor;
  readonly precision: Tensor;
  readonly shrinkage: Tensor;
  readonly [name: string]: Tensor;
}

const methods = {
  /** Squared Mahalanobis distances of samples from the mean, [samples]. */
  mahalanobis(model: Fitted<CovarianceLearned>, samples: Samples): Tensor {
    const { location, precision } = model.learned;
    const offset = samplesFor(model, "mahalanobis", samples).sub(location);
    return offset.matmul(precision).mul(offset).sum({ axis: 1 }) as Tensor;
  },
  /** The mean log-likelihood of samples under a normal distribution with this mean and covariance. */
  score(model: Fitted<CovarianceLearned>, samples: Samples): Tensor {
    const { location, precision } = model.learned;
    const offset = samplesFor(model, "score", samples).sub(location) as Tensor;
    const found = offset.T.matmul(offset).div(offset.shape[0] as number);
    const features = precision.shape[0] as number;
    return slogdet(precision)
      .logAbsDet.sub(found.mul(precision).sum())
      .sub(features * Math.log(2 * Math.PI))
      .div(2) as Tensor;
  },
};

/** Samples less their mean, the mean, and the share of each sample, [samples, 1]. */
interface Offsets {
  readonly x: Tensor;
  readonly location: Tensor;
  readonly covariance: Tensor;
}

function offsets({ x, weights }: Data, { assumeCentered = false }: CovarianceOptions): Offsets {
  const [samples, features] = x.shape as [number, number];
  const share = weights ? (weights.div(weights.sum()).expandDims(1) as Tensor) : null;
  const mean = (share ? x.mul(share).sum({ axis: 0 }) : x.mean({ axis: 0 })) as Tensor;
  const location = assumeCentered ? (zeros([features], { device: x.device, dtype: x.dtype }) as Tensor) : mean;
  const offset = x.sub(location) as Tensor;
  const covariance = (share ? offset.mul(share).T.matmul(offset) : offset.T.matmul(offset).div(samples)) as Tensor;
  return { x: offset, location, covariance };
}

/** The mean of the variances: what the identity is multiplied by. */
const meanVariance = (covariance: Tensor): Tensor => covariance.diagonal().mean() as Tensor;

/** (1 − shrinkage) · covariance + shrinkage · (mean variance) · identity. */
export function shrunk(covariance: Tensor, shrinkage: Tensor | number): Tensor {
  const unit = eye(covariance.shape[0] as number, { device: covariance.device, dtype: covariance.dtype });
  const part = typeof shrinkage === "number" ? 1 - shrinkage : shrinkage.neg().add(1);
  return covariance.mul(part).add(unit.mul(meanVariance(covariance).mul(shrinkage))) as Tensor;
}

/**
 * Ledoit and Wolf's shrinkage of a covariance. `fourth`: the mean fourth power of the samples' distances from their mean; `samples`: how
 * many there are.
 */
export function ledoitWolfShrinkage(fourth: Tensor, covariance: Tensor, samples: Tensor | number): Tensor {
  const features = covariance.shape[0] as number;
  const mean = meanVariance(covariance);
  if (features === 1) return mean.mul(0) as Tensor;
  const squares = covariance.square().sum();
  const spread = squares.sub(mean.square().mul(features)).div(features);
  const noise = minimum(fourth.sub(squares).div(samples).div(features), spread);
  return where(noise.equal(0), 0, noise.div(where(noise.equal(0), 1, spread))) as Tensor;
}

/** The shrinkage of Chen et al.: better than Ledoit and Wolf's for normal samples. */
function oasShrinkage(x: Tensor, covariance: Tensor): Tensor {
  const [samples, features] = x.shape as [number, number];
  const mean = meanVariance(covariance);
  if (features === 1) return mean.mul(0) as Tensor;
  const squares = covariance.square().mean();
  const over = squares.sub(mean.square().div(features)).mul(samples + 1);
  return where(over.equal(0), 1, minimum(squares.add(mean.square()).div(where(over.equal(0), 1, over)), 1)) as Tensor;
}

/** A kind of covariance, by the rule of its shrinkage. */
const covarianceKind = <O extends CovarianceOptions>(
  kind: string,
  own: { readonly [K in Exclude<keyof O, keyof CovarianceOptions>]: "any" },
  shrinkageOf: (x: Tensor, covariance: Tensor, options: O) => Tensor | number,
  more: { check?(options: O): void; readonly takesWeights?: boolean } = {},
) =>
  estimator<Parameters<typeof noTargets.trace>[1], CovarianceLearned, O, typeof methods>({
    kind,
    options: { assumeCentered: "flag", ...own } as never,
    targets: noTargets,
    ...more,
    learn(data, options) {
      const { x, location, covariance: plain } = offsets(data, options);
      const shrinkage = shrinkageOf(x, plain, options);
      const covariance = shrinkage === 0 ? plain : shrunk(plain, shrinkage);
      const part = typeof shrinkage === "number" ? meanVariance(plain).mul(0).add(shrinkage) : shrinkage;
      return { location, covariance, precision: pinv(covariance) as Tensor, shrinkage: part as Tensor };
    },
    methods,
  });

/** The covariance of the samples as it is: the likeliest under a normal distribution. */
export const empiricalCovariance = covarianceKind<CovarianceOptions>("empiricalCovariance", {}, () => 0);

/** Options of `shrunkCovariance`. */
export interface ShrunkCovarianceOptions extends CovarianceOptions {
  /** How far it is drawn to the identity: 0.1 unless told. A tensor, too, so that `vmap` can go over it. */
  readonly shrinkage?: number | Tensor;
}

/** The covariance drawn towards a multiple of the identity by a given part. */
export const shrunkCovariance = covarianceKind<ShrunkCovarianceOptions>(
  "shrunkCovariance",
  { shrinkage: "any" },
  (_x, _covariance, { shrinkage = 0.1 }) => shrinkage,
  {
    check({ shrinkage = 0.1 }) {
      checkAmount("shrunkCovariance", "shrinkage", shrinkage, 0, 1);
    },
  },
);

/** The covariance drawn towards a multiple of the identity by Ledoit and Wolf's rule, which has the least expected error for large samples. */
export const ledoitWolf = covarianceKind<CovarianceOptions>(
  "ledoitWolf",
  {},
  (x, covariance) =>
    ledoitWolfShrinkage(x.square().sum({ axis: 1 }).square().mean() as Tensor, covariance, x.shape[0] as number),
  { takesWeights: false },
);

/** The covariance drawn towards a multiple of the identity by the rule of Chen et al., which is for normal samples. */
export const oas = covarianceKind<CovarianceOptions>("oas", {}, oasShrinkage, { takesWeights: false });
