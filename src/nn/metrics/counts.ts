/**
 * Counts of right and wrong decisions about binary labels, and the shares made of them: precision, recall, specificity, F1. Counts
 * are i32, so that those of several batches can be added without rounding; with weights they are sums of weights. With `average`,
 * shares are of classes (class-averages.ts).
 */
import type { Tensor } from "../../tensor/index.js";
import { type AverageOptions, averaged, shareOf } from "./class-averages.js";
import { metricDType, type ThresholdOptions, thresholdOf } from "./classification.js";
import { checkNotEmpty, decisions } from "./labels.js";
import { factorsFor } from "./weights.js";

/** How many predictions say yes and are right. */
export function truePositives(predictions: Tensor, targets: Tensor, options: ThresholdOptions = {}): Tensor {
  return counted("truePositives", predictions, targets, options).truePositives;
}

/** How many predictions say yes and are wrong. */
export function falsePositives(predictions: Tensor, targets: Tensor, options: ThresholdOptions = {}): Tensor {
  return counted("falsePositives", predictions, targets, options).falsePositives;
}

/** How many predictions say no and are right. */
export function trueNegatives(predictions: Tensor, targets: Tensor, options: ThresholdOptions = {}): Tensor {
  return counted("trueNegatives", predictions, targets, options).trueNegatives;
}

/** How many predictions say no and are wrong. */
export function falseNegatives(predictions: Tensor, targets: Tensor, options: ThresholdOptions = {}): Tensor {
  return counted("falseNegatives", predictions, targets, options).falseNegatives;
}

/** The share of the predicted positives that are right; 0 where none is predicted. Of classes with `{ average: "macro" }`. */
export function precision(predictions: Tensor, targets: Tensor, options: AverageOptions = {}): Tensor {
  if (options?.average !== undefined) return averaged("precision", predictions, targets, options);
  const { truePositives, falsePositives } = counted("precision", predictions, targets, options);
  return share("precision", predictions, truePositives, falsePositives);
}

/** The share of the positives that are found; 0 where there are none. Of classes with `{ average: "macro" }`. */
export function recall(predictions: Tensor, targets: Tensor, options: AverageOptions = {}): Tensor {
  if (options?.average !== undefined) return averaged("recall", predictions, targets, options);
  const { truePositives, falseNegatives } = counted("recall", predictions, targets, options);
  return share("recall", predictions, truePositives, falseNegatives);
}

/** The name of `recall` in medicine. */
export function sensitivity(predictions: Tensor, targets: Tensor, options: AverageOptions = {}): Tensor {
  if (options?.average !== undefined) return averaged("sensitivity", predictions, targets, options);
  const { truePositives, falseNegatives } = counted("sensitivity", predictions, targets, options);
  return share("sensitivity", predictions, truePositives, falseNegatives);
}

/** The share of the negatives that are found; 0 where there are none. */
export function specificity(predictions: Tensor, targets: Tensor, options: ThresholdOptions = {}): Tensor {
  const { trueNegatives, falsePositives } = counted("specificity", predictions, targets, options);
  return share("specificity", predictions, trueNegatives, falsePositives);
}

/** The harmonic mean of precision and recall; 0 where there is nothing to find and nothing found. Of classes with `average`. */
export function f1(predictions: Tensor, targets: Tensor, options: AverageOptions = {}): Tensor {
  if (options?.average !== undefined) return averaged("f1", predictions, targets, options);
  const { truePositives, falsePositives, falseNegatives } = counted("f1", predictions, targets, options);
  return share("f1", predictions, truePositives.mul(2), falsePositives.add(falseNegatives));
}

interface Counts {
  readonly truePositives: Tensor;
  readonly falsePositives: Tensor;
  readonly trueNegatives: Tensor;
  readonly falseNegatives: Tensor;
}

function counted(operation: string, predictions: Tensor, targets: Tensor, options: ThresholdOptions): Counts {
  const threshold = thresholdOf(operation, options);
  const [says, isTrue] = decisions(operation, predictions, targets, threshold);
  const [saysNot, isFalse] = [says.logicalNot(), isTrue.logicalNot()];
  const { weights } = options;
  const count = (a: Tensor, b: Tensor): Tensor => {
    const both = a.logicalAnd(b);
    if (weights === undefined) return both.sum();
    const values = both.cast(metricDType(predictions));
    return values.mul(factorsFor(operation, values, weights)).sum();
  };
  return {
    truePositives: count(says, isTrue),
    falsePositives: count(says, isFalse),
    trueNegatives: count(saysNot, isFalse),
    falseNegatives: count(saysNot, isTrue),
  };
}

/** part / (part + rest), and 0 where both are zero. */
function share(operation: string, predictions: Tensor, part: Tensor, rest: Tensor): Tensor {
  checkNotEmpty(operation, predictions);
  return shareOf(part, part.add(rest), metricDType(predictions));
}
