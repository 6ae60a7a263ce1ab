/** Methods of `Tensor`: means, variances, softmax and logsumexp over axes. */
import { checkOptions, type OptionKinds } from "../../core/arguments.js";
import { checkOrdered, type DType, isComplex, isNarrowFloat, realDType } from "../../core/dtype.js";
import { reducedShape } from "../../core/shape.js";
import * as M from "../../graph/primitives/movement.js";
import * as R from "../../graph/primitives/reduce.js";
import { backendOf, derive, floatNode, scalarNode } from "../build.js";
import { REDUCE, type ReduceOptions, reducedAxes, reduceNode } from "../reduce-node.js";
import type { FloatOf, RealOf } from "../result-dtypes.js";
import type { Tensor } from "../tensor.js";
import { flatAtZero, squaredSize } from "./operands.js";
import { where } from "./where.js";

export interface VarianceOptions extends ReduceOptions {
  /** Subtracted from the count that the sum is divided by: 0 unless told, 1 for the variance of a sample. */
  readonly correction?: number;
}

export class AverageMethods<D extends DType> {
  /** The mean over some axes, or over all: `x.mean({ axis: 0 })`. Integers become f32. */
  mean(this: Tensor, options: ReduceOptions = {}): Tensor<FloatOf<D>> {
    checkOptions("mean", options, REDUCE);
    return averaged(this, asSummable(this), "mean", options);
  }

  /** Mean of squared deviations; `correction: 1` divides by n - 1. */
  variance(this: Tensor, options: VarianceOptions = {}): Tensor<RealOf<FloatOf<D>>> {
    return spread(this, "variance", options);
  }

  /** The standard deviation: the root of `variance`. */
  std(this: Tensor, options: VarianceOptions = {}): Tensor<RealOf<FloatOf<D>>> {
    return flatAtZero(spread(this, "std", options), (x) => x.sqrt()) as Tensor<RealOf<FloatOf<D>>>;
  }

  /** log Σ exp, without overflow; of no elements -infinity. */
  logsumexp(this: Tensor, options: ReduceOptions = {}): Tensor<FloatOf<D>> {
    checkOptions("logsumexp", options, REDUCE);
    const shape = reducedShape(this.node.shape, reducedAxes(this.node, "logsumexp", options), options.keepDims);
    const { dtype } = asFloat(this);
    if (reducedCount(this, "logsumexp", options) === 0) {
      checkOrdered(dtype, "logsumexp");
      return this.tensorOf(scalarNode(-Infinity, dtype, backendOf(this.node), shape));
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
  }

  /** exp(x) divided by its sum along an axis, the last unless told, without overflow. */
  softmax(this: Tensor, options: { readonly axis?: number | readonly number[] } = {}): Tensor<FloatOf<D>> {
    checkOptions("softmax", options, { axis: "numbers" });
    const axis = reducedAxes(this.node, "softmax", { axis: options.axis ?? -1 });
    const floats = asSummable(this);
    if (this.size === 0) {
      checkOrdered(floats.dtype, "softmax");
      return this.tensorOf(floatNode(this.node));
    }
    // Any shift gives the same shares, so no gradient flows through it.
    const shift = stopped(largestOf(floats, "softmax", axis));
    const powers = floats.sub(shift).exp();
    // A reciprocal for each row, and a product for each element, cost less than a quotient for each element.
    const shares = powers.mul(powers.sum({ axis, keepDims: true }).reciprocal());
    return inDType(shares, asFloat(this).dtype);
  }
}

const VARIANCE: OptionKinds<VarianceOptions> = { ...REDUCE, correction: "number" };

/** As floats, or complex numbers. */
function asFloat(x: Tensor): Tensor {
  const node = floatNode(x.node);
  return node === x.node ? x : x.tensorOf(node);
}

/** The tensor in a dtype wide enough for sums: a sum of f16 overflows at 65504, and bf16 cannot count beyond 256. */
function asSummable(x: Tensor): Tensor {
  const floats = asFloat(x);
  return isNarrowFloat(floats.dtype) ? floats.cast("f32") : floats;
}

/** A tensor in a dtype. Itself where it has that dtype: a second handle would keep `dispose` from freeing the memory. */
function inDType<T extends DType>(x: Tensor, dtype: DType): Tensor<T> {
  return (x.dtype === dtype ? x : x.cast(dtype)) as Tensor<T>;
}

/** The number of elements of one result. */
function reducedCount({ node }: Tensor, operation: string, options: ReduceOptions): number {
  return reducedAxes(node, operation, options).reduce((product, axis) => product * node.shape[axis], 1);
}

/**
 * The sum of x, which was computed from `given`, divided by the count of elements. Its dtype is the float dtype of
 * `given`; the real one of that when x is real.
 */
function averaged<T extends DType>(given: Tensor, x: Tensor, operation: string, options: VarianceOptions): Tensor<T> {
  const { axis, keepDims, correction = 0 } = options;
  const count = reducedCount(given, operation, options);
  const { dtype } = asFloat(given);
  const result = isComplex(x.dtype) ? dtype : realDType(dtype);
  // A correction beyond the count divides by 0, as in NumPy: no variance is negative.
  return inDType(x.sum({ axis, keepDims }).div(Math.max(0, count - correction)), result);
}

/** The variance. */
function spread<T extends DType>(given: Tensor, operation: string, options: VarianceOptions): Tensor<T> {
  checkOptions(operation, options, VARIANCE);
  const x = asSummable(given);
  const deviation = x.sub(x.mean({ axis: reducedAxes(given.node, operation, options), keepDims: true }));
  return averaged(given, squaredSize(deviation), operation, options);
}

/** The largest elements, which are subtracted before exp. */
function largestOf(x: Tensor, operation: string, axis: ReduceOptions["axis"]): Tensor {
  return x.tensorOf(reduceNode(x.node, R.max, operation, { axis, keepDims: true }));
}

const stopped = (x: Tensor): Tensor => x.tensorOf(derive(M.stopped, x.node, {}));
