/** The confusion matrix: which classes are taken for which. */
import { checkOptions, checkWhole } from "../../core/arguments.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { formatShape, sameShape } from "../../core/shape.js";
import { checkTensor, type Tensor, where } from "../../tensor/index.js";
import { wholeLabels } from "./labels.js";

/** Options of `confusionMatrix`. */
export interface ConfusionOptions {
  /** The number of classes: needed where predictions are class numbers. */
  readonly classes?: number;
}

/**
 * Counts of examples by right class (rows) and predicted class (columns), in i32. Predictions are scores [..., classes] or class
 * numbers like the targets; examples with a number that is no class are left out.
 */
export function confusionMatrix(predictions: Tensor, targets: Tensor, options: ConfusionOptions = {}): Tensor {
  checkOptions("confusionMatrix", options, { classes: "number" });
  checkTensor("confusionMatrix", "the prediction", predictions);
  checkTensor("confusionMatrix", "the target", targets);
  const right = wholeLabels("confusionMatrix", targets);
  const isScores = sameShape(predictions.shape.slice(0, -1), targets.shape) && predictions.rank === targets.rank + 1;
  if (!isScores && !sameShape(predictions.shape, targets.shape)) {
    throw new ShapeError(
      `confusionMatrix: predictions ${formatShape(predictions.shape)} are neither class numbers like the targets ` +
        `${formatShape(targets.shape)} nor scores with one more axis.`,
    );
  }
  const found = isScores ? predictions.argmax({ axis: -1 }) : wholeLabels("confusionMatrix", predictions);
  const count = options.classes ?? (isScores ? predictions.shape[predictions.rank - 1] : undefined);
  if (count === undefined) {
    throw new ArgumentError(
      "confusionMatrix: of class numbers give how many classes there are, as in { classes: 10 }.",
    );
  }
  const classes = checkWhole("confusionMatrix", "the option classes", count, 1);
  return countsByClass(right, found, classes);
}

/** Counts [right class, found class] of class numbers, in i32; or sums of the amounts that the examples count for. */
export function countsByClass(right: Tensor, found: Tensor, classes: number, amounts?: Tensor): Tensor {
  const isClass = (x: Tensor) => x.greaterEqual(0).logicalAnd(x.less(classes));
  const cells = where(isClass(right).logicalAnd(isClass(found)), right.mul(classes).add(found), -1);
  return cells
    .flatten()
    .bincount({ length: classes * classes, ...(amounts && { weights: amounts.flatten(), deterministic: true }) })
    .reshape([classes, classes]);
}
