/**
 * Selections by p values: the chance of a score as good as a column's where targets have nothing to do with it. They differ in what alpha
 * bounds. Where no p value is small enough, no column stays, as in scikit-learn. `genericUnivariateSelect` is any selection by scores, so that a search can choose among them.
 */
import { checkChoice } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { checkAmount } from "../core/settings.js";
import { transformer } from "../core/sorts.js";
import { selecting, selectionMethods, selectorTargets } from "./chosen-columns.js";
import type { FeatureScores } from "./score-functions.js";
import {
  bestColumns,
  bestShare,
  checkScore,
  learnedOf,
  type ScoredLearned,
  type ScoreOptions,
  scored,
} from "./select-by-score.js";

/** Options of `selectFpr`, `selectFdr` and `selectFwe`. */
export interface SelectByChanceOptions extends ScoreOptions {
  /** The bound on the rate of columns that are kept by chance: 0.05 unless told. */
  readonly alpha?: number;
}

/** Columns that a rule keeps. */
type Rule = (found: FeatureScores, bound: number) => readonly number[];

const below =
  (isBelow: (p: number) => boolean) =>
  ({ pValues }: FeatureScores): number[] =>
    Array.from(pValues.keys()).filter((j) => isBelow(pValues[j] as number));

/** Each column by itself: a share alpha of those without any relation stays. */
const falsePositives: Rule = (found, alpha) => below((p) => p < alpha)(found);

/** Of the columns that stay, a share alpha has no relation (Benjamini & Hochberg 1995). */
const falseDiscoveries: Rule = (found, alpha) => {
  const sorted = Float64Array.from(found.pValues).sort();
  const last = sorted.findLast((p, place) => p <= (alpha / sorted.length) * (place + 1));
  return last === undefined ? [] : below((p) => p <= last)(found);
};

/** The chance that any column without relation stays is alpha, by Bonferroni's bound. */
const anyFalse: Rule = (found, alpha) => below((p) => p < alpha / found.pValues.length)(found);

function byChance(kind: string, rule: Rule) {
  const methods = selectionMethods<ScoredLearned, SelectByChanceOptions>();
  return transformer<ScoredLearned, SelectByChanceOptions, typeof methods>({
    kind,
    options: { score: "any", alpha: "number" },
    takesWeights: false,
    targets: selectorTargets,
    check({ score, alpha = 0.05 }) {
      checkScore(kind, score);
      checkAmount(kind, "alpha", alpha, 0, 1);
    },
    learn:
      (data, { score = "fClassif", alpha = 0.05 }) =>
      async () => {
        const found = await scored(kind, data, score);
        checkChances(kind, found);
        return learnedOf(found, rule(found, alpha), data.x);
      },
    ...selecting,
    methods,
  });
}

function checkChances(kind: string, { pValues }: FeatureScores): void {
  if (!pValues.every(Number.isNaN)) return;
  throw new ArgumentError(`${kind}.fit: the score has no p values; take "fClassif", "fRegression" or "chi2".`);
}

/** Keeps columns whose p value is below alpha. */
export const selectFpr = byChance("selectFpr", falsePositives);
/** Keeps columns so that the share of false ones among them is alpha, as it is expected. */
export const selectFdr = byChance("selectFdr", falseDiscoveries);
/** Keeps columns so that the chance of any false one is alpha. */
export const selectFwe = byChance("selectFwe", anyFalse);

/** How `genericUnivariateSelect` chooses. */
export type SelectionMode = "percentile" | "kBest" | "fpr" | "fdr" | "fwe";

const RULES: Readonly<Record<SelectionMode, Rule>> = {
  percentile: bestShare,
  kBest: bestColumns,
  fpr: falsePositives,
  fdr: falseDiscoveries,
  fwe: anyFalse,
};

/** Options of `genericUnivariateSelect`. */
export interface GenericSelectOptions extends ScoreOptions {
  /** The rule: "percentile" unless told. */
  readonly mode?: SelectionMode;
  /** The percentage, the number of columns, or alpha: 1e-5 unless told. */
  readonly param?: number;
}

const genericMethods = selectionMethods<ScoredLearned, GenericSelectOptions>();

/** Any selection by scores of columns. */
export const genericUnivariateSelect = transformer<ScoredLearned, GenericSelectOptions, typeof genericMethods>({
  kind: "genericUnivariateSelect",
  options: { score: "any", mode: "text", param: "number" },
  takesWeights: false,
  targets: selectorTargets,
  check({ score, mode = "percentile", param = 1e-5 }) {
    const kind = "genericUnivariateSelect";
    checkScore(kind, score);
    checkChoice(kind, "mode", mode, Object.keys(RULES));
    checkAmount(kind, "param", param, 0, mode === "percentile" ? 100 : mode === "kBest" ? undefined : 1);
    if (mode !== "kBest" || Number.isInteger(param)) return;
    throw new ArgumentError(`${kind}: param is ${param}; with the mode "kBest" it is a whole number of columns.`);
  },
  learn:
    (data, { score = "fClassif", mode = "percentile", param = 1e-5 }) =>
    async () => {
      const found = await scored("genericUnivariateSelect", data, score);
      if (mode !== "percentile" && mode !== "kBest") checkChances("genericUnivariateSelect", found);
      return learnedOf(found, RULES[mode](found, param), data.x);
    },
  ...selecting,
  methods: genericMethods,
});
