/**
 * Activations of a whole axis: softmax and its logarithm, log Σ exp, and sparsemax (Martins & Astudillo 2016). Each is one
 * kernel, also with a loss behind it. The cross-entropies of src/nn/losses use `logSoftmax`.
 */
import { checkOptions } from "../../core/arguments.js";
import { normalizeAxis } from "../../core/shape.js";
import { positionsAlong, type ReduceOptions, type Tensor, where } from "../../tensor/index.js";
import { stopGradient } from "../../transforms/grad.js";
import { floatInput, roundedOnce } from "./input.js";

/** Options of activations along an axis. */
export interface ActivationAxis {
  /** The last unless told. */
  readonly axis?: number;
}

/** exp(x) divided by its sum along an axis. */
export function softmax(x: Tensor, options: ActivationAxis = {}): Tensor {
  checkOptions("softmax", options, { axis: "number" });
  return floatInput("softmax", x).softmax(options);
}

/**
 * log(softmax(x)). The largest element is subtracted first, and then the logarithm of the sum: x - logsumexp(x) would round
 * to the digits of x, and log(softmax(x)) has none left where the softmax is tiny.
 */
export function logSoftmax(x: Tensor, options: ActivationAxis = {}): Tensor {
  checkOptions("logSoftmax", options, { axis: "number" });
  const given = floatInput("logSoftmax", x);
  const axis = normalizeAxis(options.axis ?? -1, given.rank, "logSoftmax");
  if (given.size === 0) return given;
  return roundedOnce(given, (wide) => {
    // Any shift gives the same result, so no gradient flows through it.
    const shifted = wide.sub(stopGradient(wide.max({ axis, keepDims: true })));
    return shifted.sub(shifted.exp().sum({ axis, keepDims: true }).log());
  });
}

/** log Σ exp(x) along an axis, the last unless told. The axis stays, with extent 1, unless `keepDims` is false. */
export function logSumExp(x: Tensor, options: ReduceOptions = {}): Tensor {
  checkOptions("logSumExp", options, { axis: "numbers", keepDims: "flag" });
  const { axis = -1, keepDims = true } = options;
  return floatInput("logSumExp", x).logsumexp({ axis, keepDims });
}

/**
 * The nearest point of the simplex: numbers from 0 on with sum 1, many of them exactly 0. The gradient goes through the
 * elements above zero alone, so that the sort needs none.
 */
export function sparsemax(x: Tensor, options: ActivationAxis = {}): Tensor {
  checkOptions("sparsemax", options, { axis: "number" });
  const given = floatInput("sparsemax", x);
  const axis = normalizeAxis(options.axis ?? -1, given.rank, "sparsemax");
  if (given.size === 0) return given;
  return roundedOnce(given, (wide) => {
    const shifted = wide.sub(stopGradient(wide.max({ axis, keepDims: true })));
    const support = supportOf(stopGradient(shifted), axis);
    const count = support.sum({ axis, keepDims: true });
    const threshold = where(support, shifted, 0).sum({ axis, keepDims: true }).sub(1).div(count);
    return where(support, shifted.sub(threshold), 0);
  });
}

/** The elements above the threshold: the k largest, for the largest k with 1 + k·x₍ₖ₎ > x₍₁₎ + … + x₍ₖ₎. */
function supportOf(x: Tensor, axis: number): Tensor<"bool"> {
  const falling = x.sort({ axis, descending: true });
  const ranks = positionsAlong(x, axis).add(1);
  const isAbove = falling.mul(ranks).add(1).greater(falling.cumsum({ axis }));
  const least = where(isAbove, falling, Infinity).min({ axis, keepDims: true });
  return x.greaterEqual(least);
}
