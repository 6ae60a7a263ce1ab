/**
 * Methods of `Tensor` under the names of the Python array API standard (2023.12), in camelCase, where ours are others; and
 * those of its functions that are made of ours. docs/array-api.md has the whole table.
 */
import { checkOptions, inOperation, type OptionKinds } from "../../core/arguments.js";
import { type DType, isComplex, isNarrowFloat } from "../../core/dtype.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { formatShape, normalizeAxis } from "../../core/shape.js";
import type { FloatOf, Meeting, MeetingOf, RealOf, SumOf } from "../result-dtypes.js";
import type { Operand, Tensor } from "../tensor.js";
import { checkTensor } from "../tensor-checks.js";
import type { VarianceOptions } from "./averages.js";
import { einsum } from "./einsum.js";
import { concat } from "./joining.js";
import { asFloat, flatAtZero, scalarLike } from "./operands.js";

/** Options of `cumulativeSum` and `cumulativeProd`. */
export interface RunningOptions<T extends DType = DType> {
  /** The axis; may be left out of a tensor of one axis. */
  readonly axis?: number;
  /** The dtype that the elements are cast to first. */
  readonly dtype?: T;
  /** Begins with the sum or product of no elements, so that the axis is longer by one. */
  readonly includeInitial?: boolean;
}

const RUNNING: OptionKinds<RunningOptions> = { axis: "number", dtype: "dtype", includeInitial: "flag" };

export class StandardNameMethods<D extends DType> {
  /** Another name of `rank`: the number of axes. */
  get ndim(): number {
    return (this as unknown as Tensor).rank;
  }

  /** Another name of `to`. */
  toDevice(this: Tensor, device: string): Tensor<D> {
    return under("toDevice", () => this.to(device));
  }

  /** Another name of `sub`. */
  subtract<O extends Operand>(this: Tensor, other: O): Tensor<Meeting<D, O>> {
    return under("subtract", () => this.sub(other));
  }

  /** Another name of `mul`. */
  multiply<O extends Operand>(this: Tensor, other: O): Tensor<Meeting<D, O>> {
    return under("multiply", () => this.mul(other));
  }

  /** Another name of `div`. */
  divide<O extends Operand>(this: Tensor, other: O): Tensor<FloatOf<Meeting<D, O>>> {
    return under("divide", () => this.div(other));
  }

  /** Another name of `neg`. */
  negative(this: Tensor): Tensor<D> {
    return under("negative", () => this.neg());
  }

  /** The numbers as they are. */
  positive(this: Tensor): Tensor<D> {
    if (this.dtype === "bool") throw new ArgumentError("positive: takes numbers, not bool; cast it first.");
    return this.again() as Tensor<D>;
  }

  /** Another name of `bitwiseNot`. */
  bitwiseInvert(this: Tensor): Tensor<D> {
    return under("bitwiseInvert", () => this.bitwiseNot());
  }

  /** Another name of `leftShift`. */
  bitwiseLeftShift<O extends Operand>(this: Tensor, other: O): Tensor<Meeting<D, O>> {
    return under("bitwiseLeftShift", () => this.leftShift(other));
  }

  /** Another name of `rightShift`. */
  bitwiseRightShift<O extends Operand>(this: Tensor, other: O): Tensor<Meeting<D, O>> {
    return under("bitwiseRightShift", () => this.rightShift(other));
  }

  /** Another name of `cast`. */
  asType<T extends DType>(this: Tensor, dtype: T): Tensor<T> {
    return inOperation("asType", () => this.cast(dtype));
  }

  /** Another name of `permute`. */
  permuteDims(this: Tensor, ...axes: number[] | [readonly number[]]): Tensor<D> {
    return under("permuteDims", () => this.permute(...axes));
  }

  /** Swaps the last two axes; `mT` as a method. */
  matrixTranspose(this: Tensor): Tensor<D> {
    if (this.rank < 2) throw new ShapeError(`matrixTranspose: takes matrices, not ${formatShape(this.shape)}.`);
    return this.swapAxes(-1, -2) as Tensor<D>;
  }

  /** Another name of `variance`. */
  var(this: Tensor, options: VarianceOptions = {}): Tensor<RealOf<FloatOf<D>>> {
    return under("var", () => this.variance(options));
  }

  /** Running sums along an axis: `cumsum` with the options of the standard. */
  cumulativeSum<T extends DType = SumOf<D>>(this: Tensor, options: RunningOptions<T> = {}): Tensor<T> {
    return running("cumulativeSum", this, options, 0, (x, axis) => x.cumsum({ axis })) as Tensor<T>;
  }

  /** Running products along an axis: `cumprod` with the options of the standard. */
  cumulativeProd<T extends DType = SumOf<D>>(this: Tensor, options: RunningOptions<T> = {}): Tensor<T> {
    return running("cumulativeProd", this, options, 1, (x, axis) => x.cumprod({ axis })) as Tensor<T>;
  }

  /** The sum of products along an axis of both, the last unless told; complex numbers of this are conjugated. */
  vecdot<E extends DType>(
    this: Tensor,
    other: Tensor<E>,
    options: { readonly axis?: number } = {},
  ): Tensor<MeetingOf<D, E>> {
    checkOptions("vecdot", options, { axis: "number" });
    checkTensor("vecdot", "the other operand", other);
    const { axis = -1 } = options;
    const [a, b] = [this, other].map((x: Tensor) => x.moveAxis(normalizeAxis(axis, x.rank, "vecdot"), -1));
    if (a.shape.at(-1) !== b.shape.at(-1)) {
      throw new ShapeError(
        `vecdot: ${formatShape(this.shape)} and ${formatShape(other.shape)} along axis ${axis}; both have as many elements there.`,
      );
    }
    return under("vecdot", () => einsum("...i,...i->...", a.conj(), b));
  }

  /**
   * The matrix of correlation coefficients of columns: [..., observations, variables] gives [..., variables, variables], as
   * `covariance` does. (np.corrcoef has variables in rows.)
   */
  corrcoef(this: Tensor): Tensor<FloatOf<D>> {
    const covariance = inOperation("corrcoef", () => widest(this).covariance());
    const deviation = flatAtZero(covariance.diagonal().real(), (x) => x.sqrt()).cast(covariance.dtype);
    const scaled = covariance.div(deviation.expandDims(-1)).div(deviation.expandDims(-2));
    const bounded = isComplex(scaled.dtype) ? scaled : scaled.clip(-1, 1);
    return bounded.cast(isComplex(this.dtype) ? this.dtype : asFloat("corrcoef", this).dtype) as Tensor<FloatOf<D>>;
  }
}

/** The steps of another method, under this name. */
const under = <T extends DType>(operation: string, steps: () => object): Tensor<T> =>
  inOperation(operation, steps) as Tensor<T>;

/** f16 and bf16 in f32: their covariances may not be held. */
const widest = (x: Tensor): Tensor => (isNarrowFloat(x.dtype) ? x.cast("f32") : x);

function running(
  operation: string,
  given: Tensor,
  options: RunningOptions,
  initial: 0 | 1,
  cumulated: (x: Tensor, axis: number) => Tensor,
): Tensor {
  checkOptions(operation, options, RUNNING);
  if (options.axis === undefined && given.rank !== 1) {
    throw new ArgumentError(
      `${operation}: ${formatShape(given.shape)} has ${given.rank} axes; name one, as in { axis: 0 }.`,
    );
  }
  const axis = normalizeAxis(options.axis ?? 0, given.rank, operation);
  return inOperation(operation, () => {
    const sums = cumulated(options.dtype === undefined ? given : given.cast(options.dtype), axis);
    const found = options.dtype === undefined ? sums : sums.cast(options.dtype);
    if (!options.includeInitial) return found;
    const shape = found.shape.map((extent, i) => (i === axis ? 1 : extent));
    return concat([scalarLike(found, found.dtype === "bool" ? initial === 1 : initial).broadcastTo(shape), found], {
      axis,
    });
  });
}
