/** Selections by what is known of each column alone: its variance, or a score of it. */
import { checkChoice, checkWhole } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { type Tensor, tensor } from "../../tensor/index.js";
import type { Data } from "../core/estimator.js";
import { checkAmount } from "../core/settings.js";
import { transformer } from "../core/sorts.js";
import { type Chosen, columnsTensor, selecting, selectionMethods, selectorTargets } from "./chosen-columns.js";
import { mutualInfoClassification, mutualInfoRegression } from "./mutual-information.js";
import { classesOf, correlationScores, countScores, type FeatureScores, varianceScores } from "./score-functions.js";

/** Options of `varianceThreshold`. */
export interface VarianceThresholdOptions {
  /** Columns whose variance is this, or less, are left out: 0 unless told. */
  readonly threshold?: number;
}

/** The columns that stay, and the variance of each column. */
export interface VarianceLearned extends Chosen {
  readonly variances: Tensor;
}

const varianceMethods = selectionMethods<VarianceLearned, VarianceThresholdOptions>();

/** Leaves out columns that hardly vary. Missing values do not count. */
export const varianceThreshold = transformer<VarianceLearned, VarianceThresholdOptions, typeof varianceMethods>({
  kind: "varianceThreshold",
  options: { threshold: "number" },
  takesWeights: false,
  allowsMissing: true,
  check: ({ threshold = 0 }) => checkAmount("varianceThreshold", "threshold", threshold),
  learn:
    ({ x }, { threshold = 0 }) =>
    async () => {
      const variances = x.nanVariance({ axis: 0 }) as Tensor;
      // A column that is the same for all may have a variance by rounding.
      const spread = (await x
        .nanMax({ axis: 0 })
        .sub(x.nanMin({ axis: 0 }))
        .data()) as Float64Array;
      const values = Array.from((await variances.data()) as Float64Array, (each, j) => (spread[j] === 0 ? 0 : each));
      const kept = values.flatMap((each, j) => (each > threshold ? [j] : []));
      if (kept.length > 0) return { variances, columns: columnsTensor(kept, x) };
      throw new ArgumentError(
        `varianceThreshold.fit: no column has a variance above ${threshold}; lower the threshold.`,
      );
    },
  ...selecting,
  methods: varianceMethods,
});

/** A score of columns by its name. */
export type FeatureScore = "fClassif" | "fRegression" | "chi2" | "mutualInfoClassification" | "mutualInfoRegression";

const SCORES = ["fClassif", "fRegression", "chi2", "mutualInfoClassification", "mutualInfoRegression"] as const;

/** A score of columns as a function: of the samples and targets of a fit, whose labels are positions of classes. Scores have p values or none. */
export type FeatureScoreFunction = (
  samples: Tensor,
  targets: Tensor,
) => Promise<FeatureScores | ArrayLike<number>> | FeatureScores | ArrayLike<number>;

export interface ScoreOptions {
  /**
   * The score: "fClassif", unless told, "chi2" or "mutualInfoClassification", of labels; "fRegression" or "mutualInfoRegression" of numbers;
   * or a function.
   */
  readonly score?: FeatureScore | FeatureScoreFunction;
}

export function checkScore(kind: string, score: unknown): void {
  if (typeof score !== "function") checkChoice(kind, "the score", score, SCORES);
}

/** Options of `selectKBest`. */
export interface SelectKBestOptions extends ScoreOptions {
  /** The number of columns that stay: 10 unless told. */
  readonly k?: number;
}

/** Options of `selectPercentile`. */
export interface SelectPercentileOptions extends ScoreOptions {
  /** The percentage of columns that stays: 10 unless told. */
  readonly percentile?: number;
}

/** The columns that stay, and the score and the p value of each column: NaN where the score has none. */
export interface ScoredLearned extends Chosen {
  readonly scores: Tensor;
  readonly pValues: Tensor;
}

/** The scores by their names. */
const SCORED: Readonly<
  Record<FeatureScore, (operation: string, x: Tensor, y: Tensor) => ReturnType<FeatureScoreFunction>>
> = {
  fClassif: async (operation, x, y) => varianceScores(x, await classesOf(operation, y, x)),
  fRegression: (_, x, y) => correlationScores(x, y),
  chi2: async (operation, x, y) => countScores(operation, x, await classesOf(operation, y, x)),
  mutualInfoClassification: (_, x, y) => mutualInfoClassification(x, y),
  mutualInfoRegression: (_, x, y) => mutualInfoRegression(x, y),
};

export async function scored(
  kind: string,
  { x, y }: Data,
  score: FeatureScore | FeatureScoreFunction,
): Promise<FeatureScores> {
  const operation = `${kind}.fit`;
  const name = typeof score === "function" ? "that is a function" : score;
  if (!y) throw new ArgumentError(`${operation}: the score ${name} compares columns with targets; give them.`);
  const found = await (typeof score === "function" ? score(x, y) : SCORED[score](operation, x, y));
  if ("scores" in found) return found;
  const scores = Float64Array.from(found);
  if (scores.length === x.shape[1]) return { scores, pValues: new Float64Array(scores.length).fill(Number.NaN) };
  throw new ArgumentError(`${operation}: the score gives ${scores.length} numbers for ${x.shape[1]} columns.`);
}

export const learnedOf = ({ scores, pValues }: FeatureScores, kept: readonly number[], x: Tensor): ScoredLearned => {
  const as = (list: Float64Array): Tensor => tensor(list, { device: x.device, dtype: x.dtype }) as Tensor;
  return { columns: columnsTensor(kept, x), scores: as(scores), pValues: as(pValues) };
};

const bestMethods = selectionMethods<ScoredLearned, SelectKBestOptions>();

/** Keeps the columns of the best scores. */
export const selectKBest = transformer<ScoredLearned, SelectKBestOptions, typeof bestMethods>({
  kind: "selectKBest",
  options: { score: "any", k: "number" },
  takesWeights: false,
  targets: selectorTargets,
  check({ score, k = 10 }) {
    checkScore("selectKBest", score);
    checkWhole("selectKBest", "k", k, 1);
  },
  learn:
    (data, { score = "fClassif", k = 10 }) =>
    async () => {
      const features = data.x.shape[1] as number;
      if (k > features) throw new ArgumentError(`selectKBest.fit: k is ${k}, and there are ${features} features.`);
      const found = await scored("selectKBest", data, score);
      return learnedOf(found, bestColumns(found, k), data.x);
    },
  ...selecting,
  methods: bestMethods,
});

const shareMethods = selectionMethods<ScoredLearned, SelectPercentileOptions>();

/** Keeps a percentage of the columns: those of the best scores. */
export const selectPercentile = transformer<ScoredLearned, SelectPercentileOptions, typeof shareMethods>({
  kind: "selectPercentile",
  options: { score: "any", percentile: "number" },
  takesWeights: false,
  targets: selectorTargets,
  check({ score, percentile = 10 }) {
    checkScore("selectPercentile", score);
    checkAmount("selectPercentile", "percentile", percentile, 0, 100);
  },
  learn:
    (data, { score = "fClassif", percentile = 10 }) =>
    async () => {
      const found = await scored("selectPercentile", data, score);
      const kept = bestShare(found, percentile);
      if (kept.length > 0) return learnedOf(found, kept, data.x);
      throw new ArgumentError(
        `selectPercentile.fit: ${percentile} % of ${found.scores.length} columns is none; take more.`,
      );
    },
  ...selecting,
  methods: shareMethods,
});

/** Scores as sizes: one that is no number is below all others. */
const sizesOf = ({ scores }: FeatureScores): number[] =>
  Array.from(scores, (each) => (Number.isNaN(each) ? Number.NEGATIVE_INFINITY : each));

/** The columns of the k best scores; of equals the last, as in scikit-learn. */
export function bestColumns(found: FeatureScores, k: number): number[] {
  const sizes = sizesOf(found);
  const order = [...sizes.keys()].sort((a, b) => (sizes[b] as number) - (sizes[a] as number) || b - a);
  return order.slice(0, k).sort((a, b) => a - b);
}

/** The columns above the percentile of the scores, and as many of those on it, the first ones, as fill the share. */
export function bestShare(found: FeatureScores, percentile: number): number[] {
  const sizes = sizesOf(found);
  if (percentile === 100) return [...sizes.keys()];
  const sorted = [...sizes].sort((a, b) => a - b);
  const at = ((100 - percentile) / 100) * (sizes.length - 1);
  const [low, high] = [sorted[Math.floor(at)] as number, sorted[Math.ceil(at)] as number];
  const threshold = low === high ? low : low + (high - low) * (at - Math.floor(at));
  const above = [...sizes.keys()].filter((j) => (sizes[j] as number) > threshold);
  const on = [...sizes.keys()].filter((j) => sizes[j] === threshold);
  const missing = Math.floor((sizes.length * percentile) / 100) - above.length;
  return [...above, ...on.slice(0, Math.max(0, missing))].sort((a, b) => a - b);
}
