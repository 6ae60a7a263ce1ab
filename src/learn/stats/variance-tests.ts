/** Tests of several groups at once: their means (one-way anova), their ranks (Kruskal & Wallis), their variances (Levene; Brown & Forsythe). */
import { checkChoice, type OptionKinds } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { concat, fullLike, type Tensor } from "../../tensor/index.js";
import { trimmed } from "./moments.js";
import type { TestResult } from "./results.js";
import { centred, countOf, ranksOf, SAMPLE, type Sample, type SampleOptions, samplesOf, total } from "./samples.js";
import { chiSquareUpper, fTails } from "./tails.js";

/** Options of `levene`. */
export interface LeveneOptions extends SampleOptions {
  /** What distances are taken from: "median" unless told, "mean", or "trimmed", the mean of samples without 5 % at either end. */
  readonly center?: "median" | "mean" | "trimmed";
}

function groupsOf<O extends SampleOptions>(
  operation: string,
  groups: readonly Sample[],
  options: O,
  known: OptionKinds<O>,
): readonly Tensor[] {
  if (Array.isArray(groups) && groups.length > 1) return samplesOf(operation, groups, options, known);
  throw new ArgumentError(`${operation}: the groups are a list of two samples or more.`);
}

/** Whether the means of all groups are the same: the F test. Groups are samples of any sizes. */
export function anova(groups: readonly Sample[], options: SampleOptions = {}): TestResult {
  return fTest(groupsOf("stats.anova", groups, options, SAMPLE));
}

function fTest(groups: readonly Tensor[]): TestResult {
  const n = groups.reduce((sum, group) => sum + countOf(group), 0);
  const { mean } = centred(concat(groups as Tensor[], { axis: -1 }) as Tensor);
  const found = groups.map(centred);
  const inside = found.map(({ deviations }) => total(deviations.square())).reduce((sum, each) => sum.add(each));
  const between = found
    .map((each, i) =>
      each.mean
        .sub(mean)
        .square()
        .mul(countOf(groups[i] as Tensor)),
    )
    .reduce((sum, each) => sum.add(each));
  const [above, below] = [groups.length - 1, n - groups.length];
  const statistic = between.div(above).div(inside.div(below));
  const degrees = [above, below].map((each) => fullLike(statistic, each)) as [Tensor, Tensor];
  return { statistic, pValue: fTails(statistic, ...degrees).upper };
}

/** Whether the medians of all groups are the same, by ranks; the p value is that of χ². */
export function kruskal(groups: readonly Sample[], options: SampleOptions = {}): TestResult {
  const samples = groupsOf("stats.kruskal", groups, options, SAMPLE);
  const counts = samples.map(countOf);
  const n = counts.reduce((sum, count) => sum + count, 0);
  const { ranks, ties } = ranksOf(concat(samples as Tensor[], { axis: -1 }) as Tensor);
  // Deviations from the mean rank: squares of sums would lose digits to 3 (n + 1).
  const parts = ranks.sub((n + 1) / 2).split({ sizes: counts }, { axis: -1 }) as readonly Tensor[];
  const spread = parts
    .map((part, i) =>
      total(part)
        .square()
        .div(counts[i] as number),
    )
    .reduce((sum, each) => sum.add(each));
  const share = ties
    .div(n ** 3 - n)
    .neg()
    .add(1);
  const statistic = spread.mul(12 / (n * (n + 1))).div(share);
  return { statistic, pValue: chiSquareUpper(statistic, fullLike(statistic, samples.length - 1) as Tensor) };
}

/** Whether all groups have the same variance, by distances from their centers. */
export function levene(groups: readonly Sample[], options: LeveneOptions = {}): TestResult {
  const operation = "stats.levene";
  const { center = "median" } = options;
  checkChoice(operation, "the option center", center, ["median", "mean", "trimmed"]);
  const samples = groupsOf(operation, groups, options, { ...SAMPLE, center: "text" });
  const kept = center === "trimmed" ? samples.map((x) => trimmed(x, 0.05)) : samples;
  const centerOf = (x: Tensor): Tensor => (center === "median" ? (x.median({ axis: -1 }) as Tensor) : centred(x).mean);
  return fTest(kept.map((x) => x.sub(centerOf(x).expandDims(-1)).abs()));
}
