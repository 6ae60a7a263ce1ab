/** Methods of `Tensor`: other dtypes of the same values or bits, and the parts of complex numbers. */
import { checkDType, DTYPES, type DType, isComplex, isInteger } from "../../core/dtype.js";
import { DTypeError } from "../../core/errors.js";
import * as E from "../../graph/primitives/elementwise.js";
import { castNode, derive } from "../build.js";
import type { FloatOf, RealOf } from "../result-dtypes.js";
import type { Tensor } from "../tensor.js";
import { unary } from "./operands.js";

export class DTypeMethods<D extends DType> {
  /** The same values in another dtype: `x.cast("f64")`. Floats become integers by cutting off the fraction. */
  cast<T extends DType>(this: Tensor, dtype: T): Tensor<T> {
    checkDType(dtype, "cast");
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
