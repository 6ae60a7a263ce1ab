/** The share of predictions that are right: accuracy of classes and of binary labels, and the right class among the k best. */
import { checkOptions, checkWhole } from "../../core/arguments.js";
import { isFloat } from "../../core/dtype.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { formatShape } from "../../core/shape.js";
import { asFloat, type Tensor } from "../../tensor/index.js";
import { checkNotEmpty, classLabels, decisions, ranksOfLabels } from "./labels.js";
import { type WeightOptions, weightedMean } from "./weights.js";

/** Options of metrics of binary labels. */
export interface ThresholdOptions extends WeightOptions {
  /** Predictions above it say yes: 0.5 unless told, which is for probabilities; 0 is for logits. */
  readonly threshold?: number;
}

/** Options of `topKAccuracy`. */
export interface TopKAccuracyOptions extends WeightOptions {
  /** How many of the best classes count: 5 unless told. */
  readonly k?: number;
}

/**
 * The share of examples whose right class has the largest score; of equal ones the first counts. Targets are class numbers,
 * or shares of the classes like the predictions [..., classes]. Predictions of one number, yes or no, are for `binaryAccuracy`.
 */
export function accuracy(predictions: Tensor, targets: Tensor, options: WeightOptions = {}): Tensor {
  checkOptions("accuracy", options, { weights: "any" });
  return shareAmong("accuracy", predictions, targets, 1, options);
}

/** The share of examples whose right class is among the k with the largest scores. Targets as for `accuracy`. */
export function topKAccuracy(predictions: Tensor, targets: Tensor, options: TopKAccuracyOptions = {}): Tensor {
  checkOptions("topKAccuracy", options, { k: "number", weights: "any" });
  const k = checkWhole("topKAccuracy", "k", options.k ?? 5, 1);
  return shareAmong("topKAccuracy", predictions, targets, k, options);
}

/** The share of elements whose prediction and target are on the same side of the threshold. */
export function binaryAccuracy(predictions: Tensor, targets: Tensor, options: ThresholdOptions = {}): Tensor {
  const threshold = thresholdOf("binaryAccuracy", options);
  const [says, isTrue] = decisions("binaryAccuracy", predictions, targets, threshold);
  checkNotEmpty("binaryAccuracy", predictions);
  return weightedMean("binaryAccuracy", says.equal(isTrue).cast(metricDType(predictions)), options.weights);
}

/** The threshold of the options, checked. */
export function thresholdOf(operation: string, options: ThresholdOptions): number {
  checkOptions(operation, options, { threshold: "number", weights: "any" });
  const { threshold = 0.5 } = options;
  if (Number.isNaN(threshold)) throw new ArgumentError(`${operation}: the threshold is a number, not NaN.`);
  return threshold;
}

/** Shares are f64 where predictions are, and else f32. */
export const metricDType = ({ dtype }: Tensor): "f32" | "f64" => (dtype === "f64" ? "f64" : "f32");

function shareAmong(
  operation: string,
  predictions: Tensor,
  targets: Tensor,
  k: number,
  { weights }: WeightOptions,
): Tensor {
  const labels = classLabels(operation, predictions, targets);
  checkNotEmpty(operation, predictions);
  if (predictions.shape.at(-1) === 1) {
    throw new ShapeError(
      `${operation}: predictions ${formatShape(predictions.shape)} have one class, which is always right. Yes or no is for binaryAccuracy: ` +
        'metrics: { accuracy: ["binaryAccuracy", { threshold: 0 }] } for logits, ["binaryAccuracy"] for probabilities.',
    );
  }
  const scores = isFloat(predictions.dtype) ? predictions : asFloat(operation, predictions);
  return weightedMean(operation, ranksOfLabels(scores, labels).less(k).cast(metricDType(scores)), weights);
}
