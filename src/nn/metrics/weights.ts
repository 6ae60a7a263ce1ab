/** Weights of examples in metrics: each counts by its weight, and one of 0, a copy that fills a batch, not at all. */
import { checkTensor, type Tensor } from "../../tensor/index.js";
import { alignedWeights, weighed } from "../losses/loss.js";

/** The option of all metrics. */
export interface WeightOptions {
  /** Weights of examples: [batch], or more of the first axes of what is counted. Those of 0 leave padding out. */
  readonly weights?: Tensor;
}

/** The mean of values, each by its weight. */
export function weightedMean(operation: string, values: Tensor, weights: Tensor | undefined): Tensor {
  if (weights === undefined) return values.mean();
  const factors = factorsFor(operation, values, weights);
  return weighed(values, factors).sum().div(factors.sum());
}

/** The weight of each value, in the shape and dtype of the values. */
export function factorsFor(operation: string, values: Tensor, weights: Tensor): Tensor {
  checkTensor(operation, "the option weights", weights);
  return alignedWeights(operation, values, weights, "values").broadcastTo(values.shape);
}
