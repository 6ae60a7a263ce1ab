/** How good probabilities and decision values are: log loss, Brier score, hinge loss, calibration. */
import { checkChoice, checkOptions, checkWhole, type OptionKinds } from "../../core/arguments.js";
import { ShapeError } from "../../core/errors.js";
import { formatShape, sameShape } from "../../core/shape.js";
import { countingLike, stack, type Tensor, tensor, where } from "../../tensor/index.js";
import { shareOf } from "../core/share.js";
import type { Label, Labels, Numbers } from "../core/targets.js";
import { scoredClasses } from "./agreement.js";
import { type MetricOptions, placeOf, scoresOf, weightedMean, weightedSum, weightsFor } from "./inputs.js";
import { LABELS, type LabelOptions, positives } from "./labels.js";

/** Options of metrics of two classes. */
export interface BinaryOptions extends LabelOptions {
  /** The positive class: the second in order unless told. */
  readonly posLabel?: Label;
}

export const BINARY: OptionKinds<BinaryOptions> = { ...LABELS, posLabel: "any" };

/** Scores of the positive class beside whether samples are positive. */
interface Binary {
  readonly scores: Tensor;
  readonly isPositive: Tensor;
  readonly weights: Tensor | null;
}

/** Scores [samples] of the positive class, with targets of two classes. */
export function binaryScores(operation: string, scores: Numbers, targets: Labels, options: BinaryOptions): Binary {
  const place = placeOf(operation, [scores, targets], options);
  const given = scoresOf(operation, scores, place);
  const isPositive = positives(operation, targets, options, place);
  if (sameShape(given.shape, isPositive.shape)) {
    const weights = weightsFor(operation, options, given.shape[0] as number, place);
    return { scores: given, isPositive, weights };
  }
  throw new ShapeError(
    `${operation}: scores of the positive class are ${formatShape(isPositive.shape)}, one for each target, not ${formatShape(given.shape)}.`,
  );
}

/** Options of `logLoss`. */
export interface LogLossOptions extends BinaryOptions {
  /** A mean unless false, which gives a sum. */
  readonly normalize?: boolean;
}

/**
 * The mean negative logarithm of the right class's probability. Probabilities are [samples, classes], or [samples] for the positive one
 * of two; they are kept a rounding error away from 0 and 1, and rows are divided by their sums.
 */
export function logLoss(probabilities: Numbers, targets: Labels, options: LogLossOptions = {}): Tensor {
  checkOptions("metrics.logLoss", options, { ...BINARY, normalize: "flag" });
  const { losses, weights } = logLosses("metrics.logLoss", probabilities, targets, options);
  return options.normalize === false ? weightedSum(losses, weights) : weightedMean(losses, weights);
}

/** The share of the log loss that probabilities save against those that are the classes' shares of the targets. */
export function d2LogLoss(probabilities: Numbers, targets: Labels, options: BinaryOptions = {}): Tensor {
  checkOptions("metrics.d2LogLoss", options, BINARY);
  const { losses, weights, members } = logLosses("metrics.d2LogLoss", probabilities, targets, options);
  const shares = weightedMean(members, weights);
  const plain = shares
    .mul(where(shares.equal(0), 1, shares).log())
    .sum()
    .neg();
  return weightedMean(losses, weights).div(plain).neg().add(1) as Tensor;
}

/** The loss of each sample; `members` are 1 for the right class of a sample, else 0. */
function logLosses(operation: string, probabilities: Numbers, targets: Labels, options: BinaryOptions) {
  const place = placeOf(operation, [probabilities, targets], options);
  const given = scoresOf(operation, probabilities, place);
  const { table, members, weights } = given.rank === 1 ? ofTwo() : ofSeveral();
  const smallest = given.dtype === "f64" ? 2 ** -52 : 2 ** -23;
  const clipped = table.clip(smallest, 1 - smallest);
  const kept = clipped.div(clipped.sum({ axis: 1, keepDims: true }));
  const own = members.mul(kept).sum({ axis: 1 });
  const isClass = members.sum({ axis: 1 }).greater(0);
  // A label that is no class has no probability.
  return { losses: where(isClass, own, 0).log().neg() as Tensor, weights, members };

  function ofTwo() {
    const { scores, isPositive, weights } = binaryScores(operation, given, targets, options);
    const flags = isPositive.cast(scores.dtype);
    return {
      table: stack([scores.neg().add(1) as Tensor, scores], { axis: 1 }) as Tensor,
      members: stack([flags.neg().add(1), flags], { axis: 1 }) as Tensor,
      weights,
    };
  }
  function ofSeveral() {
    const { scores, codes, weights } = scoredClasses(operation, given, targets, options);
    const places = countingLike(scores, scores.shape[1] as number);
    return { table: scores, members: places.equal(codes.expandDims(1)).cast(scores.dtype) as Tensor, weights };
  }
}

/** The mean squared difference between the probability of the positive class and what was the case. */
export function brierScore(probabilities: Numbers, targets: Labels, options: BinaryOptions = {}): Tensor {
  checkOptions("metrics.brierScore", options, BINARY);
  const { scores, isPositive, weights } = binaryScores("metrics.brierScore", probabilities, targets, options);
  return weightedMean(isPositive.cast(scores.dtype).sub(scores).square() as Tensor, weights);
}

/** The mean hinge loss: decision values [samples] of the positive class of two, or [samples, classes] by Crammer and Singer. */
export function hingeLoss(decisions: Numbers, targets: Labels, options: BinaryOptions = {}): Tensor {
  const operation = "metrics.hingeLoss";
  checkOptions(operation, options, BINARY);
  const given = scoresOf(operation, decisions, placeOf(operation, [decisions, targets], options));
  if (given.rank === 1) {
    const { scores, isPositive, weights } = binaryScores(operation, given, targets, options);
    const sign = isPositive.cast(scores.dtype).mul(2).sub(1);
    return weightedMean(sign.mul(scores).neg().add(1).maximum(0) as Tensor, weights);
  }
  const { scores, codes, weights } = scoredClasses(operation, given, targets, options);
  const isRight = countingLike(scores, scores.shape[1] as number).equal(codes.expandDims(1));
  const own = where(isRight, scores, 0).sum({ axis: 1 });
  const other = where(isRight, Number.NEGATIVE_INFINITY, scores).max({ axis: 1 });
  return weightedMean(other.sub(own).add(1).maximum(0) as Tensor, weights);
}

/** Options of `calibrationCurve`. */
export interface CalibrationCurveOptions extends Omit<MetricOptions, "weights"> {
  readonly labels?: readonly Label[];
  readonly posLabel?: Label;
  /** 5 unless told. */
  readonly bins?: number;
  /** Bins of equal width, or of equally many samples: "uniform" unless told. */
  readonly strategy?: "uniform" | "quantile";
}

/** A calibration curve: for each bin that has samples, the share of positives and the mean probability. */
export interface CalibrationCurve {
  readonly observed: Tensor;
  readonly predicted: Tensor;
}

/** The share of positives by predicted probability. Reads which bins have samples. */
export function calibrationCurve(
  probabilities: Numbers,
  targets: Labels,
  options: CalibrationCurveOptions = {},
): CalibrationCurve {
  const operation = "metrics.calibrationCurve";
  const { weights: _, ...known } = BINARY;
  checkOptions(operation, options, { ...known, bins: "number", strategy: "text" });
  const { strategy = "uniform" } = options;
  checkChoice(operation, "the option strategy", strategy, ["uniform", "quantile"]);
  const bins = checkWhole(operation, "bins", options.bins ?? 5, 1);
  const { scores, isPositive } = binaryScores(operation, probabilities, targets, options);
  const { device, dtype } = scores;
  const shares = Float64Array.from({ length: bins + 1 }, (_, i) => i / bins);
  const edges =
    strategy === "uniform" ? tensor(shares, { device, dtype: dtype as "f64" }) : scores.quantile([...shares]);
  const place = edges.at(`1:${bins}`).searchSorted(scores);
  const sum = (weights: Tensor): Tensor => place.bincount({ length: bins, weights, deterministic: true }) as Tensor;
  const counts = sum(scores.mul(0).add(1) as Tensor);
  const full = Int32Array.from(
    Array.from(counts.dataSync() as ArrayLike<number>).flatMap((count, bin) => (count > 0 ? [bin] : [])),
  );
  const mean = (values: Tensor): Tensor => shareOf(sum(values), counts).take(tensor(full, { device })) as Tensor;
  return { observed: mean(isPositive.cast(dtype) as Tensor), predicted: mean(scores) };
}
