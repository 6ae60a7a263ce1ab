/** Moments and other summaries of samples, along an axis. NaN among the observations gives NaN. */
import { checkWhole, type OptionKinds } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { type Tensor, where } from "../../tensor/index.js";
import { centred, countOf, SAMPLE, type Sample, type SampleOptions, samplesOf, total } from "./samples.js";

/** Options of `skew`. */
export interface SkewOptions extends SampleOptions {
  /** The moments of the sample as they are, unless told false: then corrected for the size of the sample. */
  readonly bias?: boolean;
}

/** Options of `kurtosis`. */
export interface KurtosisOptions extends SkewOptions {
  /** Less the 3 of a normal distribution, unless told false. */
  readonly excess?: boolean;
}

/** Options of `zscore` and `sem`. */
export interface DeviationOptions extends SampleOptions {
  /** What is taken from the number of observations in the divisor of the variance. */
  readonly correction?: number;
}

/** Options of `trimmedMean`. */
export interface TrimmedMeanOptions extends SampleOptions {
  /** The share that is left out at either end: 0.1 unless told. */
  readonly share?: number;
}

/** Options of `entropy`. */
export interface EntropyOptions extends SampleOptions {
  /** The base of the logarithm: e unless told. */
  readonly base?: number;
}

const SKEW: OptionKinds<SkewOptions> = { ...SAMPLE, bias: "flag" };
const DEVIATION: OptionKinds<DeviationOptions> = { ...SAMPLE, correction: "number" };

const power = (x: Tensor, k: number): Tensor => Array.from({ length: k - 1 }).reduce<Tensor>((p) => p.mul(x), x);

/** The k-th moment about the mean: k = 2 is the variance of the sample. */
export function moment(x: Sample, k: number, options: SampleOptions = {}): Tensor {
  checkWhole("stats.moment", "k", k, 1);
  const [given] = samplesOf("stats.moment", [x], options, SAMPLE) as readonly [Tensor];
  return power(centred(given).deviations, k).mean({ axis: -1 }) as Tensor;
}

/** The mean, and moments about it. */
function momentsOf(
  x: Tensor,
  orders: readonly number[],
): { readonly mean: Tensor; readonly moments: readonly Tensor[] } {
  const { mean, deviations } = centred(x);
  return { mean, moments: orders.map((k) => power(deviations, k).mean({ axis: -1 }) as Tensor) };
}

/** NaN where the variance is no more than rounding. */
function orNone(value: Tensor, variance: Tensor, mean: Tensor): Tensor {
  const resolution = mean.dtype === "f64" ? 1e-15 : 1e-6;
  return where(variance.lessEqual(mean.mul(resolution).square()), Number.NaN, value) as Tensor;
}

/** The skewness: the third moment in standard deviations, 0 for symmetric samples. NaN for equal observations. */
export function skew(x: Sample, options: SkewOptions = {}): Tensor {
  const [given] = samplesOf("stats.skew", [x], options, SKEW) as readonly [Tensor];
  return skewOf(given, options.bias ?? true);
}

function skewOf(x: Tensor, isBiased: boolean): Tensor {
  const n = countOf(x);
  const { mean, moments } = momentsOf(x, [2, 3]);
  const [second, third] = moments as [Tensor, Tensor];
  const plain = third.div(second.mul(second.sqrt()));
  return orNone(isBiased || n < 3 ? plain : plain.mul(Math.sqrt(n * (n - 1)) / (n - 2)), second, mean);
}

/** The kurtosis: the fourth moment in squared variances, less 3. NaN for equal observations. */
export function kurtosis(x: Sample, options: KurtosisOptions = {}): Tensor {
  const [given] = samplesOf("stats.kurtosis", [x], options, { ...SKEW, excess: "flag" }) as readonly [Tensor];
  return kurtosisOf(given, options.bias ?? true, options.excess ?? true);
}

function kurtosisOf(x: Tensor, isBiased: boolean, isExcess: boolean): Tensor {
  const n = countOf(x);
  const { mean, moments } = momentsOf(x, [2, 4]);
  const [second, fourth] = moments as [Tensor, Tensor];
  const plain = fourth.div(second.square());
  const corrected =
    isBiased || n < 4
      ? plain.sub(3)
      : plain
          .mul(n * n - 1)
          .sub(3 * (n - 1) ** 2)
          .div((n - 2) * (n - 3));
  return orNone(isExcess ? corrected : corrected.add(3), second, mean);
}

/** Deviations from the mean in standard deviations. NaN for equal observations. */
export function zscore(x: Sample, options: DeviationOptions = {}): Tensor {
  const [given] = samplesOf("stats.zscore", [x], options, DEVIATION) as readonly [Tensor];
  const { deviations } = centred(given);
  const variance = total(deviations.square()).div(Math.max(0, countOf(given) - (options.correction ?? 0)));
  return deviations.div(variance.sqrt().expandDims(-1)).moveAxis(-1, options.axis ?? 0) as Tensor;
}

/** The standard error of the mean; the variance is divided by n - 1 unless `correction` says otherwise. */
export function sem(x: Sample, options: DeviationOptions = {}): Tensor {
  const [given] = samplesOf("stats.sem", [x], options, DEVIATION) as readonly [Tensor];
  const n = countOf(given);
  const squares = total(centred(given).deviations.square());
  return squares
    .div(Math.max(0, n - (options.correction ?? 1)))
    .div(n)
    .sqrt();
}

/** The distance between the quartiles. */
export function iqr(x: Sample, options: SampleOptions = {}): Tensor {
  const [given] = samplesOf("stats.iqr", [x], options, SAMPLE) as readonly [Tensor];
  return given.quantile(0.75, { axis: -1 }).sub(given.quantile(0.25, { axis: -1 })) as Tensor;
}

/** The mean without a share of the smallest and of the largest observations. */
export function trimmedMean(x: Sample, options: TrimmedMeanOptions = {}): Tensor {
  const operation = "stats.trimmedMean";
  const [given] = samplesOf(operation, [x], options, { ...SAMPLE, share: "number" }) as readonly [Tensor];
  const { share = 0.1 } = options;
  if (!(share >= 0 && share < 0.5)) {
    throw new ArgumentError(`${operation}: share is ${share}; it is a number from 0 to below 0.5.`);
  }
  return trimmed(given, share).mean({ axis: -1 }) as Tensor;
}

/** Observations in order, without a share at either end; NaN where one is NaN. */
export function trimmed(x: Tensor, share: number): Tensor {
  const n = countOf(x);
  const cut = Math.floor(share * n);
  const [, kept] = x.sort().split({ sizes: [cut, n - 2 * cut, cut] }, { axis: -1 }) as [Tensor, Tensor];
  return where(x.isNaN().any({ axis: -1, keepDims: true }), Number.NaN, kept) as Tensor;
}

/** The entropy of the shares of counts or probabilities; they need not sum to one. */
export function entropy(x: Sample, options: EntropyOptions = {}): Tensor {
  const operation = "stats.entropy";
  const [given] = samplesOf(operation, [x], options, { ...SAMPLE, base: "number" }) as readonly [Tensor];
  const { base = Math.E } = options;
  if (!(base > 0 && base !== 1))
    throw new ArgumentError(`${operation}: base is ${base}; it is a number above zero, and not 1.`);
  const shares = given.div(given.sum({ axis: -1, keepDims: true }));
  const logs = (where(shares.equal(0), 1, shares) as Tensor).log();
  return total(shares.mul(logs)).neg().div(Math.log(base));
}

/** The summary of a sample that `describe` gives. */
export interface Description {
  readonly count: number;
  readonly min: Tensor;
  readonly max: Tensor;
  readonly mean: Tensor;
  /** Divided by n - 1. */
  readonly variance: Tensor;
  readonly skew: Tensor;
  readonly kurtosis: Tensor;
}

/** Count, extremes, mean, variance, skewness and kurtosis. */
export function describe(x: Sample, options: SampleOptions = {}): Description {
  const [given] = samplesOf("stats.describe", [x], options, SAMPLE) as readonly [Tensor];
  const count = countOf(given);
  const { mean, deviations } = centred(given);
  return {
    count,
    min: given.min({ axis: -1 }) as Tensor,
    max: given.max({ axis: -1 }) as Tensor,
    mean,
    variance: total(deviations.square()).div(Math.max(0, count - 1)),
    skew: skewOf(given, true),
    kurtosis: kurtosisOf(given, true, true),
  };
}
