/**
 * Methods of `Tensor`: reductions that leave NaN out, as NumPy's. Where nothing else is left, sums are 0, products 1, and
 * the others NaN. A complex number is NaN when one of its parts is. No gradient flows to a NaN.
 */
import { checkOptions, inOperation } from "../../core/arguments.js";
import {
  checkOrdered,
  type DType,
  highestOf,
  isComplex,
  isFloat,
  isNarrowFloat,
  lowestOf,
  realDType,
} from "../../core/dtype.js";
import { floatNode } from "../build.js";
import { REDUCE, type ReduceOptions } from "../reduce-node.js";
import type { FloatOf, RealOf, SumOf } from "../result-dtypes.js";
import type { Tensor } from "../tensor.js";
import type { VarianceOptions } from "./averages.js";
import type { CumulativeOptions } from "./cumulative.js";
import { asFloat, flatAtZero, squaredSize } from "./operands.js";
import { linesOf, meanOfFloats } from "./ordering.js";
import type { PositionOptions } from "./reductions.js";
import { where } from "./where.js";

export class NanReductionMethods<D extends DType> {
  /** The sum without NaN; 0 of nothing. */
  nanSum(this: Tensor, options: ReduceOptions = {}): Tensor<SumOf<D>> {
    return inOperation("nanSum", () => without(this, 0).sum(options)) as Tensor<SumOf<D>>;
  }

  /** The product without NaN; 1 of nothing. */
  nanProd(this: Tensor, options: ReduceOptions = {}): Tensor<SumOf<D>> {
    return inOperation("nanProd", () => without(this, 1).prod(options)) as Tensor<SumOf<D>>;
  }

  /** The largest element that is not NaN; NaN where all are. */
  nanMax(this: Tensor, options: ReduceOptions = {}): Tensor<D> {
    return extreme("nanMax", this, options) as Tensor<D>;
  }

  /** The smallest element that is not NaN; NaN where all are. */
  nanMin(this: Tensor, options: ReduceOptions = {}): Tensor<D> {
    return extreme("nanMin", this, options) as Tensor<D>;
  }

  /** Position of the largest element that is not NaN, the first of equal ones unless told; 0 where all are NaN. */
  nanArgmax(this: Tensor, options: PositionOptions = {}): Tensor<"i32"> {
    return positionOf("nanArgmax", this, options);
  }

  /** Position of the smallest element that is not NaN, the first of equal ones unless told; 0 where all are NaN. */
  nanArgmin(this: Tensor, options: PositionOptions = {}): Tensor<"i32"> {
    return positionOf("nanArgmin", this, options);
  }

  /** The mean of what is not NaN. */
  nanMean(this: Tensor, options: ReduceOptions = {}): Tensor<FloatOf<D>> {
    checkOptions("nanMean", options, REDUCE);
    return inOperation("nanMean", () => {
      const x = summable(this);
      return meanOf(x, options).cast(floatNode(this.node).dtype);
    }) as Tensor<FloatOf<D>>;
  }

  /** The variance of what is not NaN; NaN where no more elements are left than the correction. */
  nanVariance(this: Tensor, options: VarianceOptions = {}): Tensor<RealOf<FloatOf<D>>> {
    return spreadOf("nanVariance", this, options) as Tensor<RealOf<FloatOf<D>>>;
  }

  /** The standard deviation of what is not NaN: the root of `nanVariance`. */
  nanStd(this: Tensor, options: VarianceOptions = {}): Tensor<RealOf<FloatOf<D>>> {
    return flatAtZero(spreadOf("nanStd", this, options), (x) => x.sqrt()) as Tensor<RealOf<FloatOf<D>>>;
  }

  /** The median of what is not NaN; NaN where all are. */
  nanMedian(this: Tensor, options: ReduceOptions = {}): Tensor<FloatOf<D>> {
    if (!isFloat(this.dtype) && !isComplex(this.dtype)) {
      return inOperation("nanMedian", () => this.median(options)) as Tensor<FloatOf<D>>;
    }
    const { lines, restore } = linesOf("nanMedian", asFloat("nanMedian", this), options);
    const count = lines.isNaN().logicalNot().sum({ axis: -1, keepDims: true });
    // NaN comes last, so the elements that count are the first ones.
    const sorted = lines.sort();
    const lower = sorted.takeAlongAxis(count.sub(1).maximum(0).quotient(2), { axis: -1 });
    const upper = sorted.takeAlongAxis(count.quotient(2), { axis: -1 });
    return restore(where(count.equal(0), Number.NaN, meanOfFloats(lower, upper))) as Tensor<FloatOf<D>>;
  }

  /** Running sums in which NaN counts as 0. */
  nanCumsum(this: Tensor, options: CumulativeOptions = {}): Tensor<SumOf<D>> {
    return inOperation("nanCumsum", () => without(this, 0).cumsum(options)) as Tensor<SumOf<D>>;
  }

  /** Running products in which NaN counts as 1. */
  nanCumprod(this: Tensor, options: CumulativeOptions = {}): Tensor<SumOf<D>> {
    return inOperation("nanCumprod", () => without(this, 1).cumprod(options)) as Tensor<SumOf<D>>;
  }
}

const mayBeNaN = (x: Tensor): boolean => isFloat(x.dtype) || isComplex(x.dtype);

/** A number in the place of NaN. */
const without = (x: Tensor, value: number): Tensor => (mayBeNaN(x) ? where(x.isNaN(), value, x) : x);

/** As floats in which sums neither overflow nor stop counting. */
function summable(x: Tensor): Tensor {
  const { dtype } = floatNode(x.node);
  return x.cast(isNarrowFloat(dtype) ? "f32" : dtype);
}

const countOf = (x: Tensor, options: ReduceOptions): Tensor => x.isNaN().logicalNot().sum(options);

/** Counts as numbers of a dtype, which has no imaginary part to divide by. */
const meanOf = (x: Tensor, options: ReduceOptions): Tensor =>
  without(x, 0).sum(options).div(countOf(x, options).cast(x.dtype));

function spreadOf(operation: string, given: Tensor, options: VarianceOptions): Tensor {
  checkOptions<VarianceOptions>(operation, options, { ...REDUCE, correction: "number" });
  return inOperation(operation, () => {
    const { correction = 0, ...reduction } = options;
    const x = summable(given);
    const deviation = x.sub(meanOf(x, { axis: options.axis, keepDims: true }));
    const size = squaredSize(where(x.isNaN(), 0, deviation));
    const freedom = countOf(x, reduction).cast(size.dtype).sub(correction);
    const variance = where(freedom.greater(0), size.sum(reduction).div(freedom), Number.NaN);
    return variance.cast(realDType(floatNode(given.node).dtype));
  });
}

/** An infinity in the place of NaN is the last to be chosen. */
function extreme(operation: "nanMax" | "nanMin", x: Tensor, options: ReduceOptions): Tensor {
  checkOrdered(x.dtype, operation);
  const isMax = operation === "nanMax";
  const chosen = (values: Tensor) => (isMax ? values.max(options) : values.min(options));
  return inOperation(operation, () => {
    if (!mayBeNaN(x)) return chosen(x);
    const found = chosen(without(x, Number(isMax ? lowestOf(x.dtype) : highestOf(x.dtype))));
    return where(x.isNaN().all(options), Number.NaN, found);
  });
}

function positionOf(operation: "nanArgmax" | "nanArgmin", x: Tensor, options: PositionOptions): Tensor<"i32"> {
  checkOrdered(x.dtype, operation);
  const isMax = operation === "nanArgmax";
  return inOperation(operation, () => {
    const plain = isMax ? x.argmax(options) : x.argmin(options);
    if (!mayBeNaN(x)) return plain;
    const found = extreme(isMax ? "nanMax" : "nanMin", x, { axis: options.axis, keepDims: true });
    return where(x.isNaN().all({ axis: options.axis, keepDims: options.keepDims }), 0, x.equal(found).argmax(options));
  }) as Tensor<"i32">;
}
