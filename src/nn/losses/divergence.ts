/** The Kullback-Leibler divergence of distributions over classes. */
import { finfo, type Tensor, where } from "../../tensor/index.js";
import { logSoftmax } from "../activations/rows.js";
import { checkLossOptions, fittingPair, type LossOptions, reduceLosses } from "./loss.js";

/** Options of `klDivergence`. */
export interface KlDivergenceOptions extends LossOptions {
  /** Whether predictions are logits, of which softmax makes probabilities. False unless told. */
  readonly fromLogits?: boolean;
}

/** Σ t·(log t - log p) along the last axis: how far the predicted probabilities are from the targets. */
export function klDivergence(predictions: Tensor, targets: Tensor, options: KlDivergenceOptions = {}): Tensor {
  checkLossOptions("klDivergence", options, { fromLogits: "flag" });
  const [p, t] = fittingPair("klDivergence", predictions, targets, options);
  const logarithms = options.fromLogits ? logSoftmax(p) : p.maximum(finfo(p).smallestNormal).log();
  // A share of zero adds nothing, whatever the logarithms are.
  const isNothing = t.equal(0);
  const gap = where(isNothing, 1, t)
    .log()
    .sub(where(isNothing, 0, logarithms));
  return reduceLosses("klDivergence", t.mul(gap).sum({ axis: -1 }), options);
}
