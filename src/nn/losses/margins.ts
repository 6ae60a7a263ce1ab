/** Losses that ask for a margin: hinges, the soft margin, and the ranking of pairs. Binary targets are -1 and 1. */
import { type Tensor, where } from "../../tensor/index.js";
import {
  checkLossOptions,
  checkSameShape,
  fittingPair,
  type LossOptions,
  reduceLosses,
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
  const [p, t] = fittingPair("hinge", predictions, targets);
  return reduceLosses("hinge", t.mul(p).neg().add(1).relu(), options);
}

/** The square of `hinge`. */
export function squaredHinge(predictions: Tensor, targets: Tensor, options: LossOptions = {}): Tensor {
  checkLossOptions("squaredHinge", options, {});
  const [p, t] = fittingPair("squaredHinge", predictions, targets);
  return reduceLosses("squaredHinge", t.mul(p).neg().add(1).relu().square(), options);
}

/** max(0, 1 + the best score of a wrong class - the score of the right one), for each example; targets are 0 or 1. */
export function categoricalHinge(predictions: Tensor, targets: Tensor, options: LossOptions = {}): Tensor {
  checkLossOptions("categoricalHinge", options, {});
  const [p, t] = fittingPair("categoricalHinge", predictions, targets);
  const right = t.mul(p).sum({ axis: -1 });
  const wrong = where(t.equal(1), -Infinity, p.mul(t.neg().add(1))).max({ axis: -1 });
  return reduceLosses("categoricalHinge", wrong.sub(right).add(1).relu(), options);
}

/** log(1 + exp(-target·prediction)) of each element, without overflow; targets are -1 or 1. */
export function softMargin(predictions: Tensor, targets: Tensor, options: LossOptions = {}): Tensor {
  checkLossOptions("softMargin", options, {});
  const [p, t] = fittingPair("softMargin", predictions, targets);
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
  const [first, t] = fittingPair("marginRanking", predictions[0], targets);
  const second = widePredictions("marginRanking", predictions[1], "the second prediction").cast(first.dtype);
  checkSameShape("marginRanking", first, second, "the second ones");
  const losses = t
    .neg()
    .mul(first.sub(second))
    .add(options.margin ?? 0);
  return reduceLosses("marginRanking", losses.relu(), options);
}
