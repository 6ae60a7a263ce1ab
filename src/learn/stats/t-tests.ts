/** Student's and Welch's t tests of means, along an axis. NaN among the observations gives NaN. */
import { checkNumber } from "../../core/arguments.js";
import { fullLike, type Tensor, where } from "../../tensor/index.js";
import { ALTERNATIVE, type AlternativeOptions, alternativeOf, type DegreesResult, tValue } from "./results.js";
import { centred, checkPaired, countOf, type Sample, samplesOf, total } from "./samples.js";

/** Options of `tTest`. */
export interface TTestOptions extends AlternativeOptions {
  /** The mean under the null hypothesis: 0 unless told. */
  readonly mean?: number;
}

/** Options of `tTestIndependent`. */
export interface IndependentOptions extends AlternativeOptions {
  /** Whether the populations have one variance, true unless told; false is Welch's test. */
  readonly equalVariances?: boolean;
}

/** Whether the mean of a population is a given one. */
export function tTest(x: Sample, options: TTestOptions = {}): DegreesResult {
  const operation = "stats.tTest";
  const [given] = samplesOf(operation, [x], options, { ...ALTERNATIVE, mean: "number" }) as readonly [Tensor];
  return ofMean(given, checkNumber(operation, "mean", options.mean ?? 0), alternativeOf(operation, options));
}

/** Whether the mean difference of pairs is zero. */
export function tTestPaired(x: Sample, y: Sample, options: AlternativeOptions = {}): DegreesResult {
  const operation = "stats.tTestPaired";
  const [first, second] = samplesOf(operation, [x, y], options, ALTERNATIVE) as readonly [Tensor, Tensor];
  checkPaired(operation, first, second);
  return ofMean(first.sub(second), 0, alternativeOf(operation, options));
}

function ofMean(x: Tensor, wanted: number, alternative: AlternativeOptions["alternative"] & string): DegreesResult {
  const n = countOf(x);
  const { mean, deviations } = centred(x);
  const variance = total(deviations.square()).div(Math.max(0, n - 1));
  const statistic = mean.sub(wanted).div(variance.div(n).sqrt());
  const degrees = fullLike(statistic, n - 1) as Tensor;
  return { statistic, pValue: tValue(statistic, degrees, alternative), degrees };
}

/** Whether two populations have the same mean. */
export function tTestIndependent(x: Sample, y: Sample, options: IndependentOptions = {}): DegreesResult {
  const operation = "stats.tTestIndependent";
  const known = { ...ALTERNATIVE, equalVariances: "flag" } as const;
  const [first, second] = samplesOf(operation, [x, y], options, known) as readonly [Tensor, Tensor];
  const alternative = alternativeOf(operation, options);
  const [n, m] = [countOf(first), countOf(second)];
  const [a, b] = [centred(first), centred(second)];
  const [squaresA, squaresB] = [total(a.deviations.square()), total(b.deviations.square())];
  const difference = a.mean.sub(b.mean);
  if (options.equalVariances ?? true) {
    const pooled = squaresA.add(squaresB).div(n + m - 2);
    const statistic = difference.div(pooled.mul(1 / n + 1 / m).sqrt());
    const degrees = fullLike(statistic, n + m - 2) as Tensor;
    return { statistic, pValue: tValue(statistic, degrees, alternative), degrees };
  }
  const [own, other] = [squaresA.div(n - 1).div(n), squaresB.div(m - 1).div(m)];
  const both = own.add(other);
  // Shares first: squares of tiny variances would be zero. Where both are zero, any degrees serve.
  const [u, v] = [own, other].map((each) => each.div(both)) as [Tensor, Tensor];
  const found = u
    .square()
    .div(n - 1)
    .add(v.square().div(m - 1))
    .reciprocal();
  const degrees = where(both.equal(0), 1, found) as Tensor;
  const statistic = difference.div(both.sqrt());
  return { statistic, pValue: tValue(statistic, degrees, alternative), degrees };
}
