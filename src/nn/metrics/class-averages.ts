/**
 * Precision, recall and F1 of several classes, each class against the others, and their averages as scikit-learn names them. Classes
 * that are neither right nor predicted anywhere in the batch do not count, as there.
 */
import { checkChoice, checkOptions, checkWhole } from "../../core/arguments.js";
import { isInteger } from "../../core/dtype.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { formatShape, sameShape } from "../../core/shape.js";
import { checkTensor, type Tensor, where } from "../../tensor/index.js";
import { metricDType, type ThresholdOptions } from "./classification.js";
import { countsByClass } from "./confusion.js";
import { checkNotEmpty, classLabels, wholeLabels } from "./labels.js";
import { factorsFor } from "./weights.js";

/** Options of `precision`, `recall` and `f1`. */
export interface AverageOptions extends ThresholdOptions {
  /**
   * For classes instead of binary labels: "macro" is the mean over classes, "weighted" the mean weighted by the examples of each class,
   * "micro" the share of all decisions together, "none" a value for each class. Predictions are then scores [..., classes], or class
   * numbers; targets are as for `accuracy`.
   */
  readonly average?: "macro" | "micro" | "weighted" | "none";
  /** The number of classes: needed where predictions are class numbers. */
  readonly classes?: number;
}

type Share = "precision" | "recall" | "sensitivity" | "f1";

/** The average over classes of a share. */
export function averaged(operation: Share, predictions: Tensor, targets: Tensor, options: AverageOptions): Tensor {
  checkOptions(operation, options, { threshold: "number", average: "text", classes: "number", weights: "any" });
  const { average, threshold } = options;
  checkChoice(operation, "the option average", average, ["macro", "micro", "weighted", "none"]);
  if (threshold !== undefined) {
    throw new ArgumentError(`${operation}: a threshold is for binary labels; with average, the best score decides.`);
  }
  const matrix = matrixOf(operation, predictions, targets, options);
  const dtype = metricDType(predictions);
  const right = matrix.diagonal();
  const [examples, predicted] = [matrix.sum({ axis: 1 }), matrix.sum({ axis: 0 })];
  const [part, whole] = partAndWhole(operation, right, examples, predicted);
  if (average === "micro") return shareOf(part.sum(), whole.sum(), dtype);
  const shares = shareOf(part, whole, dtype);
  if (average === "none") return shares;
  const counts = average === "weighted" ? examples : examples.add(predicted).greater(0);
  const weights = counts.cast(dtype);
  const total = weights.sum();
  return shares
    .mul(weights)
    .sum()
    .div(where(total.equal(0), 1, total));
}

/** part / whole, and 0 where the whole is zero. */
export function shareOf(part: Tensor, whole: Tensor, dtype: "f32" | "f64"): Tensor {
  const divisor = whole.cast(dtype);
  return part.cast(dtype).div(where(divisor.equal(0), 1, divisor));
}

function partAndWhole(operation: Share, right: Tensor, examples: Tensor, predicted: Tensor): [Tensor, Tensor] {
  switch (operation) {
    case "precision":
      return [right, predicted];
    case "recall":
    case "sensitivity":
      return [right, examples];
    case "f1":
      return [right.mul(2), examples.add(predicted)];
  }
}

/** The confusion matrix of scores [..., classes], or of integers that are class numbers. */
function matrixOf(operation: Share, predictions: Tensor, targets: Tensor, options: AverageOptions): Tensor {
  const { classes, weights } = options;
  const dtype = metricDType(predictions);
  const amounts = (labels: Tensor) =>
    weights === undefined ? undefined : factorsFor(operation, labels.cast(dtype), weights);
  checkTensor(operation, "the prediction", predictions);
  checkTensor(operation, "the target", targets);
  checkNotEmpty(operation, predictions);
  if (!isInteger(predictions.dtype)) {
    const labels = classLabels(operation, predictions, targets);
    const count = predictions.shape.at(-1) as number;
    if (count > 1 && (classes === undefined || classes === count)) {
      return countsByClass(labels, predictions.argmax({ axis: -1 }), count, amounts(labels));
    }
    throw new ShapeError(
      `${operation}: predictions ${formatShape(predictions.shape)} are scores of ${count === 1 ? "one class" : `${count} classes`}, not of ` +
        `${classes ?? "several"}; leave average out for binary labels.`,
    );
  }
  if (!sameShape(predictions.shape, targets.shape)) {
    throw new ShapeError(
      `${operation}: predicted class numbers ${formatShape(predictions.shape)} take targets of their shape, not ${formatShape(targets.shape)}.`,
    );
  }
  if (classes === undefined) {
    throw new ArgumentError(`${operation}: predictions are class numbers; give their count, as in { classes: 10 }.`);
  }
  checkWhole(operation, "the option classes", classes, 1);
  return countsByClass(wholeLabels(operation, targets), predictions.cast("i32"), classes, amounts(targets));
}
