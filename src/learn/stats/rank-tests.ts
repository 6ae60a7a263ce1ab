/**
 * Rank tests: Mann & Whitney, Wilcoxon, Kendall. P values are exact for small samples without ties unless told otherwise. NaN among the
 * observations gives NaN.
 */
import type { OptionKinds } from "../../core/arguments.js";
import { concat, type Tensor, where } from "../../tensor/index.js";
import { isExact, methodOf, RANK, type RankTestOptions, read, scalarLike } from "./exactness.js";
import { exactValue, inversionChances, mannWhitneyChances, signedRankChances } from "./null-distributions.js";
import { type Alternative, alternativeOf, normalValue, type TestResult } from "./results.js";
import { checkPaired, countOf, ranksOf, type Sample, samplesOf, total } from "./samples.js";

/** Options of `mannWhitney` and `wilcoxon`. */
export interface ContinuityOptions extends RankTestOptions {
  /** Whether half a rank is taken from the distance to the mean in the asymptotic p value. */
  readonly continuity?: boolean;
}

const CONTINUITY: OptionKinds<ContinuityOptions> = { ...RANK, continuity: "flag" };

/** Up to here exact distributions of two samples are reckoned without being told. */
const MOST_PAIRS = 10_000;

/** Whether one of two samples tends to be larger: Mann and Whitney's U of the first. */
export function mannWhitney(x: Sample, y: Sample, options: ContinuityOptions = {}): TestResult {
  const operation = "stats.mannWhitney";
  const [first, second] = samplesOf(operation, [x, y], options, CONTINUITY) as readonly [Tensor, Tensor];
  const [alternative, method] = [alternativeOf(operation, options), methodOf(operation, options)];
  const [m, n] = [countOf(first), countOf(second)];
  const { ranks, ties } = ranksOf(concat([first, second], { axis: -1 }) as Tensor);
  const own = (ranks.split({ sizes: [m, n] }, { axis: -1 }) as Tensor[])[0] as Tensor;
  const statistic = total(own).sub((m * (m + 1)) / 2);
  const exactness = {
    method,
    isSmall: Math.min(m, n) <= 8 && m * n <= MOST_PAIRS,
    sample: first,
    ties: ties.add(total(ranks).mul(0)),
  };
  if (isExact(operation, exactness)) {
    const value = exactValue(mannWhitneyChances(m, n), read(statistic), alternative);
    return { statistic, pValue: scalarLike(value, statistic) };
  }
  const size = m + n;
  const spread = ties
    .div(size * (size - 1))
    .neg()
    .add(size + 1)
    .mul((m * n) / 12)
    .sqrt();
  const offset = statistic.sub((m * n) / 2);
  const half = (options.continuity ?? true) ? 0.5 : 0;
  return { statistic, pValue: continuousValue(offset, spread, half, alternative) };
}

/** The p value of an offset from the mean, which is brought closer by half a step. */
function continuousValue(offset: Tensor, spread: Tensor, half: number, alternative: Alternative): Tensor {
  if (alternative === "twoSided") {
    return normalValue(offset.abs().sub(half).div(spread), "greater").mul(2).minimum(1) as Tensor;
  }
  const toward = alternative === "greater" ? offset.sub(half) : offset.add(half);
  return normalValue(toward.div(spread), alternative);
}

/** Whether pairs, or a sample of differences, are symmetric about zero: Wilcoxon's signed ranks. Zeros are left out. */
export function wilcoxon(x: Sample, y: Sample | null = null, options: ContinuityOptions = {}): TestResult {
  const operation = "stats.wilcoxon";
  const given = samplesOf(operation, y === null ? [x] : [x, y], options, CONTINUITY);
  const [first, second] = given as readonly [Tensor, Tensor | undefined];
  if (second) checkPaired(operation, first, second);
  const [alternative, method] = [alternativeOf(operation, options), methodOf(operation, options)];
  const differences = second ? first.sub(second) : first;
  const isZero = differences.equal(0);
  const zeros = total(isZero.cast(differences.dtype));
  // Zeros come first in the order: the ranks of the others are that much less.
  const { ranks, ties } = ranksOf(differences.abs());
  const others = ranks.sub(zeros.expandDims(-1));
  const plus = total(where(differences.greater(0), others, 0) as Tensor);
  const minus = total(where(differences.less(0), others, 0) as Tensor);
  const hasNone = total(ranks).mul(0);
  const statistic = (alternative === "twoSided" ? plus.minimum(minus) : plus).add(hasNone) as Tensor;
  const n = countOf(differences);
  const exactness = { method, isSmall: n <= 50, sample: differences, ties: ties.add(zeros).add(hasNone) };
  if (isExact(operation, exactness)) {
    return { statistic, pValue: scalarLike(exactValue(signedRankChances(n), read(plus), alternative), statistic) };
  }
  const count = zeros.neg().add(n);
  const tiesOfOthers = ties.sub(zeros.square().sub(1).mul(zeros));
  const cubes = count.mul(count.add(1)).mul(count.mul(2).add(1));
  const spread = cubes.sub(tiesOfOthers.mul(0.5)).div(24).sqrt();
  const offset = plus.sub(count.mul(count.add(1)).mul(0.25)).add(hasNone);
  return { statistic, pValue: continuousValue(offset, spread, options.continuity ? 0.5 : 0, alternative) };
}

/** Kendall's τ-b: how much more often pairs of observations are in the same order in both samples than not. */
export function kendall(x: Sample, y: Sample, options: RankTestOptions = {}): TestResult {
  const operation = "stats.kendall";
  const [first, second] = samplesOf(operation, [x, y], options, RANK) as readonly [Tensor, Tensor];
  checkPaired(operation, first, second);
  const [alternative, method] = [alternativeOf(operation, options), methodOf(operation, options)];
  const n = countOf(first);
  const signs = (z: Tensor): Tensor => z.expandDims(-1).sub(z.expandDims(-2)).sign() as Tensor;
  const [a, b] = [ranksOf(first), ranksOf(second)];
  // Each pair is met twice.
  const excess = signs(a.ranks)
    .mul(signs(b.ranks))
    .sum({ axis: [-2, -1] })
    .div(2) as Tensor;
  const all = (n * (n - 1)) / 2;
  const [untiedA, untiedB] = [a, b].map(({ ranks }) => total(tiedWith(ranks)).neg().div(2).add(all)) as [
    Tensor,
    Tensor,
  ];
  const statistic = excess.div(untiedA.sqrt()).div(untiedB.sqrt()).clip(-1, 1) as Tensor;
  // A sample that does not vary has no order, and a spread of rounding alone; nor has one of a single observation.
  const known = (value: Tensor): Tensor => where(statistic.isNaN(), Number.NaN, value) as Tensor;
  const exactness = { method, isSmall: n <= 33, sample: first, ties: a.ties.add(b.ties).add(excess.mul(0)) };
  if (isExact(operation, exactness)) {
    const discordant = (all - read(excess)) / 2;
    return { statistic, pValue: known(scalarLike(kendallValue(n, discordant, alternative), statistic)) };
  }
  return {
    statistic,
    pValue: known(normalValue(excess.div(kendallSpread(a.ranks, b.ranks, n)) as Tensor, alternative)),
  };
}

/** How many others an observation is equal to. */
function tiedWith(ranks: Tensor): Tensor {
  const isEqual = ranks.expandDims(-1).equal(ranks.expandDims(-2)).cast(ranks.dtype);
  return total(isEqual).sub(1);
}

/** The p value of so many pairs in unlike order. */
function kendallValue(n: number, discordant: number, alternative: Alternative): number {
  const most = (n * (n - 1)) / 2;
  // Many discordant pairs are a small τ.
  const reversed = alternative === "twoSided" ? alternative : alternative === "less" ? "greater" : "less";
  return exactValue(inversionChances(n, most), discordant, reversed);
}

/** The standard deviation of the excess of pairs in like order, with ties. */
function kendallSpread(x: Tensor, y: Tensor, n: number): Tensor {
  const [s, t] = [tiedWith(x), tiedWith(y)];
  const m = n * (n - 1);
  // Sums over groups of t observations as sums over observations, each of which knows t - 1.
  const pairs = (u: Tensor): Tensor => total(u).div(2);
  const triples = (u: Tensor): Tensor => total(u.mul(u.sub(1)));
  const wide = (u: Tensor): Tensor => total(u.mul(u.mul(2).add(7)));
  return wide(s)
    .add(wide(t))
    .neg()
    .add(m * (2 * n + 5))
    .div(18)
    .add(
      pairs(s)
        .mul(pairs(t))
        .mul(2 / m),
    )
    .add(
      triples(s)
        .mul(triples(t))
        .div(9 * m * (n - 2)),
    )
    .sqrt();
}
