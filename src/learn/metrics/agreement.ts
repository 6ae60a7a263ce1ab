/** How many predictions are right: accuracies and the losses beside them. */
import { checkOptions, checkWhole } from "../../core/arguments.js";
import { ShapeError } from "../../core/errors.js";
import { formatShape, sameShape } from "../../core/shape.js";
import { countingLike, isTensor, type Tensor, where } from "../../tensor/index.js";
import { shareOf } from "../core/share.js";
import type { Labels, Numbers } from "../core/targets.js";
import {
  checkCounts,
  METRIC,
  type MetricOptions,
  placeOf,
  scoresOf,
  weightedMean,
  weightedSum,
  weightsFor,
} from "./inputs.js";
import {
  classesAmong,
  codedPair,
  codesOf,
  flaggedPair,
  LABELS,
  type LabelOptions,
  type LabelsOrFlags,
} from "./labels.js";
import { talliesOfClasses } from "./tallies.js";

/** Options of `accuracy` and `zeroOneLoss`. */
export interface AccuracyOptions extends MetricOptions {
  /** A share unless false, which gives a count. */
  readonly normalize?: boolean;
}

const ACCURACY = { ...METRIC, normalize: "flag" } as const;

/** The share of samples whose label is predicted; all labels of it, where samples have several. */
export function accuracy(predictions: LabelsOrFlags, targets: LabelsOrFlags, options: AccuracyOptions = {}): Tensor {
  checkOptions("metrics.accuracy", options, ACCURACY);
  return counted("metrics.accuracy", predictions, targets, options, (isRight) => isRight);
}

/** The share of samples whose label is not predicted. */
export function zeroOneLoss(predictions: LabelsOrFlags, targets: LabelsOrFlags, options: AccuracyOptions = {}): Tensor {
  checkOptions("metrics.zeroOneLoss", options, ACCURACY);
  return counted("metrics.zeroOneLoss", predictions, targets, options, (isRight) => isRight.neg().add(1) as Tensor);
}

function counted(
  operation: string,
  predictions: LabelsOrFlags,
  targets: LabelsOrFlags,
  options: AccuracyOptions,
  value: (isRight: Tensor) => Tensor,
): Tensor {
  const { isRight, weights } = compared(operation, predictions, targets, options);
  return options.normalize === false ? weightedSum(value(isRight), weights) : weightedMean(value(isRight), weights);
}

/** 1 for each sample that is predicted right, else 0. Two tensors are compared without reading them. */
function compared(
  operation: string,
  predictions: LabelsOrFlags,
  targets: LabelsOrFlags,
  options: MetricOptions,
): { readonly isRight: Tensor; readonly weights: Tensor | null } {
  const flagged = flaggedPair(operation, predictions, targets, options);
  if (flagged) {
    const { found, right, weights, dtype } = flagged;
    return { isRight: found.equal(right).all({ axis: 1 }).cast(dtype) as Tensor, weights };
  }
  if (isTensor(predictions) && isTensor(targets)) {
    const place = placeOf(operation, [predictions, targets], options);
    if (predictions.rank !== 1 || targets.rank !== 1) {
      throw new ShapeError(
        `${operation}: labels are [samples], not ${formatShape(predictions.shape)} and ${formatShape(targets.shape)}.`,
      );
    }
    const samples = targets.shape[0] as number;
    checkCounts(operation, "predictions", predictions.shape[0] as number, samples);
    return {
      isRight: predictions.equal(targets).cast(place.dtype) as Tensor,
      weights: weightsFor(operation, options, samples, place),
    };
  }
  const { found, right, weights, dtype } = codedPair(operation, predictions as Labels, targets as Labels, options);
  return { isRight: found.equal(right).cast(dtype) as Tensor, weights };
}

/** The share of labels that are predicted wrong: of samples, or of all flags where samples have several labels. */
export function hammingLoss(predictions: LabelsOrFlags, targets: LabelsOrFlags, options: MetricOptions = {}): Tensor {
  checkOptions("metrics.hammingLoss", options, METRIC);
  const flagged = flaggedPair("metrics.hammingLoss", predictions, targets, options);
  if (!flagged) return zeroOneLoss(predictions, targets, options);
  const { found, right, weights, dtype } = flagged;
  return weightedMean(found.notEqual(right).cast(dtype).mean({ axis: 1 }) as Tensor, weights);
}

/** Options of `balancedAccuracy`. */
export interface BalancedAccuracyOptions extends LabelOptions {
  /** Rescaled so that chance is 0. */
  readonly adjusted?: boolean;
}

/** The mean over classes of the share of their samples that are predicted right. Classes without samples do not count. */
export function balancedAccuracy(predictions: Labels, targets: Labels, options: BalancedAccuracyOptions = {}): Tensor {
  checkOptions("metrics.balancedAccuracy", options, { ...LABELS, adjusted: "flag" });
  const { both, right } = talliesOfClasses(codedPair("metrics.balancedAccuracy", predictions, targets, options));
  const classes = right.greater(0).cast(both.dtype).sum() as Tensor;
  const score = shareOf(both, right).sum().div(classes) as Tensor;
  if (!options.adjusted) return score;
  const chance = classes.reciprocal();
  return score.sub(chance).div(chance.neg().add(1)) as Tensor;
}

/** Options of `topKAccuracy`. */
export interface TopKAccuracyOptions extends LabelOptions {
  /** How many of the best classes count: 2 unless told. */
  readonly k?: number;
  /** A share unless false, which gives a count. */
  readonly normalize?: boolean;
}

/** The share of samples whose right class is among the k with the largest scores [samples, classes]; of equal scores the last class counts. */
export function topKAccuracy(scores: Numbers, targets: Labels, options: TopKAccuracyOptions = {}): Tensor {
  const operation = "metrics.topKAccuracy";
  checkOptions(operation, options, { ...LABELS, k: "number", normalize: "flag" });
  const k = checkWhole(operation, "k", options.k ?? 2, 1);
  const { scores: given, codes, weights } = scoredClasses(operation, scores, targets, options);
  const places = countingLike(given, given.shape[1] as number);
  const isRight = places.equal(codes.expandDims(1));
  const own = where(isRight, given, 0).sum({ axis: 1, keepDims: true });
  const isBefore = given.greater(own).logicalOr(given.equal(own).logicalAnd(places.greater(codes.expandDims(1))));
  const isAmong = isBefore
    .sum({ axis: 1 })
    .less(k)
    .logicalAnd(isRight.any({ axis: 1 }))
    .cast(given.dtype) as Tensor;
  return options.normalize === false ? weightedSum(isAmong, weights) : weightedMean(isAmong, weights);
}

/** Scores of classes, with the right classes as positions among them. */
interface ScoredClasses {
  readonly scores: Tensor;
  readonly codes: Tensor;
  readonly weights: Tensor | null;
}

/** Scores [samples, classes] with targets as positions. The columns are the classes of `labels`, or of the targets, in order. */
export function scoredClasses(
  operation: string,
  scores: Numbers,
  targets: Labels,
  options: LabelOptions,
): ScoredClasses {
  const place = placeOf(operation, [scores, targets], options);
  const given = scoresOf(operation, scores, place);
  const classes = options.labels ?? classesAmong(operation, [targets]);
  const codes = codesOf(operation, targets, classes, place);
  const samples = codes.shape[0] as number;
  if (sameShape(given.shape, [samples, classes.length])) {
    return { scores: given, codes, weights: weightsFor(operation, options, samples, place) };
  }
  throw new ShapeError(
    `${operation}: scores are [samples, classes], ${formatShape([samples, classes.length])} here, not ${formatShape(given.shape)}; ` +
      "name classes that are not among the targets by the option labels.",
  );
}
