/** Areas under curves of decisions, without the curves: of two classes, of several, of several labels. Functions of tensors that trace. */
import { checkChoice, checkOptions } from "../../core/arguments.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { formatShape, sameShape } from "../../core/shape.js";
import { auc as areaByRanks } from "../../nn/metrics/ranking.js";
import { concat, countingLike, stack, type Tensor, where, zeros } from "../../tensor/index.js";
import { vmap } from "../../transforms/vmap.js";
import { shareOf } from "../core/share.js";
import type { Labels, Numbers } from "../core/targets.js";
import { scoredClasses } from "./agreement.js";
import { rocPoints } from "./curves.js";
import { isMatrix, type MetricOptions, placeOf, scoresOf, weightedMean, weightsFor } from "./inputs.js";
import { flagsOf, type LabelsOrFlags } from "./labels.js";
import { BINARY, type BinaryOptions, binaryScores } from "./probabilities.js";

/** How the areas of several classes or labels become one number. */
export type AreaAverage = "macro" | "weighted" | "micro" | "samples" | "none";

const AVERAGES: readonly AreaAverage[] = ["macro", "weighted", "micro", "samples", "none"];

/** Options of `averagePrecision`. */
export interface AveragePrecisionOptions extends BinaryOptions {
  /** Of several classes or labels: "macro" unless told. */
  readonly average?: AreaAverage;
}

/** Options of `rocAuc`. */
export interface RocAucOptions extends AveragePrecisionOptions {
  /** Of several classes: each against the rest, which is "ovr", or each pair, which is "ovo". To be told for more than two classes. */
  readonly multiClass?: "ovr" | "ovo";
  /** The largest rate of false positives that counts; the area up to it is rescaled so that chance is ½ (McClish 1989). */
  readonly maxFpr?: number;
}

type Area = (scores: Tensor, isPositive: Tensor, weights: Tensor | null) => Tensor;

/**
 * The area under the ROC curve: the probability that a positive sample scores higher than a negative one. Scores are [samples] of the
 * positive class of two, or [samples, classes]; NaN where all targets are of one class.
 */
export function rocAuc(scores: Numbers, targets: LabelsOrFlags, options: RocAucOptions = {}): Tensor {
  const operation = "metrics.rocAuc";
  checkOptions(operation, options, { ...BINARY, average: "text", multiClass: "text", maxFpr: "number" });
  const { maxFpr = 1, multiClass } = options;
  checkChoice(operation, "the option multiClass", multiClass, ["ovr", "ovo"]);
  if (!(maxFpr > 0 && maxFpr <= 1)) {
    throw new ArgumentError(`${operation}: maxFpr is ${maxFpr}; it is above 0, and 1 at most.`);
  }
  const area: Area = maxFpr === 1 ? wholeArea : (s, p, w) => partialArea(s, p, w, maxFpr);
  if (!isMatrix(scores) || isMatrix(targets)) return averagedArea(operation, scores, targets, options, area);
  if (maxFpr !== 1) throw new ArgumentError(`${operation}: maxFpr is for two classes; leave it out with several.`);
  if (multiClass === undefined) {
    throw new ArgumentError(`${operation}: scores are of several classes; say { multiClass: "ovr" } or "ovo".`);
  }
  return multiClass === "ovr"
    ? averagedArea(operation, scores, targets, options, area)
    : areaOfPairs(operation, scores, targets as Labels, options);
}

/** The mean precision over the positives, each at its own score: the area under the curve of precision and recall, in steps. */
export function averagePrecision(
  scores: Numbers,
  targets: LabelsOrFlags,
  options: AveragePrecisionOptions = {},
): Tensor {
  checkOptions("metrics.averagePrecision", options, { ...BINARY, average: "text" });
  return averagedArea("metrics.averagePrecision", scores, targets, options, meanPrecision);
}

const wholeArea: Area = (scores, isPositive, weights) => areaByRanks(scores, isPositive, weights ? { weights } : {});

function partialArea(scores: Tensor, isPositive: Tensor, weights: Tensor | null, most: number): Tensor {
  const [x, y] = rocPoints(scores, isPositive, weights);
  const [x0, x1, y0, y1] = [x.at(":-1"), x.at("1:"), y.at(":-1"), y.at("1:")] as [Tensor, Tensor, Tensor, Tensor];
  const [from, to] = [x0.minimum(most), x1.minimum(most)] as [Tensor, Tensor];
  const height = (at: Tensor): Tensor =>
    y0.add(y1.sub(y0).mul(shareOf(at.sub(x0) as Tensor, x1.sub(x0) as Tensor))) as Tensor;
  const area = to
    .sub(from)
    .mul(height(from).add(height(to)))
    .sum()
    .div(2);
  const least = 0.5 * most * most;
  return area
    .sub(least)
    .div(most - least)
    .add(1)
    .div(2) as Tensor;
}

function meanPrecision(scores: Tensor, isPositive: Tensor, weights: Tensor | null): Tensor {
  const { dtype, device } = scores;
  const ones = isPositive.cast(dtype);
  const amounts = (weights ?? ones.mul(0).add(1)) as Tensor;
  const own = ones.mul(amounts) as Tensor;
  const order = scores.argsort();
  const below = (scores.take(order) as Tensor).searchSorted(scores);
  const atLeast = (x: Tensor): Tensor => {
    const before = concat([zeros([1], { dtype, device }), x.take(order).cumsum()]);
    return before.at(-1).sub(before.take(below)) as Tensor;
  };
  const precision = shareOf(atLeast(own), atLeast(amounts));
  const mean = shareOf(own.mul(precision).sum() as Tensor, own.sum() as Tensor);
  return where(scores.isNaN().any(), Number.NaN, mean) as Tensor;
}

/** Areas of each column of scores against whether samples are positive there, [samples, columns] both, averaged. */
function averagedArea(
  operation: string,
  scores: Numbers,
  targets: LabelsOrFlags,
  options: AveragePrecisionOptions,
  area: Area,
): Tensor {
  const { average = "macro" } = options;
  checkChoice(operation, "the option average", average, AVERAGES);
  if (!isMatrix(scores)) {
    const binary = binaryScores(operation, scores, targets as Labels, options);
    return area(binary.scores, binary.isPositive, binary.weights);
  }
  const { table, isPositive, weights } = columnsOf(operation, scores, targets, options);
  if (average === "micro") {
    const repeated = weights ? (weights.expandDims(1).broadcastTo(table.shape).flatten() as Tensor) : null;
    return area(table.flatten() as Tensor, isPositive.flatten() as Tensor, repeated);
  }
  if (average === "samples")
    return weightedMean(vmap((s: Tensor, p: Tensor) => area(s, p, null))(table, isPositive), weights);
  const areas = vmap((s: Tensor, p: Tensor) => area(s, p, weights))(table.T, isPositive.T) as Tensor;
  if (average === "none") return areas;
  if (average === "macro") return areas.mean() as Tensor;
  const members = isPositive.cast(table.dtype);
  const shares = (weights ? members.mul(weights.expandDims(1)) : members).sum({ axis: 0 }) as Tensor;
  return shareOf(where(shares.equal(0), 0, areas).mul(shares).sum() as Tensor, shares.sum() as Tensor);
}

interface Columns {
  readonly table: Tensor;
  readonly isPositive: Tensor;
  readonly weights: Tensor | null;
}

function columnsOf(operation: string, scores: Numbers, targets: LabelsOrFlags, options: BinaryOptions): Columns {
  if (!isMatrix(targets)) {
    const { scores: table, codes, weights } = scoredClasses(operation, scores, targets as Labels, options);
    const places = countingLike(table, table.shape[1] as number);
    return { table, isPositive: places.equal(codes.expandDims(1)) as Tensor, weights };
  }
  const { table, flags, weights } = scoredFlags(operation, scores, targets, options);
  return { table, isPositive: flags.greater(0) as Tensor, weights };
}

/** Scores and flags of several labels, [samples, labels] both. */
export function scoredFlags(operation: string, scores: Numbers, targets: LabelsOrFlags, options: MetricOptions) {
  const place = placeOf(operation, [scores, targets], options);
  const [table, flags] = [scoresOf(operation, scores, place), flagsOf(operation, targets, place)];
  if (sameShape(table.shape, flags.shape)) {
    return { table, flags, weights: weightsFor(operation, options, table.shape[0] as number, place) };
  }
  throw new ShapeError(
    `${operation}: scores ${formatShape(table.shape)} and targets ${formatShape(flags.shape)} have different shapes.`,
  );
}

/** The mean area over pairs of classes, each among the samples of the pair alone (Hand & Till 2001). */
function areaOfPairs(operation: string, scores: Numbers, targets: Labels, options: RocAucOptions): Tensor {
  const { average = "macro" } = options;
  if (average !== "macro" && average !== "weighted") {
    throw new ArgumentError(
      `${operation}: of pairs of classes the average is "macro" or "weighted", not "${average}".`,
    );
  }
  const { scores: table, codes, weights } = scoredClasses(operation, scores, targets, options);
  const classes = table.shape[1] as number;
  const [areas, shares]: [Tensor[], Tensor[]] = [[], []];
  for (let a = 0; a < classes; a++) {
    for (let b = a + 1; b < classes; b++) {
      const isPair = codes.equal(a).logicalOr(codes.equal(b)).cast(table.dtype) as Tensor;
      const counts = (weights ? isPair.mul(weights) : isPair) as Tensor;
      const one = wholeArea(table.at(":", a) as Tensor, codes.equal(a) as Tensor, counts);
      const other = wholeArea(table.at(":", b) as Tensor, codes.equal(b) as Tensor, counts);
      areas.push(one.add(other).div(2) as Tensor);
      shares.push(counts.sum() as Tensor);
    }
  }
  const means = stack(areas) as Tensor;
  return average === "macro" ? (means.mean() as Tensor) : weightedMean(means, stack(shares) as Tensor);
}
