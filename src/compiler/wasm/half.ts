/** f16 in WebAssembly, which has none: its bits to an f32 and back, rounding to nearest even. */
import type { FunctionBuilder } from "./function-builder.js";
import type { Value } from "./value.js";

/** Moving the exponent and fraction up and scaling by 2^112 turns even denormals into the right float. */
export function decodeHalf(f: FunctionBuilder, bits: Value<"i32">): Value<"f32"> {
  const magnitude = f.i32.and(bits, 0x7fff);
  const sign = f.i32.shl(f.i32.and(bits, 0x8000), 16);
  const scaled = f.f32.mul(f.f32.reinterpret_i32(f.i32.shl(magnitude, 13)), 2 ** 112);
  const special = f.i32.or(f.i32.shl(magnitude, 13), 0x7f800000);
  const value = f.select(f.i32.ge_u(magnitude, 0x7c00), special, f.i32.reinterpret_f32(scaled));
  return f.f32.reinterpret_i32(f.i32.or(value, sign));
}

export function encodeHalf(f: FunctionBuilder, x: Value<"f32">): Value<"i32"> {
  const bits = f.i32.reinterpret_f32(x);
  const sign = f.i32.and(f.i32.shr_u(bits, 16), 0x8000);
  const magnitude = f.i32.and(bits, 0x7fffffff);
  // Denormal results: adding 0.5 lines the fraction up with the last place of an f16, and the addition rounds.
  const small = f.i32.sub(f.i32.reinterpret_f32(f.f32.add(f.f32.reinterpret_i32(magnitude), 0.5)), 0x3f000000);
  // Normal results: round at bit 13, ties to even, and move the exponent from bias 127 to 15.
  const odd = f.i32.and(f.i32.shr_u(magnitude, 13), 1);
  const normal = f.i32.shr_u(f.i32.add(f.i32.add(magnitude, 0xfff - 0x38000000), odd), 13);
  const finite = f.select(f.i32.lt_u(magnitude, 0x38800000), small, normal);
  // 65520 and beyond round to infinity; NaN stays one.
  const large = f.select(f.i32.gt_u(magnitude, 0x7f800000), f.i32.const(0x7e00), 0x7c00);
  return f.i32.or(sign, f.select(f.i32.ge_u(magnitude, 0x477ff000), large, finite));
}
