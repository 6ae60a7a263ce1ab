/** Losses of numbers: squared, absolute, Huber (1964), log-cosh, Poisson. Each has one loss for each element. */
import { type Tensor, where } from "../../tensor/index.js";
import { checkLossOptions, checkWithin, fittingPair, type LossOptions, reduceLosses } from "./loss.js";

/** Options of `huber`. */
export interface HuberOptions extends LossOptions {
  /** The error from which on the loss grows linearly: 1 unless told. */
  readonly delta?: number;
}

/** Options of `poisson`. */
export interface PoissonOptions extends LossOptions {
  /** Whether predictions are logarithms of rates; false unless told. */
  readonly fromLogs?: boolean;
}

/** (prediction - target)². */
export function meanSquaredError(predictions: Tensor, targets: Tensor, options: LossOptions = {}): Tensor {
  checkLossOptions("meanSquaredError", options, {});
  const [p, t] = fittingPair("meanSquaredError", predictions, targets, options);
  return reduceLosses("meanSquaredError", p.sub(t).square(), options);
}

/** |prediction - target|. */
export function meanAbsoluteError(predictions: Tensor, targets: Tensor, options: LossOptions = {}): Tensor {
  checkLossOptions("meanAbsoluteError", options, {});
  const [p, t] = fittingPair("meanAbsoluteError", predictions, targets, options);
  return reduceLosses("meanAbsoluteError", p.sub(t).abs(), options);
}

/** Half the square of an error up to δ, and a line from there on. */
export function huber(predictions: Tensor, targets: Tensor, options: HuberOptions = {}): Tensor {
  checkLossOptions("huber", options, { delta: "number" });
  const { delta = 1 } = options;
  checkWithin("huber", "delta", delta, delta > 0, "a number above 0");
  const [p, t] = fittingPair("huber", predictions, targets, options);
  const error = p.sub(t);
  const size = error.abs();
  const isNear = size.lessEqual(delta);
  // The square of a far error may overflow; its slope must not come into the gradient.
  const near = where(isNear, error, 0).square().mul(0.5);
  return reduceLosses("huber", where(isNear, near, size.sub(delta / 2).mul(delta)), options);
}

/** log cosh of the error, without overflow: like half its square near zero, like its size far away. */
export function logCosh(predictions: Tensor, targets: Tensor, options: LossOptions = {}): Tensor {
  checkLossOptions("logCosh", options, {});
  const [p, t] = fittingPair("logCosh", predictions, targets, options);
  const error = p.sub(t);
  // log cosh x = |x| - log 2 + log(1 + exp(-2|x|)) loses its digits near zero, where it is ½ log(1 + sinh²x).
  const isNear = error.abs().less(1);
  const near = where(isNear, error, 0).sinh().square().log1p().mul(0.5);
  const far = error.abs().add(error.abs().mul(-2).exp().log1p()).sub(Math.LN2);
  return reduceLosses("logCosh", where(isNear, near, far), options);
}

/** prediction - target·log(prediction): the Poisson likelihood, without the terms of the targets alone. */
export function poisson(predictions: Tensor, targets: Tensor, options: PoissonOptions = {}): Tensor {
  checkLossOptions("poisson", options, { fromLogs: "flag" });
  const [p, t] = fittingPair("poisson", predictions, targets, options);
  if (options.fromLogs) return reduceLosses("poisson", p.exp().sub(t.mul(p)), options);
  // A target of zero says nothing of the logarithm, which is -infinity at a rate of zero.
  const isZero = t.equal(0);
  const logarithm = where(isZero, 1, p).log();
  return reduceLosses("poisson", p.sub(t.mul(logarithm)), options);
}
