/** Metrics of numbers and of likelihoods: errors, R², perplexity. */
import { type Tensor, where } from "../../tensor/index.js";
import { type CategoricalCrossEntropyOptions, categoricalCrossEntropy } from "../losses/cross-entropy.js";
import { fittingPair } from "../losses/loss.js";
import { meanSquaredError } from "../losses/regression.js";
import { checkNotEmpty } from "./labels.js";

/** The root of the mean squared error. */
export function rootMeanSquaredError(predictions: Tensor, targets: Tensor): Tensor {
  return meanSquaredError(predictions, targets).sqrt();
}

/**
 * R², the share of the targets' variance that the predictions explain: 1 where they are equal, 0 where they are no better
 * than the mean of the targets. NaN where the targets are all the same.
 */
export function r2(predictions: Tensor, targets: Tensor): Tensor {
  const [p, t] = fittingPair("r2", predictions, targets);
  checkNotEmpty("r2", p);
  const unexplained = p.sub(t).square().sum();
  const spread = t.sub(t.mean()).square().sum();
  return where(spread.equal(0), Number.NaN, unexplained.div(spread).neg().add(1));
}

/** exp of the mean cross-entropy: between how many equally likely classes the predictions leave the choice. */
export function perplexity(
  predictions: Tensor,
  targets: Tensor,
  options: Omit<CategoricalCrossEntropyOptions, "reduction"> = {},
): Tensor {
  return categoricalCrossEntropy(predictions, targets, { ...options, reduction: "mean" }).exp();
}
