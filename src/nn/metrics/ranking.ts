/** The area under the ROC curve, exactly: by sorting, with ties counted as one half. */
import { checkOptions } from "../../core/arguments.js";
import { ShapeError } from "../../core/errors.js";
import { formatShape } from "../../core/shape.js";
import { concat, type Tensor, where, zeros } from "../../tensor/index.js";
import { metricDType } from "./classification.js";
import { checkNotEmpty, decisions } from "./labels.js";
import { factorsFor, type WeightOptions } from "./weights.js";

/**
 * The probability that a positive example has a larger score than a negative one, where equal scores count one half. NaN
 * where all targets are the same, or a score is NaN. Scores and targets are vectors.
 */
export function auc(scores: Tensor, targets: Tensor, options: WeightOptions = {}): Tensor {
  checkOptions("auc", options, { weights: "any" });
  const [, isPositive] = decisions("auc", scores, targets, 0);
  checkNotEmpty("auc", scores);
  if (scores.rank !== 1) {
    throw new ShapeError(`auc: takes vectors of scores and targets, not ${formatShape(scores.shape)}; flatten them.`);
  }
  const dtype = metricDType(scores);
  const order = scores.argsort();
  const rising = scores.take(order);
  const { weights } = options;
  const factors = weights && factorsFor("auc", scores.cast(dtype), weights);
  const isNegative = isPositive.logicalNot();
  /** How much each example of a kind counts: 1, or its weight. */
  const amounts = (isOne: Tensor): Tensor => (factors ? where(isOne, factors, 0) : isOne.cast("i32")) as Tensor;
  // Negatives among the first n of the sorted scores, for n from 0 on.
  const first = zeros([1], { dtype: factors ? dtype : "i32", device: scores.device });
  const before = concat([first, amounts(isNegative).take(order).cumsum()]);
  const below = before.take(rising.searchSorted(scores, { side: "left" }));
  const upTo = before.take(rising.searchSorted(scores, { side: "right" }));
  const negatives = amounts(isNegative).sum().cast(dtype);
  // below + upTo counts smaller negatives twice and equal ones once.
  const shares = below.cast(dtype).add(upTo.cast(dtype)).div(negatives.mul(2));
  const positives = amounts(isPositive).cast(dtype);
  const area = where(isPositive, shares.mul(positives), 0).sum().div(positives.sum());
  const isUnordered = factors ? scores.isNaN().logicalAnd(factors.notEqual(0)) : scores.isNaN();
  return where(isUnordered.any().logicalOr(negatives.equal(0)), Number.NaN, area);
}
