/** Conversions between elements in memory and values in kernels, and the types of both. */
import { BYTE_FORMATS, type ByteFloat } from "../../../core/byte-float.js";
import { DTYPES, type DType } from "../../../core/dtype.js";
import { UnsupportedError } from "../../../core/errors.js";
import type { FunctionBuilder } from "../../../spirv/function/function-builder.js";
import type { Value } from "../../../spirv/function/value.js";
import type { ModuleBuilder } from "../../../spirv/module/builder.js";
import type { ScalarType } from "../../../spirv/module/types.js";
import type { IRType } from "../../ir/ir.js";

/** Types are declared one by one: declaring a type makes the module require its capability. */
export function valueType(m: ModuleBuilder, type: IRType): ScalarType {
  return m[type];
}

export function bitsType(m: ModuleBuilder, dtype: DType): ScalarType {
  return DTYPES[dtype].bytes === 8 ? m.u64 : m.u32;
}

export function storageType(m: ModuleBuilder, dtype: DType): ScalarType {
  switch (dtype) {
    case "bool":
    case "u2":
    case "u4":
    case "u8":
    case "f8e4m3":
    case "f8e5m2":
      return m.u8;
    case "i2":
    case "i4":
      return m.i8;
    case "bf16":
      return m.u16;
    case "c64":
    case "c128":
      throw new UnsupportedError(`${dtype} is stored as pairs of floats and read one half at a time`);
    default:
      return m[dtype];
  }
}

/** An element of memory as a value. */
export function widen(f: FunctionBuilder, m: ModuleBuilder, x: Value, dtype: DType): Value {
  switch (dtype) {
    case "bool":
      return f.notEqual(f.convert(x, m.u32), 0);
    case "i2":
    case "i4":
    case "i8":
    case "i16":
      return f.convert(x, m.i32);
    case "u2":
    case "u4":
    case "u8":
    case "u16":
      return f.convert(x, m.u32);
    case "f8e4m3":
    case "f8e5m2":
      return decodeByte(f, m, f.convert(x, m.u32), dtype);
    case "f16":
      return f.convert(x, m.f32);
    case "bf16":
      return f.bitcast(f.shiftLeft(f.convert(x, m.u32), 16), m.f32);
    default:
      return x;
  }
}

/** A value as an element of memory. `isRounded`: it is a number of the dtype. */
export function narrow(f: FunctionBuilder, m: ModuleBuilder, x: Value, dtype: DType, isRounded = false): Value {
  switch (dtype) {
    case "bool":
      return f.convert(f.select(x, m.constant(m.u32, 1), m.constant(m.u32, 0)), m.u8);
    case "i2":
    case "i4":
    case "i8":
    case "i16":
    case "u2":
    case "u4":
    case "u8":
    case "u16":
      return f.convert(x, storageType(m, dtype));
    case "f8e4m3":
    case "f8e5m2":
      return f.convert(encodeByte(f, m, x, dtype), m.u8);
    case "f16":
      return f.convert(m.roundingOf(16) === "RTE" ? x : roundToHalf(f, m, x), m.f16);
    case "bf16":
      // By arithmetic: Vulkan leaves the rounding of a conversion open, and that of an H200 truncates.
      return f.convert(brainBits(f, m, x, isRounded), m.u16);
    default:
      return x;
  }
}

/** Rounded to nearest even, where the driver may choose how it converts: see elements/narrow-floats.ts. */
function roundToHalf(f: FunctionBuilder, m: ModuleBuilder, x: Value): Value {
  const bits = f.bitcast(x, m.u32);
  const power = f.and(bits, 0x7f800000);
  const nearest = f.min(f.max(power, m.constant(m.u32, 0x38800000)), m.constant(m.u32, 0x47800000));
  const coarse = f.bitcast(f.add(nearest, 13 << 23), m.f32);
  const magnitude = f.sub(f.add(f.abs(x), coarse), coarse);
  const scaled = f.mul(f.mul(magnitude, 2 ** 112), 2 ** -112);
  return f.bitcast(f.or(f.bitcast(scaled, m.u32), f.and(bits, 0x80000000)), m.f32);
}

/** The bits of an f32 as a bf16, in the lower half of a word. `isRounded`: it is a bf16 already. */
export const brainBits = (f: FunctionBuilder, m: ModuleBuilder, x: Value, isRounded: boolean): Value =>
  isRounded ? f.shiftRight(f.bitcast(x, m.u32), 16) : roundToBrain(f, m, x);

/** The upper half of an f32, rounded to nearest even; a NaN stays one. */
function roundToBrain(f: FunctionBuilder, m: ModuleBuilder, x: Value): Value {
  const bits = f.bitcast(x, m.u32);
  const odd = f.and(f.shiftRight(bits, 16), 1);
  const rounded = f.shiftRight(f.add(bits, f.add(odd, 0x7fff)), 16);
  const quiet = f.or(f.shiftRight(bits, 16), 0x40);
  return f.select(f.isNan(x), quiet, rounded);
}

/** The 8-bit float with this code: see byteOfBits in elements/narrow-floats.ts. */
function decodeByte(f: FunctionBuilder, m: ModuleBuilder, code: Value, dtype: ByteFloat): Value {
  const { fractionBits, minExponent, maxCode } = BYTE_FORMATS[dtype];
  const magnitude = f.and(code, 0x7f);
  const moved = f.shiftLeft(magnitude, 23 - fractionBits);
  const normal = f.add(moved, (126 + minExponent) << 23);
  const small = f.bitcast(f.mul(f.convert(magnitude, m.f32), 2 ** (minExponent - fractionBits)), m.u32);
  const finite = f.select(f.less(magnitude, 1 << fractionBits), small, normal);
  const value = f.select(f.greater(magnitude, maxCode), f.or(moved, 0x7f800000), finite);
  return f.bitcast(f.or(value, f.shiftLeft(f.and(code, 0x80), 24)), m.f32);
}

/** The code of the 8-bit float nearest to an f32, ties to even. Every NaN becomes the same one. */
function encodeByte(f: FunctionBuilder, m: ModuleBuilder, x: Value, dtype: ByteFloat): Value {
  const { fractionBits, minExponent, maxCode, overflow, nan } = BYTE_FORMATS[dtype];
  const word = (value: number) => m.constant(m.u32, value);
  const shift = 23 - fractionBits;
  const bits = f.bitcast(x, m.u32);
  const magnitude = f.and(bits, 0x7fffffff);
  // Denormal results: adding this power of two lines the fraction up with the last place, and the addition rounds.
  const aligner = (minExponent + shift + 127) << 23;
  const lined = f.add(f.abs(x), 2 ** (minExponent + shift));
  const small = f.sub(f.bitcast(lined, m.u32), aligner);
  const odd = f.and(f.shiftRight(magnitude, shift), 1);
  const raised = f.add(f.add(magnitude, 2 ** (shift - 1) - 1), odd);
  const normal = f.shiftRight(f.sub(raised, (126 + minExponent) << 23), shift);
  const code = f.select(f.less(magnitude, (127 + minExponent) << 23), small, normal);
  const isBeyond = f.greater(code, maxCode);
  const unsigned = f.select(isBeyond, word(overflow), code);
  const signed = f.or(unsigned, f.and(f.shiftRight(bits, 24), 0x80));
  const isNan = f.greater(magnitude, 0x7f800000);
  return f.select(overflow === nan ? isBeyond : isNan, word(nan), signed);
}
