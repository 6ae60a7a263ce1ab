/**
 * The parts that linear regressions share: predictions from coefficients, and centring, which takes the intercept out of the
 * problem: it is neither penalised nor part of the matrix that is solved.
 */
import type { Tensor } from "../../tensor/index.js";
import { where, zeros } from "../../tensor/index.js";

/** Coefficients [features] or [features, outputs], and the intercept, which is added to every prediction. */
export interface LinearLearned {
  readonly coefficients: Tensor;
  readonly intercept: Tensor;
  readonly [name: string]: Tensor;
}

export const linearPrediction = ({ coefficients, intercept }: LinearLearned, x: Tensor): Tensor =>
  x.cast(coefficients.dtype).matmul(coefficients).add(intercept) as Tensor;

/** A problem without an intercept: rows are centred and, where they have weights, scaled by their roots. */
interface Centred {
  readonly x: Tensor;
  readonly y: Tensor;
  /** The learned values, once the coefficients of the centred problem are known. */
  learned(coefficients: Tensor): LinearLearned;
}

export function centred(x: Tensor, y: Tensor, weights: Tensor | null, fitIntercept: boolean): Centred {
  const rows = (of: Tensor, factor: Tensor): Tensor => of.mul(of.rank > 1 ? factor.expandDims(1) : factor) as Tensor;
  const scaled = (of: Tensor): Tensor => (weights ? rows(of, weights.sqrt() as Tensor) : of);
  if (!fitIntercept) {
    const none = zeros(y.shape.slice(1), { device: x.device, dtype: x.dtype }) as Tensor;
    return { x: scaled(x), y: scaled(y), learned: (coefficients) => ({ coefficients, intercept: none }) };
  }
  const mean = (of: Tensor): Tensor => {
    const found = weights ? rows(of, weights.div(weights.sum()) as Tensor).sum({ axis: 0 }) : of.mean({ axis: 0 });
    // Constant columns become exact zeros. What rounding leaves of them would else be a column of its own, with any coefficient.
    const counted = weights?.greater(0);
    const isCounted = counted && of.rank > 1 ? counted.expandDims(1) : counted;
    const [least, largest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY].map((none) =>
      isCounted ? where(isCounted, of, none) : of,
    ) as [Tensor, Tensor];
    const first = least.min({ axis: 0 });
    return where(first.equal(largest.max({ axis: 0 })), first, found) as Tensor;
  };
  const [xMean, yMean] = [mean(x), mean(y)];
  return {
    x: scaled(x.sub(xMean) as Tensor),
    y: scaled(y.sub(yMean) as Tensor),
    learned: (coefficients) => ({ coefficients, intercept: yMean.sub(xMean.matmul(coefficients)) as Tensor }),
  };
}
