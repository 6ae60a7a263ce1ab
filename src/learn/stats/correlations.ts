/** Correlations of paired samples with their p values. Constant samples, and NaN among the observations, give NaN. */
import { fullLike, type Tensor, where } from "../../tensor/index.js";
import {
  ALTERNATIVE,
  type Alternative,
  type AlternativeOptions,
  alternativeOf,
  type TestResult,
  tValue,
} from "./results.js";
import { centred, checkPaired, countOf, ranksOf, type Sample, samplesOf, total } from "./samples.js";

/** Pearson's correlation; the p value supposes normal samples. */
export function pearson(x: Sample, y: Sample, options: AlternativeOptions = {}): TestResult {
  const operation = "stats.pearson";
  const [first, second] = samplesOf(operation, [x, y], options, ALTERNATIVE) as readonly [Tensor, Tensor];
  checkPaired(operation, first, second);
  return correlated(first, second, alternativeOf(operation, options));
}

/** Spearman's correlation: Pearson's of the ranks. */
export function spearman(x: Sample, y: Sample, options: AlternativeOptions = {}): TestResult {
  const operation = "stats.spearman";
  const [first, second] = samplesOf(operation, [x, y], options, ALTERNATIVE) as readonly [Tensor, Tensor];
  checkPaired(operation, first, second);
  return correlated(ranksOf(first).ranks, ranksOf(second).ranks, alternativeOf(operation, options));
}

function correlated(x: Tensor, y: Tensor, alternative: Alternative): TestResult {
  const { statistic, apart, opposed } = correlationOf(x, y);
  const free = countOf(x) - 2;
  // Two points are always on a line.
  if (free === 0) return { statistic, pValue: where(statistic.isNaN(), Number.NaN, 1) as Tensor };
  const t = statistic.mul(Math.sqrt(free)).div(apart.mul(opposed).sqrt());
  return { statistic, pValue: tValue(t, fullLike(t, free) as Tensor, alternative) };
}

/** The correlation r, with 1 - r and 1 + r, which keep their digits on a line. */
export function correlationOf(
  x: Tensor,
  y: Tensor,
): { readonly statistic: Tensor; readonly apart: Tensor; readonly opposed: Tensor } {
  const unit = (given: Tensor): Tensor => {
    const { deviations } = centred(given);
    const largest = deviations.abs().max({ axis: -1, keepDims: true });
    // Squares of tiny deviations would be zero.
    const scaled = deviations.div(largest);
    return scaled.div(total(scaled.square()).sqrt().expandDims(-1)) as Tensor;
  };
  const [u, v] = [unit(x), unit(y)];
  const half = (each: Tensor): Tensor => total(each.square()).div(2);
  return { statistic: total(u.mul(v)).clip(-1, 1) as Tensor, apart: half(u.sub(v)), opposed: half(u.add(v)) };
}
