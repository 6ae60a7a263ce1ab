/**
 * How well scores rank what is relevant: gain of documents, coverage and precision of labels. Ranks are counts of larger scores, so that
 * equal scores need no order and everything traces.
 */
import { checkOptions, checkWhole } from "../../core/arguments.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { formatShape, sameShape } from "../../core/shape.js";
import { concat, countingLike, type Tensor, where, zeros } from "../../tensor/index.js";
import { shareOf } from "../core/share.js";
import { type Numbers, numbersLike } from "../core/targets.js";
import { scoredFlags } from "./areas.js";
import { METRIC, type MetricOptions, placeOf, weightedMean, weightsFor } from "./inputs.js";
import type { LabelsOrFlags } from "./labels.js";

/** Options of `ndcg`. */
export interface NdcgOptions extends MetricOptions {
  /** How many of the best ranks count: all unless told. */
  readonly k?: number;
  /** Equal scores are taken in the order of their columns, the last first, instead of by their mean. */
  readonly ignoreTies?: boolean;
}

/** Options of `dcg`. */
export interface DcgOptions extends NdcgOptions {
  /** The base of the logarithm by which ranks are discounted: 2 unless told. */
  readonly logBase?: number;
}

const NDCG = { ...METRIC, k: "number", ignoreTies: "flag" } as const;

interface Gains {
  readonly scores: Tensor;
  readonly gains: Tensor;
  readonly weights: Tensor | null;
}

function gainsOf(operation: string, scores: Numbers, relevance: Numbers, options: MetricOptions): Gains {
  const place = placeOf(operation, [scores, relevance], options);
  const [given, gains] = [
    numbersLike(operation, scores, place, "scores"),
    numbersLike(operation, relevance, place, "relevances"),
  ];
  if (given.rank === 2 && sameShape(given.shape, gains.shape)) {
    return { scores: given, gains, weights: weightsFor(operation, options, given.shape[0] as number, place) };
  }
  throw new ShapeError(
    `${operation}: scores and relevances are [queries, documents] both, not ${formatShape(given.shape)} and ${formatShape(gains.shape)}.`,
  );
}

/** The discounted cumulative gain of documents [queries, documents], ranked by scores; the mean over queries. */
export function dcg(scores: Numbers, relevance: Numbers, options: DcgOptions = {}): Tensor {
  checkOptions("metrics.dcg", options, { ...NDCG, logBase: "number" });
  const { logBase = 2 } = options;
  if (!(logBase > 0 && logBase !== 1)) {
    throw new ArgumentError(`metrics.dcg: logBase is ${logBase}; it is a number above zero, and not 1.`);
  }
  const given = gainsOf("metrics.dcg", scores, relevance, options);
  return weightedMean(discounted("metrics.dcg", given.scores, given.gains, options), given.weights);
}

/** The gain as a share of that of the best ranking; 0 for a query without any. Relevances are zero or more. */
export function ndcg(scores: Numbers, relevance: Numbers, options: NdcgOptions = {}): Tensor {
  checkOptions("metrics.ndcg", options, NDCG);
  const { scores: given, gains, weights } = gainsOf("metrics.ndcg", scores, relevance, options);
  const found = discounted("metrics.ndcg", given, gains, options);
  const best = discounted("metrics.ndcg", gains, gains, { ...options, ignoreTies: true });
  return weightedMean(shareOf(found, best), weights);
}

function discounted(operation: string, scores: Tensor, gains: Tensor, options: DcgOptions): Tensor {
  const { k, ignoreTies = false, logBase = 2 } = options;
  const documents = scores.shape[1] as number;
  const most = k === undefined ? documents : checkWhole(operation, "k", k, 1);
  const { dtype, device } = scores;
  const ranks = countingLike(scores, documents);
  const discounts = where(ranks.less(most), ranks.cast(dtype).add(2).log().div(Math.log(logBase)).reciprocal(), 0);
  const [own, other] = [scores.expandDims(2), scores.expandDims(1)] as [Tensor, Tensor];
  const before = countedOf(other.greater(own) as Tensor);
  if (ignoreTies) {
    const isLater = ranks.expandDims(0).greater(ranks.expandDims(1));
    const rank = before.add(countedOf(other.equal(own).logicalAnd(isLater) as Tensor));
    return gains.mul(discounts.take(rank)).sum({ axis: 1 }) as Tensor;
  }
  // Equal scores share the mean of the discounts of their ranks.
  const upTo = before.add(countedOf(other.equal(own) as Tensor));
  const sums = concat([zeros([1], { dtype, device }), discounts.cumsum()]);
  const mean = sums.take(upTo).sub(sums.take(before)).div(upTo.sub(before).cast(dtype));
  return gains.mul(mean).sum({ axis: 1 }) as Tensor;
}

/** How often a condition holds along the last axis. */
const countedOf = (condition: Tensor): Tensor => condition.cast("i32").sum({ axis: -1 }) as Tensor;

/** How far down the ranking one has to go, on average, to cover all labels of a sample; 0 for a sample without any. */
export function coverageError(scores: Numbers, targets: LabelsOrFlags, options: MetricOptions = {}): Tensor {
  checkOptions("metrics.coverageError", options, METRIC);
  const { table, flags, weights } = scoredFlags("metrics.coverageError", scores, targets, options);
  const least = where(flags.greater(0), table, Number.POSITIVE_INFINITY).min({ axis: 1, keepDims: true });
  return weightedMean(table.greaterEqual(least).cast(table.dtype).sum({ axis: 1 }) as Tensor, weights);
}

/** The mean over labels of a sample of the share of right ones among those that score at least as high; 1 for none or all. */
export function labelRankingAveragePrecision(
  scores: Numbers,
  targets: LabelsOrFlags,
  options: MetricOptions = {},
): Tensor {
  const operation = "metrics.labelRankingAveragePrecision";
  checkOptions(operation, options, METRIC);
  const { table, flags, weights } = scoredFlags(operation, scores, targets, options);
  const isAtLeast = table.expandDims(1).greaterEqual(table.expandDims(2)).cast(table.dtype);
  const rank = isAtLeast.sum({ axis: 2 });
  const rightOnes = isAtLeast.mul(flags.expandDims(1)).sum({ axis: 2 });
  const counts = flags.sum({ axis: 1 });
  const means = shareOf(rightOnes.div(rank).mul(flags).sum({ axis: 1 }) as Tensor, counts as Tensor);
  const isTrivial = counts.equal(0).logicalOr(counts.equal(table.shape[1] as number));
  return weightedMean(where(isTrivial, 1, means) as Tensor, weights);
}

/** The mean share of pairs of a right and a wrong label that are in the wrong order; equal scores count as wrong. 0 without pairs. */
export function labelRankingLoss(scores: Numbers, targets: LabelsOrFlags, options: MetricOptions = {}): Tensor {
  checkOptions("metrics.labelRankingLoss", options, METRIC);
  const { table, flags, weights } = scoredFlags("metrics.labelRankingLoss", scores, targets, options);
  const others = flags.neg().add(1) as Tensor;
  const isWrong = table.expandDims(1).greaterEqual(table.expandDims(2)).cast(table.dtype);
  const wrong = isWrong.mul(others.expandDims(1)).sum({ axis: 2 }).mul(flags).sum({ axis: 1 }) as Tensor;
  const pairs = flags.sum({ axis: 1 }).mul(others.sum({ axis: 1 })) as Tensor;
  return weightedMean(shareOf(wrong, pairs), weights);
}
