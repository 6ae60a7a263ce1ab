/**
 * Losses of boosting: gradients and hessians by raw predictions, the best constant to begin with, and the mean loss that early stopping
 * watches. Raw predictions are [outputs, samples]: one output, or one for each class. Formulas are scikit-learn's, halves included.
 */
import type { Tensor } from "../../tensor/index.js";
import { arange, stack, where } from "../../tensor/index.js";

/** Targets and weights of samples. */
export interface Aim {
  readonly y: Tensor;
  readonly weights: Tensor | null;
}

/** A loss of raw predictions. */
export interface Loss {
  readonly outputs: number;
  /** Hessians are all 1 without weights. */
  readonly isHessianConstant: boolean;
  /** Leaves take this quantile of what is left of the targets; null: the step of Newton's method. */
  readonly leafQuantile: number | null;
  /** The best constant, [outputs, 1]. */
  baseline(aim: Aim): Tensor;
  gradient(aim: Aim, raw: Tensor): Tensor;
  /** Hessians without weights. */
  hessian(aim: Aim, raw: Tensor): Tensor | null;
  /** The loss of each sample. */
  pointwise(aim: Aim, raw: Tensor): Tensor;
}

const meanOf = ({ y, weights }: Aim): Tensor =>
  (weights ? y.mul(weights).sum().div(weights.sum()) : y.mean()).reshape([1, 1]) as Tensor;

/** The quantile of values: linear between neighbours, or with weights the first whose weights reach the share. */
function quantileOf({ y, weights }: Aim, share: number): Tensor {
  if (!weights) return y.quantile(share) as Tensor;
  const order = y.argsort();
  const running = weights.take(order).cumsum();
  const place = running.searchSorted(running.at("-1:").mul(share)).minimum(y.size - 1);
  return y.take(order).take(place).reshape([]) as Tensor;
}

const constantHessian = { outputs: 1, isHessianConstant: true, hessian: () => null } as const;

export const squaredError: Loss = {
  ...constantHessian,
  leafQuantile: null,
  baseline: meanOf,
  gradient: ({ y }, raw) => raw.sub(y) as Tensor,
  pointwise: ({ y }, raw) => raw.sub(y).square().mul(0.5).squeeze(0) as Tensor,
};

export const quantileError = (share: number, scale = 1): Loss => ({
  ...constantHessian,
  leafQuantile: share,
  baseline: (aim) => quantileOf(aim, share).reshape([1, 1]) as Tensor,
  gradient: ({ y }, raw) => where(raw.greater(y), scale * (1 - share), -scale * share).cast(raw.dtype) as Tensor,
  pointwise: ({ y }, raw) => {
    const rest = y.sub(raw).squeeze(0);
    return where(rest.less(0), rest.mul(-scale * (1 - share)), rest.mul(scale * share)) as Tensor;
  },
});

/** |y - raw|: twice the loss of the median. */
export const absoluteError: Loss = quantileError(0.5, 2);

export const poisson: Loss = {
  outputs: 1,
  isHessianConstant: false,
  leafQuantile: null,
  baseline: (aim) => meanOf(aim).log() as Tensor,
  gradient: ({ y }, raw) => raw.exp().sub(y) as Tensor,
  hessian: (_, raw) => raw.exp() as Tensor,
  pointwise: ({ y }, raw) => raw.exp().sub(raw.mul(y)).squeeze(0) as Tensor,
};

export const binomial: Loss = {
  outputs: 1,
  isHessianConstant: false,
  leafQuantile: null,
  baseline: (aim) => {
    const share = meanOf(aim);
    return share.log().sub(share.neg().log1p()) as Tensor;
  },
  gradient: ({ y }, raw) => raw.sigmoid().sub(y) as Tensor,
  hessian: (_, raw) => {
    const share = raw.sigmoid();
    return share.mul(share.neg().add(1)) as Tensor;
  },
  pointwise: ({ y }, raw) => raw.softplus().sub(raw.mul(y)).squeeze(0) as Tensor,
};

/** Targets are positions of classes. */
export function multinomial(classes: number): Loss {
  const memberOf = ({ y }: Aim): Tensor =>
    y
      .expandDims(0)
      .equal(arange(classes, { device: y.device, dtype: "i32" }).expandDims(1).cast(y.dtype))
      .cast(y.dtype) as Tensor;
  return {
    outputs: classes,
    isHessianConstant: false,
    leafQuantile: null,
    baseline: (aim) => {
      const members = memberOf(aim);
      const { weights } = aim;
      const shares = weights
        ? members.mul(weights).sum({ axis: 1, keepDims: true }).div(weights.sum())
        : members.mean({ axis: 1, keepDims: true });
      const logs = shares.maximum(shares.dtype === "f64" ? 2 ** -52 : 2 ** -23).log();
      return logs.sub(logs.mean()) as Tensor;
    },
    gradient: (aim, raw) => raw.softmax({ axis: 0 }).sub(memberOf(aim)) as Tensor,
    hessian: (_, raw) => {
      const shares = raw.softmax({ axis: 0 });
      return shares.mul(shares.neg().add(1)) as Tensor;
    },
    pointwise: (aim, raw) => raw.logsumexp({ axis: 0 }).sub(raw.mul(memberOf(aim)).sum({ axis: 0 })) as Tensor,
  };
}

/** The mean loss, by weights where there are any. */
export function meanLoss(loss: Loss, aim: Aim, raw: Tensor): Tensor {
  const each = loss.pointwise(aim, raw);
  return (aim.weights ? each.mul(aim.weights).sum().div(aim.weights.sum()) : each.mean()) as Tensor;
}

/** Gradients of a round, f32 as in scikit-learn, with their largest absolute values for the histograms. */
export interface Gradients {
  readonly gradients: Tensor;
  readonly hessians: Tensor | null;
  readonly largest: Tensor;
}

/** Gradients and hessians of one output. */
export function gradientsOf(loss: Loss, aim: Aim, raw: Tensor): Gradients[] {
  const weighted = (values: Tensor): Tensor => (aim.weights ? values.mul(aim.weights) : values).cast("f32") as Tensor;
  const gradients = weighted(loss.gradient(aim, raw));
  const plain = loss.hessian(aim, raw);
  const hessians = plain ? weighted(plain) : aim.weights ? (aim.weights.cast("f32").expandDims(0) as Tensor) : null;
  return Array.from({ length: loss.outputs }, (_, output) => {
    const g = gradients.at(output) as Tensor;
    const h = hessians ? (hessians.at(output) as Tensor) : null;
    return { gradients: g, hessians: h, largest: largestOf(g, h) };
  });
}

const largestOf = (gradients: Tensor, hessians: Tensor | null): Tensor =>
  stack([gradients.abs().max(), (hessians ?? gradients).abs().max()]) as Tensor;
