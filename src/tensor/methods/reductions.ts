/** Methods of `Tensor`: sums, products, extremes and their positions, counts, norms and covariance over axes. */
import { checkChoice, checkOptions, inOperation, type OptionKinds } from "../../core/arguments.js";
import {
  checkOrdered,
  type DType,
  isByteFloat,
  isComplex,
  isFloat,
  isNarrowFloat,
  positionDType,
  realDType,
} from "../../core/dtype.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { formatShape, normalizeAxes, normalizeAxis, sizeOf } from "../../core/shape.js";
import type { ReducePrimitive } from "../../graph/primitive.js";
import * as R from "../../graph/primitives/reduce.js";
import { REDUCE, type ReduceOptions, reduceNode } from "../reduce-node.js";
import type { FloatOf, RealOf, SumOf } from "../result-dtypes.js";
import type { Tensor } from "../tensor.js";
import { asFloat, flatAtZero, positionsAlong, squaredSize } from "./operands.js";
import { where } from "./where.js";

/** Options of reductions along one axis. */
export interface AxisOptions {
  /** The axis; all elements in row-major order when left out. */
  readonly axis?: number;
  readonly keepDims?: boolean;
}

/** Options of `argmax` and `argmin`. */
export interface PositionOptions extends AxisOptions {
  /** Which of several equal extremes, or of several NaN: "first" unless told, or "last". */
  readonly tie?: "first" | "last";
}

/** Options of `sum` and `prod`. */
export interface SumOptions<T extends DType = DType> extends ReduceOptions {
  /** The dtype that the elements are cast to first, and that the result has. */
  readonly dtype?: T;
}

/** Options of `norm`. */
export interface NormOptions extends ReduceOptions {
  /** 2 unless told: 1, 2, any p > 0, 0 (how many differ from zero), Infinity, -Infinity. */
  readonly order?: number;
}

export class ReductionMethods<D extends DType> {
  /**
   * The sum over some axes, or over all: `x.sum({ axis: 0 })`. Integers narrower than 32 bits are added in i32 or u32; i32
   * and u32 wrap around, where NumPy widens to 64 bits.
   */
  sum<T extends DType = SumOf<D>>(this: Tensor, options: SumOptions<T> = {}): Tensor<T> {
    return summed(this, R.sum, "sum", options);
  }

  /** The product over some axes, or over all; dtypes as for `sum`. */
  prod<T extends DType = SumOf<D>>(this: Tensor, options: SumOptions<T> = {}): Tensor<T> {
    return summed(this, R.product, "prod", options);
  }

  /** The largest element; NaN wins. Of booleans: whether any is true. */
  max(this: Tensor, options: ReduceOptions = {}): Tensor<D> {
    return reduced(this, R.max, "max", options);
  }

  /** The smallest element; NaN wins. Of booleans: whether all are true. */
  min(this: Tensor, options: ReduceOptions = {}): Tensor<D> {
    return reduced(this, R.min, "min", options);
  }

  /** Whether all elements differ from zero. */
  all(this: Tensor, options: ReduceOptions = {}): Tensor<"bool"> {
    return reduced(this.cast("bool"), R.all, "all", options);
  }

  /** Whether any element differs from zero. */
  any(this: Tensor, options: ReduceOptions = {}): Tensor<"bool"> {
    return reduced(this.cast("bool"), R.any, "any", options);
  }

  /** Position of the largest element, the first of equal ones; a NaN counts as the largest. i32; i64 along 2^31 or more. */
  argmax(this: Tensor, options: PositionOptions = {}): Tensor<"i32"> {
    return positionOf("argmax", this, options);
  }

  /** Position of the smallest element, the first of equal ones; a NaN counts as the smallest. i32; i64 along 2^31 or more. */
  argmin(this: Tensor, options: PositionOptions = {}): Tensor<"i32"> {
    return positionOf("argmin", this, options);
  }

  /** The number of elements that differ from zero; NaN does. i32; i64 of 2^31 elements or more. */
  countNonzero(this: Tensor, options: ReduceOptions = {}): Tensor<"i32"> {
    checkOptions("countNonzero", options, REDUCE);
    const axes = normalizeAxes(options.axis, this.rank, "countNonzero");
    const most = sizeOf(axes.map((axis) => this.shape[axis]));
    return this.cast("bool").cast(positionDType(most)).sum(options) as Tensor<"i32">;
  }

  /** The p-norm (Σ|x|^p)^(1/p) over the axes together, as of one long vector. The slope at zero is zero. */
  norm(this: Tensor, options: NormOptions = {}): Tensor<RealOf<FloatOf<D>>> {
    checkOptions<NormOptions>("norm", options, { ...REDUCE, order: "number" });
    const { order = 2, ...reduction } = options;
    if (Number.isNaN(order)) throw new ArgumentError("norm: the order is a number, not NaN.");
    return inOperation("norm", () => normOf(this, order, reduction)) as Tensor<RealOf<FloatOf<D>>>;
  }

  /**
   * The covariance matrix of columns: [..., observations, variables] gives [..., variables, variables]. `correction: 1`
   * divides by n - 1. (np.cov has variables in rows and corrects by 1 unless told.) Of complex numbers the second of two
   * is conjugated, as in NumPy.
   */
  covariance(this: Tensor, options: { readonly correction?: number } = {}): Tensor<FloatOf<D>> {
    checkOptions("covariance", options, { correction: "number" });
    const { correction = 0 } = options;
    if (this.rank < 2) {
      throw new ShapeError(
        `covariance: takes [..., observations, variables], not ${formatShape(this.shape)}; reshape a vector to [n, 1].`,
      );
    }
    const floats = isComplex(this.dtype) ? this : asFloat("covariance", this);
    // As for means: f16 and bf16 hold neither the sums nor the count.
    const x = isNarrowFloat(floats.dtype) ? floats.cast("f32") : floats;
    const deviation = x.sub(x.mean({ axis: -2, keepDims: true }));
    const observations = this.shape[this.rank - 2];
    const products = deviation.expandDims(-1).mul(deviation.conj().expandDims(-2));
    const covariance = products.sum({ axis: -3 }).div(Math.max(0, observations - correction));
    return covariance.cast(floats.dtype) as Tensor<FloatOf<D>>;
  }
}

const POSITION: OptionKinds<PositionOptions> = { axis: "number", keepDims: "flag", tie: "text" };

function reduced<T extends DType>(
  x: Tensor,
  primitive: ReducePrimitive,
  operation: string,
  options: ReduceOptions,
): Tensor<T> {
  return x.tensorOf(reduceNode(x.node, primitive, operation, options));
}

const SUM: OptionKinds<SumOptions> = { ...REDUCE, dtype: "dtype" };

/** Sums and products, in a dtype of the user's choice where one is given. */
function summed<T extends DType>(
  x: Tensor,
  primitive: ReducePrimitive,
  operation: string,
  options: SumOptions<T>,
): Tensor<T> {
  checkOptions<SumOptions>(operation, options, SUM);
  if (!("dtype" in options)) return reduced(x, primitive, operation, options);
  const { dtype, ...reduction } = options;
  if (dtype === undefined) return reduced(x, primitive, operation, reduction);
  return reduced(x.cast(dtype), primitive, operation, reduction).cast(dtype);
}

/** The least position that holds the extreme, or the last. Where that is NaN, the first or last NaN. */
function positionOf(operation: "argmax" | "argmin", x: Tensor, options: PositionOptions): Tensor<"i32"> {
  checkOptions(operation, options, POSITION);
  checkChoice(operation, "the option tie", options.tie, ["first", "last"]);
  checkOrdered(x.dtype, operation);
  const isFlat = options.axis === undefined;
  const source = isFlat ? x.flatten() : x;
  const axis = normalizeAxis(options.axis ?? 0, source.rank, operation);
  const count = source.shape[axis];
  if (count === 0) {
    throw new ShapeError(`${operation}: no elements along axis ${axis} of ${formatShape(x.shape)} to choose from.`);
  }
  const values = source.dtype === "bool" ? source.cast("u8") : source;
  const extreme = operation === "argmax" ? values.max({ axis, keepDims: true }) : values.min({ axis, keepDims: true });
  const isExtreme = values.equal(extreme);
  // With a NaN among the elements the extreme is NaN, which equals nothing.
  const isFound = isFloat(values.dtype) ? isExtreme.logicalOr(values.isNaN()) : isExtreme;
  const reduction = { axis, keepDims: options.keepDims && !isFlat };
  const places = positionsAlong(values, axis);
  const found =
    options.tie === "last" ? where(isFound, places, -1).max(reduction) : where(isFound, places, count).min(reduction);
  const position = found as Tensor<"i32">;
  return isFlat && options.keepDims ? position.reshape(x.shape.map(() => 1)) : position;
}

function normOf(given: Tensor, order: number, options: ReduceOptions): Tensor {
  const x = isComplex(given.dtype) ? given : asFloat("norm", given);
  // Squares leave the range of 8-bit floats at once.
  if (isByteFloat(x.dtype)) return normOf(x.cast("f32"), order, options).cast(x.dtype);
  // Not abs() beforehand: an operation that nobody reads would wait for x.
  switch (order) {
    case Infinity:
      return x.abs().max(options);
    case -Infinity:
      return x.abs().min(options);
    case 0:
      return x.cast("bool").sum(options).cast(realDType(x.dtype));
    case 1:
      return x.abs().sum(options);
    case 2:
      return flatAtZero(squaredSize(x).sum(options), (sum) => sum.sqrt());
    default:
      return flatAtZero(x.abs().pow(order).sum(options), (sum) => sum.pow(1 / order));
  }
}
