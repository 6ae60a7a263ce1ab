/** Shares of classes as votes of neighbours, which classifications by number and by radius have in common. */
import { type Tensor, where } from "../../tensor/index.js";
import type { Fitted } from "../core/model.js";
import type { Samples } from "../core/samples.js";
import { type ProbabilityMethods, samplesFor } from "../core/sorts.js";

/** The vote of each sample: 1 for its class, [samples, classes]. `y` holds positions of classes. */
export const votesOf = (x: Tensor, y: Tensor, classes: number): Tensor =>
  y.oneHot(classes, { dtype: x.dtype as "f32" }) as Tensor;

/** Shares of sums of votes, [queries, classes]; 0 where nobody votes. */
export function sharesOf(sums: Tensor): Tensor {
  const total = sums.sum({ axis: 1, keepDims: true });
  return sums.div(where(total.equal(0), 1, total)) as Tensor;
}

/** Probabilities that are shares. Logarithms of those that are zero are -Infinity. */
export function shareMethods<L, O extends object>(
  shares: (learned: L, x: Tensor, options: O) => Tensor,
): ProbabilityMethods<L, O> {
  const of = (model: Fitted<L, O>, method: string, samples: Samples): Tensor =>
    shares(model.learned, samplesFor(model as Fitted<unknown, object>, method, samples), model.options);
  return {
    predictProbability: (model: Fitted<L, O>, samples: Samples): Tensor => of(model, "predictProbability", samples),
    predictLogProbability: (model: Fitted<L, O>, samples: Samples): Tensor =>
      of(model, "predictLogProbability", samples).log() as Tensor,
  };
}
