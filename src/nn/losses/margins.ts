/** Losses that ask for a margin: hinges, the soft margin, and the ranking of pairs. Binary targets are -1 and 1. */
import { isInteger } from "../../core/dtype.js";
import { ArgumentError } from "../../core/errors.js";
import { sameShape } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { checkTensor, positionsAlong, type Tensor, where } from "../../tensor/index.js";
import {
  checkLossOptions,
  checkSameShape,
  fittingPair,
  type LossOptions,
  reduceLosses,
  slopedWhereCounted,
  widePredictions,
} from "./loss.js";

/** Options of losses with a margin. */
export interface MarginOptions extends LossOptions {
  /** The distance that is asked for. */
  readonly margin?: number;
}

/** max(0, 1 - target·prediction) of each element; targets are -1 or 1. */
export function hinge(predictions: Tensor, targets: Tensor, options: LossOptions = {}): Tensor {
  checkLossOptions("hinge", options, {});
  const [p, t] = fittingPair("hinge", predictions, targets, options);
  return reduceLosses("hinge", t.mul(p).neg().add(1).relu(), options);
}

/** The square of `hinge`. */
export function squaredHinge(predictions: Tensor, targets: Tensor, options: LossOptions = {}): Tensor {
  checkLossOptions("squaredHinge", options, {});
  const [p, t] = fittingPair("squaredHinge", predictions, targets, options);
  return reduceLosses("squaredHinge", t.mul(p).neg().add(1).relu().square(), options);
}

/**
 * max(0, 1 + the best score of a wrong class - the score of the right one), for each example. Targets are 0 or 1 like the
 * predictions [..., classes], or class numbers [...]; a number that is no class gives NaN.
 */
export function categoricalHinge(predictions: Tensor, targets: Tensor, options: LossOptions = {}): Tensor {
  checkLossOptions("categoricalHinge", options, {});
  checkTensor("categoricalHinge", "the prediction", predictions);
  checkTensor("categoricalHinge", "the target", targets);
  const isNumbers = isInteger(targets.dtype) && sameShape(predictions.shape.slice(0, -1), targets.shape);
  const marks = isNumbers ? targets.expandDims(-1).equal(positionsAlong(predictions, predictions.rank - 1)) : targets;
  const [p, t] = fittingPair("categoricalHinge", predictions, marks as Tensor, options);
  const right = isNumbers ? where(marks, p, 0).sum({ axis: -1 }) : t.mul(p).sum({ axis: -1 });
  const wrong = where(t.equal(1), -Infinity, p.mul(t.neg().add(1))).max({ axis: -1 });
  const losses = wrong.sub(right).add(1).relu();
  const known = isNumbers ? where(marks.any({ axis: -1 }), losses, Number.NaN) : losses;
  return reduceLosses("categoricalHinge", known, options);
}

/** log(1 + exp(-target·prediction)) of each element, without overflow; targets are -1 or 1. */
export function softMargin(predictions: Tensor, targets: Tensor, options: LossOptions = {}): Tensor {
  checkLossOptions("softMargin", options, {});
  const [p, t] = fittingPair("softMargin", predictions, targets, options);
  return reduceLosses("softMargin", t.mul(p).neg().softplus(), options);
}

/**
 * max(0, margin - target·(first - second)) of each pair `[first, second]`: the target is 1 where the first shall be the larger
 * one, -1 where the second shall. The margin is 0 unless told.
 */
export function marginRanking(
  predictions: readonly [first: Tensor, second: Tensor],
  targets: Tensor,
  options: MarginOptions = {},
): Tensor {
  checkLossOptions("marginRanking", options, { margin: "number" });
  if (!Array.isArray(predictions) || predictions.length !== 2) {
    throw new ArgumentError(`marginRanking: the predictions are two tensors in a list, not ${shown(predictions)}.`);
  }
  const [first, t] = fittingPair("marginRanking", predictions[0], targets, options);
  const other = widePredictions("marginRanking", predictions[1], "the second prediction").cast(first.dtype);
  checkSameShape("marginRanking", first, other, "the second ones");
  const second = slopedWhereCounted(other, options.weights);
  const losses = t
    .neg()
    .mul(first.sub(second))
    .add(options.margin ?? 0);
  return reduceLosses("marginRanking", losses.relu(), options);
}
