/** Metrics of numbers and of likelihoods: errors, R², perplexity. */
import { checkOptions } from "../../core/arguments.js";
import { type Tensor, where } from "../../tensor/index.js";
import { type CategoricalCrossEntropyOptions, categoricalCrossEntropy } from "../losses/cross-entropy.js";
import { counted, countOf, fittingPair, weighed } from "../losses/loss.js";
import { meanSquaredError } from "../losses/regression.js";
import { checkNotEmpty } from "./labels.js";
import { factorsFor, type WeightOptions, weightedMean } from "./weights.js";

/** The root of the mean squared error. */
export function rootMeanSquaredError(predictions: Tensor, targets: Tensor, options: WeightOptions = {}): Tensor {
  checkOptions("rootMeanSquaredError", options, { weights: "any" });
  return meanSquaredError(predictions, targets, options).sqrt();
}

/**
 * R², the share of the targets' variance that the predictions explain: 1 where they are equal, 0 where they are no better
 * than the mean of the targets. NaN where the targets are all the same.
 */
export function r2(predictions: Tensor, targets: Tensor, options: WeightOptions = {}): Tensor {
  checkOptions("r2", options, { weights: "any" });
  const [p, t] = fittingPair("r2", predictions, targets);
  checkNotEmpty("r2", p);
  const { weights } = options;
  const factors = weights && factorsFor("r2", t, weights);
  const sum = (x: Tensor): Tensor => (factors ? weighed(x, factors) : x).sum();
  const unexplained = sum(p.sub(t).square());
  const spread = sum(t.sub(weightedMean("r2", t, weights)).square());
  return where(spread.equal(0), Number.NaN, unexplained.div(spread).neg().add(1));
}

/** exp of the mean cross-entropy: between how many equally likely classes the predictions leave the choice. */
export function perplexity(
  predictions: Tensor,
  targets: Tensor,
  options: Omit<CategoricalCrossEntropyOptions, "reduction"> = {},
): Tensor {
  const loss = categoricalCrossEntropy(predictions, targets, { ...options, reduction: "mean" });
  return counted(loss.exp(), countOf(loss));
}
