/**
 * Conversion of values between dtypes. The rules cover every case and are the same on every device; C, SPIR-V and NumPy
 * leave some cases open:
 *
 * - integer to integer wraps: the low bits are kept, as in NumPy
 * - float to integer drops the fraction and saturates; NaN becomes 0 (as WebAssembly's trunc_sat and XLA do)
 * - to a float rounds to nearest, ties to even; too large becomes infinity, or NaN in f8e4m3, which has no infinity
 * - to bool asks whether the value differs from 0, so NaN is true
 * - complex to real takes the real part
 *
 * Constant folding and the test oracles call this; the compilers emit code that does the same.
 */

import { decodeF8, encodeF8 } from "./byte-float.js";
import { type Complex, DTYPES, type DType, isInteger, type Scalar, type ScalarOf } from "./dtype.js";
import { decodeBf16, decodeF16, encodeBf16, encodeF16 } from "./half.js";

/** A value of dtype `from` as dtype `to`. */
export function castScalar<D extends DType>(value: Scalar, from: DType, to: D): ScalarOf<D> {
  return castTo(value, from, to) as ScalarOf<D>;
}

function castTo(value: Scalar, from: DType, to: DType): Scalar {
  const { kind } = DTYPES[to];
  const whole = isInteger(from) || from === "bool";
  switch (kind) {
    case "bool":
      return typeof value === "object" ? !isZero(value.re) || !isZero(value.im) : !isZero(value);
    case "complex":
      return complexIn(to, value);
    case "float":
      return roundTo(to, realPart(value));
    case "int":
    case "uint":
      return whole ? wrap(toBigInt(value), to) : saturate(Number(realPart(value)), to);
  }
}

function isZero(value: number | bigint | boolean): boolean {
  return typeof value === "number" ? value === 0 : !value;
}

function realPart(value: Scalar): number | bigint {
  if (typeof value === "object") return value.re;
  return typeof value === "boolean" ? Number(value) : value;
}

function toBigInt(value: Scalar): bigint {
  const real = realPart(value);
  return typeof real === "bigint" ? real : BigInt(Math.trunc(real));
}

function complexIn(dtype: DType, value: Scalar): Complex {
  const part = dtype === "c64" ? "f32" : "f64";
  return { re: roundTo(part, realPart(value)), im: typeof value === "object" ? roundTo(part, value.im) : 0 };
}

/** The float of that dtype nearest to a number. */
export function roundTo(dtype: DType, value: number | bigint): number {
  if (typeof value === "bigint") return roundTo(dtype, dtype === "f64" ? Number(value) : oddDouble(value));
  switch (dtype) {
    case "f8e4m3":
    case "f8e5m2":
      return decodeF8(encodeF8(value, dtype), dtype);
    case "f16":
      return decodeF16(encodeF16(value));
    case "bf16":
      return decodeBf16(encodeBf16(value));
    case "f32":
      return Math.fround(value);
    default:
      return value;
  }
}

/** The integer as a double, rounded to odd where it is not exact: rounding the result again is then a single rounding. */
function oddDouble(value: bigint): number {
  const magnitude = value < 0n ? -value : value;
  const excess = magnitude.toString(2).length - 53;
  if (excess <= 0) return Number(value);
  const kept = magnitude >> BigInt(excess);
  const odd = kept << BigInt(excess) === magnitude ? kept : kept | 1n;
  return (value < 0n ? -1 : 1) * Number(odd) * 2 ** excess;
}

function wrap(value: bigint, dtype: DType): number | bigint {
  const { kind, bits } = DTYPES[dtype];
  const kept = kind === "int" ? BigInt.asIntN(bits, value) : BigInt.asUintN(bits, value);
  return bits === 64 ? kept : Number(kept);
}

function saturate(value: number, dtype: DType): number | bigint {
  const { min, max, bits } = DTYPES[dtype];
  if (Number.isNaN(value)) return bits === 64 ? 0n : 0;
  if (value <= min) return min;
  if (value >= max) return max;
  const whole = Math.trunc(value) + 0; // no -0
  return bits === 64 ? BigInt(whole) : whole;
}
