/**
 * Mixtures of normal distributions, learned by expectation and maximisation (expectation.ts) from the clusters of k-means or from shares that
 * are drawn, several times where that is asked for. Nothing is read on the way, so fits trace.
 */
import { checkChoice, checkWhole } from "../../core/arguments.js";
import { ArgumentError, LinalgError, ShapeError } from "../../core/errors.js";
import { formatShape } from "../../core/shape.js";
import { cholesky } from "../../linalg/triangular.js";
import { categorical, type Key, normal, split, uniform } from "../../random/index.js";
import { eye, isTensor, type Tensor, tensor } from "../../tensor/index.js";
import { kMeansOf } from "../cluster/k-means.js";
import { checkSeed } from "../cluster/k-means-options.js";
import { keyOf, type Seed } from "../cluster/seeding.js";
import { bestStart } from "../cluster/starts.js";
import type { Fitted } from "../core/model.js";
import type { Samples } from "../core/samples.js";
import { checkAmount, checkWholeSetting } from "../core/settings.js";
import { clusterer, samplesFor } from "../core/sorts.js";
import { type CovarianceType, covarianceShape, freeNumbers, precisionsOf, rootsOfPrecisions } from "./covariances.js";
import { expectationMaximization, jointLogs, type Mixture, maximized, type Rounds } from "./expectation.js";

/** Numbers as a tensor or as nested lists. */
type Numbers = Tensor | readonly unknown[];

/** Options of `gaussianMixture`. */
export interface GaussianMixtureOptions {
  /** The number of normal distributions: 1 unless told. */
  readonly nComponents?: number;
  /** "full" unless told: each has a covariance matrix. "tied": one for all. "diag": variances of features. "spherical": a variance each. */
  readonly covarianceType?: CovarianceType;
  /** The rise of the mean log-likelihood below which the fit ends: 1e-3 unless told. */
  readonly tol?: number;
  /** Added to all variances: 1e-6 unless told. */
  readonly regCovar?: number;
  /** Rounds at most: 100 unless told. */
  readonly maxIter?: number;
  /** Starts of which the likeliest is kept: 1 unless told. */
  readonly nInit?: number;
  /** First shares: the clusters of k-means unless told, or drawn ("random"). */
  readonly initParams?: "k-means" | "random";
  /** First weights, [components]. */
  readonly weightsInit?: Numbers;
  /** First means, [components, features]. */
  readonly meansInit?: Numbers;
  /** First inverse covariances, shaped as `covarianceType` says. */
  readonly precisionsInit?: Numbers;
  /** Decides the random numbers: 0 unless told. A key (`random.key`), too, so that `vmap` can go over keys. */
  readonly seed?: Seed;
}

/** What `gaussianMixture` learns. */
export interface GaussianMixtureLearned {
  /** [components]. */
  readonly weights: Tensor;
  /** [components, features]. */
  readonly means: Tensor;
  /** [components, features, features]; [features, features] if tied, [components, features] if diag, [components] if spherical. */
  readonly covariances: Tensor;
  /** Roots of the inverse covariances: P with P Pᵀ = C⁻¹. */
  readonly precisionsCholesky: Tensor;
  /** The likeliest component of each sample of the fit, [samples], i32. */
  readonly labels: Tensor;
  /** The mean log-likelihood that the last round started from. */
  readonly lowerBound: Tensor;
  /** Rounds that were run, i32. */
  readonly iterations: Tensor;
  /** Whether the fit ended before `maxIter`, bool. */
  readonly converged: Tensor;
  readonly [name: string]: Tensor;
}

type MixtureModel = Fitted<GaussianMixtureLearned, GaussianMixtureOptions>;

const typeOf = ({ covarianceType = "full" }: GaussianMixtureOptions): CovarianceType => covarianceType;

/** log weight + log density of samples as they are, [samples, components]. */
function logsOf({ learned, options }: MixtureModel, x: Tensor): Tensor {
  const { weights, means, covariances, precisionsCholesky: roots } = learned;
  return jointLogs(typeOf(options), x, { weights, means, covariances, roots });
}

/** -2 log-likelihood + a price for each number that is free. */
function criterion(model: MixtureModel, method: string, samples: Samples, price: (count: number) => number): Tensor {
  const x = samplesFor(model as Fitted<unknown, object>, method, samples);
  const [k, d] = model.learned.means.shape as [number, number];
  const free = freeNumbers(typeOf(model.options), k, d) + k * d + k - 1;
  const likelihood = logsOf(model, x).logsumexp({ axis: 1 }).sum();
  return likelihood.mul(-2).add(free * price(x.shape[0] as number)) as Tensor;
}

const methods = {
  /** The likeliest component of each sample, [samples], i32. */
  predict: (model: MixtureModel, samples: Samples): Tensor =>
    logsOf(model, samplesFor(model, "predict", samples))
      .argmax({ axis: 1 })
      .cast("i32") as Tensor,
  /** The probability of each component, [samples, components]. */
  predictProbability: (model: MixtureModel, samples: Samples): Tensor =>
    logsOf(model, samplesFor(model, "predictProbability", samples)).softmax({ axis: 1 }) as Tensor,
  /** The log-likelihood of each sample, [samples]. */
  scoreSamples: (model: MixtureModel, samples: Samples): Tensor =>
    logsOf(model, samplesFor(model, "scoreSamples", samples)).logsumexp({ axis: 1 }) as Tensor,
  /** The mean log-likelihood of samples. */
  score: (model: MixtureModel, samples: Samples): Tensor =>
    logsOf(model, samplesFor(model, "score", samples))
      .logsumexp({ axis: 1 })
      .mean() as Tensor,
  /** Schwarz's criterion on samples; less is better. */
  bic: (model: MixtureModel, samples: Samples): Tensor => criterion(model, "bic", samples, Math.log),
  /** Akaike's criterion on samples; less is better. */
  aic: (model: MixtureModel, samples: Samples): Tensor => criterion(model, "aic", samples, () => 2),
  /** The inverse covariances, shaped as covariances are. */
  precisions: ({ learned, options }: MixtureModel): Tensor => precisionsOf(typeOf(options), learned.precisionsCholesky),
  /** Samples drawn by a key, [count, features], and the component of each. */
  sample(model: MixtureModel, key: Key, count = 1): { readonly samples: Tensor; readonly labels: Tensor } {
    checkWhole("gaussianMixture.sample", "the count of samples", count, 1);
    const { weights, means, covariances } = model.learned;
    const type = typeOf(model.options);
    const [labelKey, noiseKey] = split(key) as [Key, Key];
    const labels = categorical(labelKey, weights.log() as Tensor, { shape: [count] });
    const noise = normal(noiseKey, [count, means.shape[1] as number], { dtype: means.dtype as "f32" }) as Tensor;
    const own = type === "tied" ? covariances : covariances.take(labels, { axis: 0 });
    const scaled =
      type === "full" || type === "tied"
        ? cholesky(own).matmul(noise.expandDims(2)).squeeze(2)
        : noise.mul(type === "diag" ? own.sqrt() : own.sqrt().expandDims(1));
    return { samples: scaled.add(means.take(labels, { axis: 0 })) as Tensor, labels };
  },
};

/** A given first value beside the samples, or an error that names it. */
function givenBeside(name: string, value: Numbers, shape: readonly number[], { device, dtype }: Tensor): Tensor {
  const found = (isTensor(value) ? value.cast(dtype) : tensor(value as number[], { device, dtype })) as Tensor;
  if (formatShape(found.shape) === formatShape(shape)) return found;
  throw new ShapeError(
    `gaussianMixture.fit: ${name} has the shape ${formatShape(found.shape)}; it is ${formatShape(shape)} here.`,
  );
}

/** The mixture of first shares, with given values in the place of its own. */
function firstMixture(
  x: Tensor,
  offset: Tensor,
  shares: Tensor,
  options: GaussianMixtureOptions,
  rounds: Rounds,
): Mixture {
  const { weightsInit, meansInit, precisionsInit } = options;
  const [k, d] = [shares.shape[1], x.shape[1]] as [number, number];
  const own = maximized(x, shares, rounds);
  const shape = covarianceShape(rounds.type, k, d);
  return {
    ...own,
    weights: weightsInit ? givenBeside("weightsInit", weightsInit, [k], x) : own.weights,
    means: meansInit ? (givenBeside("meansInit", meansInit, [k, d], x).sub(offset) as Tensor) : own.means,
    roots: precisionsInit
      ? rootsOfPrecisions(rounds.type, givenBeside("precisionsInit", precisionsInit, shape, x))
      : own.roots,
  };
}

/** Shares of samples in components before the first round, [samples, components]. */
function firstShares(x: Tensor, k: number, key: Key, { initParams = "k-means" }: GaussianMixtureOptions): Tensor {
  const { device, dtype } = x;
  if (initParams === "random") {
    const drawn = uniform(key, [x.shape[0] as number, k], { dtype: dtype as "f32" });
    return drawn.div(drawn.sum({ axis: 1, keepDims: true })) as Tensor;
  }
  const { labels } = kMeansOf("gaussianMixture.fit", x, null, { nClusters: k, seed: key });
  return eye(k, { device, dtype }).take(labels, { axis: 0 }) as Tensor;
}

/** Throws where a covariance has no inverse. */
async function checkCovariances(
  operation: string,
  { precisionsCholesky, lowerBound }: GaussianMixtureLearned,
): Promise<void> {
  if (await precisionsCholesky.isFinite().all().logicalAnd(lowerBound.isFinite()).item()) return;
  const { dtype } = lowerBound;
  throw new LinalgError(
    `${operation}: a covariance is not positive definite in ${dtype}; columns depend on each other, or a component has too few ` +
      `samples. Raise regCovar, or take fewer components${dtype === "f64" ? "." : ', or fit with { dtype: "f64" }.'}`,
  );
}

/** Throws on settings that the table of kinds cannot tell to be wrong. */
function checkMixture(options: GaussianMixtureOptions): void {
  const { nComponents = 1, tol = 1e-3, regCovar = 1e-6, maxIter = 100, nInit = 1, seed = 0 } = options;
  const wholes = { nComponents, maxIter, nInit };
  for (const [name, value] of Object.entries(wholes)) checkWhole("gaussianMixture", name, value, 1);
  checkAmount("gaussianMixture", "tol", tol);
  checkAmount("gaussianMixture", "regCovar", regCovar);
  checkSeed("gaussianMixture", seed);
  checkChoice("gaussianMixture", "covarianceType", options.covarianceType, ["full", "tied", "diag", "spherical"]);
  checkChoice("gaussianMixture", "initParams", options.initParams, ["k-means", "random"]);
  for (const name of ["weightsInit", "meansInit", "precisionsInit"] as const) {
    const value = options[name];
    if (value === undefined || isTensor(value) || Array.isArray(value)) continue;
    throw new ArgumentError(`gaussianMixture: ${name} is neither a tensor nor a list.`);
  }
}

/** Samples drawn from several normal distributions: which, and how likely each is. */
export const gaussianMixture = clusterer<GaussianMixtureLearned, GaussianMixtureOptions, typeof methods>({
  kind: "gaussianMixture",
  options: {
    nComponents: "number",
    covarianceType: "text",
    tol: "number",
    regCovar: "number",
    maxIter: "number",
    nInit: "number",
    initParams: "text",
    weightsInit: "any",
    meansInit: "any",
    precisionsInit: "any",
    seed: "any",
  },
  takesWeights: false,
  check: checkMixture,
  learn({ x }, options) {
    const { nComponents = 1, tol = 1e-3, regCovar = 1e-6, maxIter = 100, nInit = 1, seed = 0 } = options;
    checkWholeSetting("gaussianMixture.fit", "nComponents", nComponents, x.shape[0] as number);
    const rounds: Rounds = { type: typeOf(options), regular: regCovar, tol, maxIter };
    const offset = x.mean({ axis: 0 }) as Tensor;
    const near = x.sub(offset) as Tensor;
    const { mixture, lowerBound, iterations, converged } = bestStart(
      nInit,
      keyOf(seed, x),
      (key) => {
        const shares = firstShares(near, nComponents, key, options);
        return expectationMaximization(near, firstMixture(near, offset, shares, options, rounds), rounds);
      },
      (found, best) => found.lowerBound.greater(best.lowerBound) as Tensor,
    );
    return {
      weights: mixture.weights,
      means: mixture.means.add(offset) as Tensor,
      covariances: mixture.covariances,
      precisionsCholesky: mixture.roots,
      labels: jointLogs(rounds.type, near, mixture).argmax({ axis: 1 }).cast("i32") as Tensor,
      lowerBound,
      iterations,
      converged,
    };
  },
  checkLearned: checkCovariances,
  methods,
});
