/**
 * f16, bf16 and the 8-bit floats in WebAssembly, which has none of them: their bits to those of an f32 and back, rounding to nearest even. Written
 * once, for one number and for the four of a vector.
 */
import { BYTE_FORMATS, type ByteFloat } from "../../../core/byte-float.js";
import type { FunctionBuilder } from "../../../wasm/function-builder.js";
import type { Value } from "../../../wasm/value.js";

/** Arithmetic of 32-bit words, some of which are the bits of floats. */
interface Words<V> {
  and(a: V, mask: number): V;
  or(a: V, b: V | number): V;
  add(a: V, b: V | number): V;
  shl(a: V, distance: number): V;
  shr(a: V, distance: number): V;
  addFloat(a: V, b: number): V;
  mulFloat(a: V, b: number): V;
  /** Without a sign: a ≥ least ? b : c. */
  fromOn(a: V, least: number, b: V | number, c: V): V;
}

const i32 = (value: number): number => value | 0;

export const oneWord = (f: FunctionBuilder): Words<Value<"i32">> => {
  const float = (x: Value<"i32">) => f.f32.reinterpret_i32(x);
  return {
    and: (a, mask) => f.i32.and(a, i32(mask)),
    or: (a, b) => f.i32.or(a, b),
    add: (a, b) => f.i32.add(a, b),
    shl: (a, distance) => f.i32.shl(a, distance),
    shr: (a, distance) => f.i32.shr_u(a, distance),
    addFloat: (a, b) => f.i32.reinterpret_f32(f.f32.add(float(a), b)),
    mulFloat: (a, b) => f.i32.reinterpret_f32(f.f32.mul(float(a), b)),
    fromOn: (a, least, b, c) => f.select(f.i32.ge_u(a, i32(least)), typeof b === "number" ? f.i32.const(b) : b, c),
  };
};

export const fourWords = (f: FunctionBuilder): Words<Value<"v128">> => {
  const word = (x: Value<"v128"> | number) => (typeof x === "number" ? f.i32x4.splat(f.i32.const(i32(x))) : x);
  const float = (x: number) => f.f32x4.splat(f.f32.const(x));
  return {
    and: (a, mask) => f.v128.and(a, word(mask)),
    or: (a, b) => f.v128.or(a, word(b)),
    add: (a, b) => f.i32x4.add(a, word(b)),
    shl: (a, distance) => f.i32x4.shl(a, distance),
    shr: (a, distance) => f.i32x4.shr_u(a, distance),
    addFloat: (a, b) => f.f32x4.add(a, float(b)),
    mulFloat: (a, b) => f.f32x4.mul(a, float(b)),
    fromOn: (a, least, b, c) => f.v128.bitselect(word(b), c, f.i32x4.ge_u(a, word(least))),
  };
};

/** Moving the exponent and fraction up and scaling by 2^112 turns even denormals into the right float. */
export function decodeHalf<V>(w: Words<V>, bits: V): V {
  const magnitude = w.and(bits, 0x7fff);
  const sign = w.shl(w.and(bits, 0x8000), 16);
  const moved = w.shl(magnitude, 13);
  const value = w.fromOn(magnitude, 0x7c00, w.or(moved, 0x7f800000), w.mulFloat(moved, 2 ** 112));
  return w.or(value, sign);
}

export function encodeHalf<V>(w: Words<V>, bits: V): V {
  const sign = w.and(w.shr(bits, 16), 0x8000);
  const magnitude = w.and(bits, 0x7fffffff);
  // Denormal results: adding 0.5 lines the fraction up with the last place of an f16, and the addition rounds.
  const small = w.add(w.addFloat(magnitude, 0.5), -0x3f000000);
  // Normal results: round at bit 13, ties to even, and move the exponent from bias 127 to 15.
  const odd = w.and(w.shr(magnitude, 13), 1);
  const normal = w.shr(w.add(w.add(magnitude, 0xfff - 0x38000000), odd), 13);
  const finite = w.fromOn(magnitude, 0x38800000, normal, small);
  // 65520 and beyond round to infinity; NaN stays one.
  const infinite = w.fromOn(magnitude, 0x477ff000, 0x7c00, finite);
  return w.or(sign, w.fromOn(magnitude, 0x7f800001, 0x7e00, infinite));
}

export const decodeBrain = <V>(w: Words<V>, bits: V): V => w.shl(bits, 16);

/** The upper half, rounded to nearest even; a NaN stays one. */
export function encodeBrain<V>(w: Words<V>, bits: V): V {
  const upper = w.shr(bits, 16);
  const rounded = w.shr(w.add(w.add(bits, w.and(upper, 1)), 0x7fff), 16);
  return w.fromOn(w.and(bits, 0x7fffffff), 0x7f800001, w.or(upper, 0x40), rounded);
}

/** Moving the code up and scaling turns even denormals into the right float. */
export function decodeByte<V>(w: Words<V>, bits: V, dtype: ByteFloat): V {
  const { fractionBits, minExponent, maxCode } = BYTE_FORMATS[dtype];
  const code = w.and(bits, 0x7f);
  const moved = w.shl(code, 23 - fractionBits);
  const value = w.fromOn(code, maxCode + 1, w.or(moved, 0x7f800000), w.mulFloat(moved, 2 ** (126 + minExponent)));
  return w.or(value, w.shl(w.and(bits, 0x80), 24));
}

/** As encodeHalf; beyond the largest number there is infinity, or only NaN, and every NaN becomes the same one. */
export function encodeByte<V>(w: Words<V>, bits: V, dtype: ByteFloat): V {
  const { fractionBits, minExponent, maxCode, overflow, nan } = BYTE_FORMATS[dtype];
  const shift = 23 - fractionBits;
  const magnitude = w.and(bits, 0x7fffffff);
  const small = w.add(w.addFloat(magnitude, 2 ** (minExponent + shift)), -((minExponent + shift + 127) << 23));
  const odd = w.and(w.shr(magnitude, shift), 1);
  const rounder = 2 ** (shift - 1) - 1 - ((126 + minExponent) << 23);
  const normal = w.shr(w.add(w.add(magnitude, rounder), odd), shift);
  const code = w.fromOn(magnitude, (127 + minExponent) << 23, normal, small);
  const signed = w.or(w.fromOn(code, maxCode + 1, overflow, code), w.and(w.shr(bits, 24), 0x80));
  return overflow === nan ? w.fromOn(code, maxCode + 1, nan, signed) : w.fromOn(magnitude, 0x7f800001, nan, signed);
}
