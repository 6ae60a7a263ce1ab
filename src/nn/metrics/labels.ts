/** Predictions and labels as metrics compare them: places of right classes, decisions by a threshold, numbers of classes. */
import { isFloat, isInteger } from "../../core/dtype.js";
import { DTypeError, ShapeError } from "../../core/errors.js";
import { formatShape, sameShape } from "../../core/shape.js";
import { asFloat, checkTensor, positionsAlong, type Tensor, where } from "../../tensor/index.js";
import { MAKE_INTEGERS } from "../losses/loss.js";

/** Scores [..., classes] with labels: class numbers [...], or shares [..., classes], of which the largest is the label. */
export function classLabels(operation: string, predictions: Tensor, targets: Tensor): Tensor {
  checkTensor(operation, "the prediction", predictions);
  checkTensor(operation, "the target", targets);
  const shape = predictions.shape.slice(0, -1);
  if (predictions.rank > 0 && sameShape(predictions.shape, targets.shape)) return targets.argmax({ axis: -1 });
  if (predictions.rank === 0 || !sameShape(shape, targets.shape)) {
    throw new ShapeError(
      `${operation}: predictions ${formatShape(predictions.shape)} take targets of their shape, or class numbers of ` +
        `shape ${formatShape(shape)}, not ${formatShape(targets.shape)}.`,
    );
  }
  return wholeLabels(operation, targets);
}

/** Class numbers as i32. */
export function wholeLabels(operation: string, labels: Tensor): Tensor {
  if (isInteger(labels.dtype) || labels.dtype === "bool") return labels.cast("i32");
  throw new DTypeError(`${operation}: numbers of classes are integers, not ${labels.dtype}; ${MAKE_INTEGERS}`);
}

/**
 * How many classes come before the right one, by score and then by number; [...]. The number of classes where the score is NaN
 * or the label is no class: such an example is never right.
 */
export function ranksOfLabels(scores: Tensor, labels: Tensor): Tensor {
  const places = positionsAlong(scores, scores.rank - 1);
  const isLabel = places.equal(labels.expandDims(-1));
  const right = where(isLabel, scores, -Infinity).max({ axis: -1, keepDims: true });
  const isBefore = scores.greater(right).logicalOr(scores.equal(right).logicalAnd(places.less(labels.expandDims(-1))));
  const isNone = right
    .isNaN()
    .squeeze(-1)
    .logicalOr(isLabel.any({ axis: -1 }).logicalNot());
  return where(isNone, scores.shape[scores.rank - 1] as number, isBefore.sum({ axis: -1 }));
}

/** Whether each prediction says yes, and whether its target does: both of one shape. */
export function decisions(
  operation: string,
  predictions: Tensor,
  targets: Tensor,
  threshold: number,
): [says: Tensor, isTrue: Tensor] {
  checkTensor(operation, "the prediction", predictions);
  checkTensor(operation, "the target", targets);
  if (!sameShape(predictions.shape, targets.shape)) {
    throw new ShapeError(
      `${operation}: predictions ${formatShape(predictions.shape)} and targets ${formatShape(targets.shape)} have ` +
        "different shapes; reshape one of them.",
    );
  }
  const says = predictions.dtype === "bool" ? predictions : asFloat(operation, predictions).greater(threshold);
  return [says, isFloat(targets.dtype) ? targets.greater(0.5) : targets.cast("bool")];
}

/** Metrics are means over examples: without any there is none. */
export function checkNotEmpty(operation: string, { shape, size }: Tensor): void {
  if (size > 0) return;
  throw new ShapeError(`${operation}: the batch is empty, ${formatShape(shape)}.`);
}
