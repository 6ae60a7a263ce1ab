/**
 * Density estimates (Rosenblatt 1956; Parzen 1962): a hill on every sample, and the density at a place is their mean. The hills are compared
 * band by band, so that nothing the size of all pairs is in memory, and fits and densities trace.
 */
import { checkChoice, checkWhole } from "../../core/arguments.js";
import { ArgumentError, UnsupportedError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { key, normal, split, uniform } from "../../random/index.js";
import { full, type Tensor, where } from "../../tensor/index.js";
import { estimator } from "../core/estimator.js";
import type { Fitted } from "../core/model.js";
import type { Samples } from "../core/samples.js";
import { noTargets, samplesFor } from "../core/sorts.js";
import { inBands } from "./brute-force.js";
import { embedQueries } from "./metric.js";
import {
  checkPairMetric,
  isPrecomputed,
  PAIR_METRIC_KINDS,
  type PairMetricOptions,
  pairSpaceOf,
  reducedBetween,
} from "./pair-metric.js";

/** The shape of a hill. */
export type DensityKernel = "gaussian" | "tophat" | "epanechnikov" | "exponential" | "linear" | "cosine";

/** Options of `kernelDensity`. The metric is "euclidean" unless told; with others densities are not normalised. */
export interface KernelDensityOptions extends PairMetricOptions {
  /** The width of a hill: 1 unless told. "scott" and "silverman": by the numbers of samples and features. */
  readonly bandwidth?: number | "scott" | "silverman";
  /** "gaussian" unless told. */
  readonly kernel?: DensityKernel;
}

/** The samples of the fit, as the metric compares them, and their weights. */
export interface KernelDensityLearned {
  readonly samples: Tensor;
  /** The logarithm of each sample's share of all weights, [samples]. */
  readonly logShares: Tensor;
  readonly bandwidth: Tensor;
  readonly [name: string]: Tensor;
}

/** Options of `sample`. */
export interface DensitySampleOptions {
  /** How many samples: 1 unless told. */
  readonly count?: number;
  /** Decides them: 0 unless told. */
  readonly seed?: number;
}

const KERNELS: readonly DensityKernel[] = ["gaussian", "tophat", "epanechnikov", "exponential", "linear", "cosine"];
/** Distances in memory at a time. */
const BAND = 1 << 22;

/** log Γ of whole and half numbers. */
function logGamma(x: number): number {
  let [sum, at] = [0, x];
  for (; at > 1; at--) sum += Math.log(at - 1);
  return at === 0.5 ? sum + Math.log(Math.PI) / 2 : sum;
}

/** The logarithm of the volume of a ball of radius 1 in so many dimensions, and of the surface of a sphere. */
const logVolume = (n: number): number => (n / 2) * Math.log(Math.PI) - logGamma(n / 2 + 1);
const logSurface = (n: number): number => Math.log(2 * Math.PI) + logVolume(n - 1);

/** The logarithm of a hill's volume at bandwidth 1. */
function logHill(kernel: DensityKernel, n: number): number {
  switch (kernel) {
    case "gaussian":
      return (n / 2) * Math.log(2 * Math.PI);
    case "tophat":
      return logVolume(n);
    case "epanechnikov":
      return logVolume(n) + Math.log(2 / (n + 2));
    case "exponential":
      return logSurface(n - 1) + logGamma(n);
    case "linear":
      return logVolume(n) - Math.log(n + 1);
    case "cosine":
      return Math.log(cosineMoment(n - 1)) + logSurface(n - 1);
  }
}

/** ∫ cos(πr/2) rᵐ dr from 0 to 1, by parts. scikit-learn 1.2 has it for even m alone, which are odd numbers of features. */
function cosineMoment(m: number): number {
  if (m === 0) return 2 / Math.PI;
  if (m === 1) return 2 / Math.PI - 4 / Math.PI ** 2;
  return 2 / Math.PI - m * (m - 1) * (2 / Math.PI) ** 2 * cosineMoment(m - 2);
}

/** The logarithm of a hill at these distances, in bandwidths. */
function logHeight(kernel: DensityKernel, u: Tensor): Tensor {
  const inside = (height: Tensor): Tensor => where(u.less(1), height, Number.NEGATIVE_INFINITY) as Tensor;
  // Beyond the edge the logarithm of what is not there is not asked for.
  const within = where(u.less(1), u, 0) as Tensor;
  switch (kernel) {
    case "gaussian":
      return u.square().mul(-0.5) as Tensor;
    case "tophat":
      return inside(u.mul(0) as Tensor);
    case "epanechnikov":
      return inside(within.square().neg().log1p() as Tensor);
    case "exponential":
      return u.neg() as Tensor;
    case "linear":
      return inside(within.neg().log1p() as Tensor);
    case "cosine":
      return inside(
        within
          .mul(Math.PI / 2)
          .cos()
          .log() as Tensor,
      );
  }
}

type Model = Fitted<KernelDensityLearned, KernelDensityOptions>;

function logDensities({ learned, options, features }: Model, x: Tensor): Tensor {
  const { kernel = "gaussian" } = options;
  const { samples, logShares, bandwidth } = learned;
  const space = pairSpaceOf({ metric: "euclidean", ...options });
  const most = Math.max(1, Math.floor(BAND / (samples.shape[0] as number)));
  const { logs } = inBands(embedQueries(x.cast(samples.dtype) as Tensor, space), most, (band) => {
    const distances = space.distances(reducedBetween(band, samples, space));
    const heights = logHeight(kernel, distances.div(bandwidth) as Tensor).add(logShares);
    return { logs: heights.logsumexp({ axis: 1 }) as Tensor };
  });
  return logs.sub(logHill(kernel, features.count)).sub(bandwidth.log().mul(features.count)) as Tensor;
}

const methods = {
  /** The logarithm of the density at each sample, [samples]. */
  scoreSamples: (model: Model, samples: Samples): Tensor =>
    logDensities(model, samplesFor(model as Fitted<unknown, object>, "scoreSamples", samples)),
  /** The log-likelihood of all samples together, as in scikit-learn. */
  score: (model: Model, samples: Samples): Tensor =>
    logDensities(model, samplesFor(model as Fitted<unknown, object>, "score", samples)).sum() as Tensor,
  /** Samples drawn from the density, [count, features]: of the kernels "gaussian" and "tophat". */
  sample({ learned, options, features }: Model, { count = 1, seed = 0 }: DensitySampleOptions = {}): Tensor {
    const operation = "kernelDensity.sample";
    const { kernel = "gaussian", metric = "euclidean" } = options;
    checkWhole(operation, "count", count, 1);
    if (
      (kernel !== "gaussian" && kernel !== "tophat") ||
      !["euclidean", "l2", "minkowski"].includes(metric as string)
    ) {
      throw new UnsupportedError(
        `${operation}: the kernel ${shown(kernel)} with the metric ${shown(metric)} is not drawn from.`,
      );
    }
    const { samples, logShares, bandwidth } = learned;
    const { device, dtype } = samples;
    const [ofPlaces, ofSteps, ofLengths] = split(key(seed, { device }), 3);
    const shares = logShares.exp().cumsum({ axis: 0 }) as Tensor;
    const drawn = uniform(ofPlaces, [count], { dtype: dtype as "f32" }).mul(shares.at(-1));
    const places = shares.searchSorted(drawn, { side: "right" }).clip(0, (samples.shape[0] as number) - 1);
    const steps = normal(ofSteps, [count, features.count], { dtype: dtype as "f32" }) as Tensor;
    const lengths = uniform(ofLengths, [count, 1], { dtype: dtype as "f32" }).pow(1 / features.count);
    const ofBall = steps.div(steps.square().sum({ axis: 1, keepDims: true }).sqrt()).mul(lengths);
    return samples.take(places, { axis: 0 }).add((kernel === "gaussian" ? steps : ofBall).mul(bandwidth)) as Tensor;
  },
};

/** The width by a rule. */
function widthOf(bandwidth: number | "scott" | "silverman", samples: number, features: number): number {
  if (bandwidth === "scott") return samples ** (-1 / (features + 4));
  if (bandwidth === "silverman") return ((samples * (features + 2)) / 4) ** (-1 / (features + 4));
  return bandwidth;
}

/** The density of samples. */
export const kernelDensity = estimator({
  kind: "kernelDensity",
  options: { bandwidth: "any", kernel: "text", ...PAIR_METRIC_KINDS },
  targets: noTargets,
  check(options: KernelDensityOptions) {
    const { bandwidth = 1, kernel } = options;
    checkChoice("kernelDensity", "kernel", kernel, KERNELS);
    checkPairMetric("kernelDensity", options);
    if (isPrecomputed(options)) {
      throw new ArgumentError('kernelDensity: the metric is "precomputed"; densities are those of places.');
    }
    if (
      typeof bandwidth === "number"
        ? bandwidth > 0 && Number.isFinite(bandwidth)
        : /^(scott|silverman)$/.test(bandwidth)
    )
      return;
    throw new ArgumentError(
      `kernelDensity: bandwidth is ${shown(bandwidth)}; it is a number above zero, "scott" or "silverman".`,
    );
  },
  learn({ x, weights }, options): KernelDensityLearned {
    const [samples, features] = x.shape as [number, number];
    const { device, dtype } = x;
    return {
      samples: pairSpaceOf({ metric: "euclidean", ...options }).embed(x),
      logShares: (weights
        ? weights.div(weights.sum()).log()
        : full([samples], -Math.log(samples), { device, dtype })) as Tensor,
      bandwidth: full([], widthOf(options.bandwidth ?? 1, samples, features), { device, dtype }) as Tensor,
    };
  },
  methods,
});
