/** The dtypes of results as far as the type checker can tell: what `Tensor<D>` becomes under an operation. */
import type { AnyDType, Complex, DType } from "../core/dtype.js";
import type { Tensor } from "./tensor.js";

/** The dtype of floats: what true division and exp give. */
export type FloatOf<D extends DType> = DType extends D ? AnyDType : D extends WholeOrBool ? "f32" : D;
/** The dtype of a power: integers stay what they are. */
export type PowerOf<D extends DType> = DType extends D ? AnyDType : D extends "bool" ? "f32" : D;
/** The dtype sums are made in: narrow integers are widened to 32 bits, signed or not. */
export type SumOf<D extends DType> = DType extends D
  ? AnyDType
  : D extends "bool" | "i2" | "i4" | "i8" | "i16"
    ? "i32"
    : D extends "u2" | "u4" | "u8" | "u16"
      ? "u32"
      : D;
/** The dtype of the parts of complex numbers, of their absolute value and phase. Others are their own. */
export type RealOf<D extends DType> = DType extends D
  ? AnyDType
  : D extends "c64"
    ? "f32"
    : D extends "c128"
      ? "f64"
      : D;
/** The complex dtype whose parts hold a dtype's values. */
export type ComplexOf<D extends DType> = DType extends D ? "c64" | "c128" : D extends "f64" | "c128" ? "c128" : "c64";
type WholeOrBool = "bool" | "i2" | "i4" | "i8" | "i16" | "i32" | "i64" | "u2" | "u4" | "u8" | "u16" | "u32" | "u64";
/**
 * The dtype of two operands as far as types can tell: equal ones stay, booleans give way, a JavaScript value takes the
 * tensor's dtype where that can hold it. A number whose value the compiler does not know counts as whole.
 */
export type Meeting<D extends DType, O> =
  O extends Tensor<infer E>
    ? MeetingOf<D, E>
    : O extends Complex
      ? ComplexOf<D>
      : DType extends D
        ? AnyDType
        : Met<D, O>;
/** The same of two dtypes. */
export type MeetingOf<D extends DType, E extends DType> = unknown extends D | E
  ? AnyDType
  : [D, E] extends [E, D]
    ? D
    : [E] extends ["bool"]
      ? D
      : [D] extends ["bool"]
        ? E
        : AnyDType;
type Met<D extends DType, O> = D extends WholeOrBool
  ? O extends number
    ? IsFraction<O> extends true
      ? "f32"
      : D extends "bool"
        ? "i32"
        : D
    : O extends bigint
      ? D extends "bool"
        ? "i64"
        : D
      : D
  : D;
type IsFraction<N extends number> = number extends N ? false : `${N}` extends `${bigint}` ? false : true;
/** The dtype of a choice between two operands, as far as types can tell. */
export type Choice<A, B> =
  A extends Tensor<infer D> ? Meeting<D, B> : B extends Tensor<infer E> ? Meeting<E, A> : Meeting<Meeting<"f32", A>, B>;
/** One dtype where there is one, and any where there are several. */
export type OneOf<D extends DType, All extends DType = D> = D extends DType
  ? [All] extends [D]
    ? D
    : AnyDType
  : never;
