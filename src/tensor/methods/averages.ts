/** What is made of sums over axes: means and variances, and sums of exponentials that do not overflow. */
import { checkOptions, type OptionKinds } from "../../core/arguments.js";
import { checkOrdered, type DType, isComplex, realDType } from "../../core/dtype.js";
import { reducedShape } from "../../core/shape.js";
import * as M from "../../graph/primitives/movement.js";
import * as R from "../../graph/primitives/reduce.js";
import { backendOf, derive, floatNode, scalarNode } from "../build.js";
import { REDUCE, type ReduceOptions, reducedAxes, reduceNode } from "../reduce-node.js";
import type { FloatOf, RealOf } from "../result-dtypes.js";
import { Tensor, where } from "../tensor.js";
import { flatAtZero, squaredSize } from "./operands.js";

export interface VarianceOptions extends ReduceOptions {
  /** Taken off the count that the sum is divided by: 0 unless told, 1 for the variance of a sample. */
  readonly correction?: number;
}

declare module "../tensor.js" {
  interface Tensor<D extends DType = DType> {
    mean(options?: ReduceOptions): Tensor<FloatOf<D>>;
    /** Mean of squared deviations; `correction: 1` divides by n - 1. */
    variance(options?: VarianceOptions): Tensor<RealOf<FloatOf<D>>>;
    std(options?: VarianceOptions): Tensor<RealOf<FloatOf<D>>>;
    /** log Σ exp, without overflow; of no elements -infinity. */
    logsumexp(options?: ReduceOptions): Tensor<FloatOf<D>>;
    softmax(options?: { readonly axis?: number | readonly number[] }): Tensor<FloatOf<D>>;
  }
}

const VARIANCE: OptionKinds<VarianceOptions> = { ...REDUCE, correction: "number" };

/** As floats, or complex numbers. */
function asFloat(x: Tensor): Tensor {
  const node = floatNode(x.node);
  return node === x.node ? x : new Tensor(node);
}

/** The same where they can be summed: a sum of f16 overflows at 65504, and bf16 cannot count beyond 256. */
function asSummable(x: Tensor): Tensor {
  const floats = asFloat(x);
  return floats.dtype === "f16" || floats.dtype === "bf16" ? floats.cast("f32") : floats;
}

/** A tensor in a dtype; itself where it is in it, because a second handle would keep `dispose` from freeing the memory. */
function inDType(x: Tensor, dtype: DType): Tensor {
  return x.dtype === dtype ? x : x.cast(dtype);
}

/** How many elements make up one result. */
function reducedCount({ node }: Tensor, operation: string, options: ReduceOptions): number {
  return reducedAxes(node, operation, options).reduce((product, axis) => product * node.shape[axis], 1);
}

/** The sum of what was made of a tensor over the count, in the dtype of its floats, or the real one of these when x is real. */
function averaged(given: Tensor, x: Tensor, operation: string, options: VarianceOptions): Tensor {
  const { axis, keepDims, correction = 0 } = options;
  const count = reducedCount(given, operation, options);
  const { dtype } = asFloat(given);
  const result = isComplex(x.dtype) ? dtype : realDType(dtype);
  // A correction beyond the count divides by 0, as in NumPy: no variance is negative.
  return inDType(x.sum({ axis, keepDims }).div(Math.max(0, count - correction)), result);
}

function spread(given: Tensor, operation: string, options: VarianceOptions): Tensor {
  checkOptions(operation, options, VARIANCE);
  const x = asSummable(given);
  const deviation = x.sub(x.mean({ axis: reducedAxes(given.node, operation, options), keepDims: true }));
  return averaged(given, squaredSize(deviation), operation, options);
}

Tensor.prototype.mean = function (options = {}) {
  checkOptions("mean", options, REDUCE);
  return averaged(this, asSummable(this), "mean", options);
};

Tensor.prototype.variance = function (options = {}) {
  return spread(this, "variance", options);
};

Tensor.prototype.std = function (options = {}) {
  return flatAtZero(spread(this, "std", options), (x) => x.sqrt());
};

/** The largest elements, which exponents are counted from. */
function largestOf(x: Tensor, operation: string, axis: ReduceOptions["axis"]): Tensor {
  return new Tensor(reduceNode(x.node, R.max, operation, { axis, keepDims: true }));
}

const stopped = (x: Tensor): Tensor => new Tensor(derive(M.stopped, x.node, {}));

Tensor.prototype.logsumexp = function (options = {}) {
  checkOptions("logsumexp", options, REDUCE);
  const shape = reducedShape(this.node.shape, reducedAxes(this.node, "logsumexp", options), options.keepDims);
  const { dtype } = asFloat(this);
  if (reducedCount(this, "logsumexp", options) === 0) {
    checkOrdered(dtype, "logsumexp");
    return new Tensor(scalarNode(-Infinity, dtype, backendOf(this.node), shape));
  }
  const floats = asSummable(this);
  const largest = largestOf(floats, "logsumexp", options.axis);
  // An infinite maximum must not be subtracted from itself.
  const shift = stopped(where(largest.abs().less(Infinity), largest, 0));
  const total = floats
    .sub(shift)
    .exp()
    .sum({ ...options, keepDims: true });
  const isNone = total.equal(0);
  // All powers are zero when all elements are -infinity: a slope through the logarithm would be NaN.
  const logarithm = where(isNone, -Infinity, where(isNone, 1, total).log().add(shift));
  return inDType(logarithm.reshape(shape), dtype);
};

Tensor.prototype.softmax = function (options = {}) {
  checkOptions("softmax", options, { axis: "numbers" });
  const axis = reducedAxes(this.node, "softmax", { axis: options.axis ?? -1 });
  const floats = asSummable(this);
  if (this.size === 0) {
    checkOrdered(floats.dtype, "softmax");
    return asFloat(this).again();
  }
  // Any shift gives the same shares, so no gradient flows through it.
  const shift = stopped(largestOf(floats, "softmax", axis));
  const powers = floats.sub(shift).exp();
  // A reciprocal for each row, and a product for each element, cost less than a quotient for each element.
  const shares = powers.mul(powers.sum({ axis, keepDims: true }).reciprocal());
  return inDType(shares, asFloat(this).dtype);
};
