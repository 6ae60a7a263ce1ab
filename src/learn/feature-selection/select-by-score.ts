/** Selections by what is known of each column alone: its variance, or a score of it. */
import { checkChoice, checkWhole } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { type Tensor, tensor } from "../../tensor/index.js";
import type { Data } from "../core/estimator.js";
import { checkAmount } from "../core/settings.js";
import { transformer } from "../core/sorts.js";
import { type Chosen, columnsTensor, selecting, selectionMethods, selectorTargets } from "./chosen-columns.js";
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

/** Leaves out columns that hardly vary. */
export const varianceThreshold = transformer<VarianceLearned, VarianceThresholdOptions, typeof varianceMethods>({
  kind: "varianceThreshold",
  options: { threshold: "number" },
  takesWeights: false,
  check: ({ threshold = 0 }) => checkAmount("varianceThreshold", "threshold", threshold),
  async learn({ x }, { threshold = 0 }) {
    const variances = x.variance({ axis: 0 }) as Tensor;
    // A column that is the same for all may have a variance by rounding.
    const spread = (await x
      .max({ axis: 0 })
      .sub(x.min({ axis: 0 }))
      .data()) as Float64Array;
    const values = Array.from((await variances.data()) as Float64Array, (each, j) => (spread[j] === 0 ? 0 : each));
    const kept = values.flatMap((each, j) => (each > threshold ? [j] : []));
    if (kept.length > 0) return { variances, columns: columnsTensor(kept, x) };
    throw new ArgumentError(`varianceThreshold.fit: no column has a variance above ${threshold}; lower the threshold.`);
  },
  ...selecting,
  methods: varianceMethods,
});

/** A score of columns by its name. */
export type FeatureScore = "fClassif" | "fRegression" | "chi2";

const SCORES = ["fClassif", "fRegression", "chi2"] as const;

interface ScoreOptions {
  /** The score: "fClassif", unless told, or "chi2", of labels; "fRegression" of numbers. */
  readonly score?: FeatureScore;
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

/** The columns that stay, and the score and the p value of each column. */
export interface ScoredLearned extends Chosen {
  readonly scores: Tensor;
  readonly pValues: Tensor;
}

async function scored(kind: string, { x, y }: Data, score: FeatureScore): Promise<FeatureScores> {
  if (!y) throw new ArgumentError(`${kind}.fit: the score ${score} compares columns with targets; give them.`);
  const operation = `${kind}.fit`;
  if (score === "fRegression") return correlationScores(x, y);
  const classes = await classesOf(operation, y, x);
  return score === "chi2" ? countScores(operation, x, classes) : varianceScores(x, classes);
}

const learnedOf = ({ scores, pValues }: FeatureScores, kept: readonly number[], x: Tensor): ScoredLearned => {
  const as = (list: Float64Array): Tensor => tensor(list, { device: x.device, dtype: x.dtype }) as Tensor;
  return { columns: columnsTensor(kept, x), scores: as(scores), pValues: as(pValues) };
};

const bestMethods = selectionMethods<ScoredLearned, SelectKBestOptions>();

/** Keeps the columns of the best scores. */
export const selectKBest = transformer<ScoredLearned, SelectKBestOptions, typeof bestMethods>({
  kind: "selectKBest",
  options: { score: "text", k: "number" },
  takesWeights: false,
  targets: selectorTargets,
  check({ score, k = 10 }) {
    checkChoice("selectKBest", "the score", score, SCORES);
    checkWhole("selectKBest", "k", k, 1);
  },
  async learn(data, { score = "fClassif", k = 10 }) {
    const features = data.x.shape[1] as number;
    if (k > features) throw new ArgumentError(`selectKBest.fit: k is ${k}, and there are ${features} features.`);
    const found = await scored("selectKBest", data, score);
    const sizes = Array.from(found.scores, (each) => (Number.isNaN(each) ? Number.NEGATIVE_INFINITY : each));
    // Of equals the last stay, as in scikit-learn.
    const order = [...sizes.keys()].sort((a, b) => (sizes[b] as number) - (sizes[a] as number) || b - a);
    return learnedOf(
      found,
      order.slice(0, k).sort((a, b) => a - b),
      data.x,
    );
  },
  ...selecting,
  methods: bestMethods,
});

const shareMethods = selectionMethods<ScoredLearned, SelectPercentileOptions>();

/** Keeps a percentage of the columns: those of the best scores. */
export const selectPercentile = transformer<ScoredLearned, SelectPercentileOptions, typeof shareMethods>({
  kind: "selectPercentile",
  options: { score: "text", percentile: "number" },
  takesWeights: false,
  targets: selectorTargets,
  check({ score, percentile = 10 }) {
    checkChoice("selectPercentile", "the score", score, SCORES);
    checkAmount("selectPercentile", "percentile", percentile, 0, 100);
  },
  async learn(data, { score = "fClassif", percentile = 10 }) {
    const found = await scored("selectPercentile", data, score);
    const sizes = Array.from(found.scores, (each) => (Number.isNaN(each) ? Number.NEGATIVE_INFINITY : each));
    const kept = bestShare(sizes, percentile);
    if (kept.length > 0) return learnedOf(found, kept, data.x);
    throw new ArgumentError(`selectPercentile.fit: ${percentile} % of ${sizes.length} columns is none; take more.`);
  },
  ...selecting,
  methods: shareMethods,
});

/** Places above the percentile of the sizes, and as many of those on it, the first ones, as fill the share. */
function bestShare(sizes: readonly number[], percentile: number): number[] {
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
