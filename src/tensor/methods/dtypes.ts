/** Methods of `Tensor`: other dtypes of the same values or bits, and the parts of complex numbers. */
import { checkOptions, type OptionKinds } from "../../core/arguments.js";
import { checkDType, DTYPES, type DType, isComplex, isInteger, isNarrowFloat, lowestOf } from "../../core/dtype.js";
import { DTypeError } from "../../core/errors.js";
import * as E from "../../graph/primitives/elementwise.js";
import { castNode, derive } from "../build.js";
import type { FloatOf, RealOf } from "../result-dtypes.js";
import type { Tensor } from "../tensor.js";
import { unary } from "./operands.js";

/** Options of `cast`. */
export interface CastOptions {
  /** Numbers beyond the range become its end, infinities included. NaN stays NaN, and is 0 as an integer. */
  readonly saturate?: boolean;
}

const CAST: OptionKinds<CastOptions> = { saturate: "flag" };

/** Numbers within the range of another dtype. From floats to integers a cast does it by itself. */
function within(x: Tensor, dtype: DType): Tensor {
  const [from, to] = [DTYPES[x.dtype as DType], DTYPES[dtype]];
  if ([from, to].some(({ kind }) => kind === "complex")) {
    throw new DTypeError(
      `cast: ${x.dtype} to ${dtype}, saturating; complex numbers have no range, so take their parts.`,
    );
  }
  const fits = from.kind === "bool" || to.kind === "bool" || (from.min >= to.min && from.max <= to.max);
  if ((from.kind === "float" && isInteger(dtype)) || (fits && lowestOf(x.dtype) >= to.min)) return x;
  const whole = (end: number | bigint) => (isInteger(x.dtype) && typeof end === "number" ? Math.trunc(end) : end);
  // A narrow float may not hold the end of another one's range.
  const wide = isNarrowFloat(x.dtype) ? x.cast("f32") : x;
  return wide.clip(whole(to.min), whole(to.max)) as Tensor;
}

export class DTypeMethods<D extends DType> {
  /**
   * The same values in another dtype: `x.cast("f64")`. Floats become integers by cutting off the fraction. Integers that do
   * not fit keep their low bits, and floats that are too large become infinite, or NaN in f8e4m3; with `saturate` both become
   * the end of the range.
   */
  cast<T extends DType>(this: Tensor, dtype: T, options: CastOptions = {}): Tensor<T> {
    checkDType(dtype, "cast");
    checkOptions("cast", options, CAST);
    if (options.saturate) return within(this, dtype).cast(dtype);
    // A number given to a jitted function has no dtype of its own until it is cast.
    const isSettled = this.node.isWeak && this.node.dtype === (dtype as DType);
    return this.tensorOf(isSettled ? derive(E.cast, this.node, { dtype }) : castNode(this.node, dtype));
  }

  /** The same bits as another dtype of the same width. Of f16 and bf16 a NaN stays one, with other bits perhaps. */
  bitcast<T extends DType>(this: Tensor, dtype: T): Tensor<T> {
    checkDType(dtype, "bitcast");
    const [from, to] = [DTYPES[this.dtype as DType], DTYPES[dtype]];
    if (from.bits !== to.bits || [from, to].some(({ kind }) => kind === "bool" || kind === "complex")) {
      throw new DTypeError(`bitcast: ${this.dtype} as ${dtype}; both are numbers of one width, and not complex.`);
    }
    // Between whole numbers of one width a cast keeps the bits.
    if (this.dtype === (dtype as DType) || (isInteger(this.dtype) && isInteger(dtype))) return this.cast(dtype);
    return this.tensorOf(derive(E.bitcast, this.node, { dtype }));
  }

  /** The real part; a real tensor is its own. */
  real(this: Tensor): Tensor<RealOf<D>> {
    return isComplex(this.dtype) ? unary(this, E.real) : this.tensorOf(this.node);
  }

  /** The imaginary part; of a real tensor zeros. */
  imag(this: Tensor): Tensor<RealOf<D>> {
    return unary(this, E.imag);
  }

  /** The complex conjugate; a real tensor is its own. */
  conj(this: Tensor): Tensor<D> {
    return isComplex(this.dtype) ? unary(this, E.conj) : this.tensorOf(this.node);
  }

  /** The angle of a complex number, from -π to π; of a real one 0, or π where it is negative. */
  phase(this: Tensor): Tensor<RealOf<FloatOf<D>>> {
    return unary(this, E.phase, true);
  }
}
