/**
 * The math library's types in the lanes of a vector.
 *
 * - Four lanes: f32, i32 and u32 have 32 bits each and fill their lane. There is no f64.
 * - Two lanes: an f64 has 64 bits and fills its lane; a 32-bit word fills it twice, in both halves. Operations on 32-bit
 *   lanes keep it so, a comparison of words comes out as a mask of 64 bits that can choose between f64s, and taking an f64
 *   apart into words or putting it together is one shuffle. In 64-bit integer lanes each of these would cost more, and
 *   multiplication much more. There is no f32.
 *
 * A truth value is a mask: all bits of its lane set, or none.
 */

import type { FloatType, ScalarType } from "../../src/compiler/math/scalar-ops.js";
import { UnsupportedError } from "../../src/core/errors.js";
import type { FunctionBuilder } from "../../src/wasm/function-builder.js";
import type { LaneShape } from "../../src/wasm/types.js";
import type { Value } from "../../src/wasm/value.js";
import type { Form, TypedValue } from "./wasm-scalar-ops.js";

type Vector = Value<"v128">;

export function severalNumbers(f: FunctionBuilder, lanes: 2 | 4): Form {
  const float: FloatType = lanes === 4 ? "f32" : "f64";
  const lacking = (type: ScalarType): never => {
    throw new UnsupportedError(
      `math: ${lanes} lanes hold ${float}, not ${type}; use ${lanes === 4 ? 2 : 4} lanes or 1`,
    );
  };
  const shapeOf = (type: ScalarType): LaneShape => {
    if (type === "f32" || type === "f64") return type === float ? (lanes === 4 ? "f32x4" : "f64x2") : lacking(type);
    return "i32x4";
  };
  /** Words 0 to 7 of two vectors end to end. */
  const words = (a: Value, b: Value, order: readonly number[]): Vector =>
    f.i8x16.shuffle(
      a as Vector,
      b as Vector,
      order.flatMap((word) => [4 * word, 4 * word + 1, 4 * word + 2, 4 * word + 3]),
    );

  /** 2^n in each lane, for n from 0 to 31: the exponent of a float, converted. */
  const powerOfTwo = (n: Vector): Vector => f.i32x4.trunc_sat_f32x4_u(f.i32x4.shl(f.i32x4.add(n, 127), 23));

  /**
   * Lanes shifted each by its own distance, which WebAssembly does not have: left is a product with 2^n, right the upper
   * part of a product of 64 bits with 2^(31 - n).
   */
  const shiftByLanes = (name: "shl" | "shr_s" | "shr_u", a: Vector, by: Vector): Vector => {
    const distance = f.v128.and(by, f.i32x4.const(31));
    if (name === "shl") return f.i32x4.mul(a, powerOfTwo(distance));
    if (name === "shr_s") {
      const sign = f.i32x4.shr_s(a, 31);
      return f.v128.xor(shiftByLanes("shr_u", f.v128.xor(a, sign), distance), sign);
    }
    const factor = powerOfTwo(f.i32x4.sub(f.i32x4.const(31), distance));
    const low = f.i64x2.shr_u(f.i64x2.extmul_low_i32x4_u(a, factor), 31);
    const high = f.i64x2.shr_u(f.i64x2.extmul_high_i32x4_u(a, factor), 31);
    return words(low, high, [0, 2, 4, 6]);
  };

  return {
    prefix: shapeOf,
    constant: (type, value) => f.vectorConstant(shapeOf(type), type === "bool" ? -value : value),
    bitwise: (name, a, b) => f.op(`v128.${name}`, a, b),
    not: (_type, a) => f.v128.not(a as Vector),
    shift: (name, a, distance: TypedValue) =>
      distance.constant === undefined
        ? shiftByLanes(name, a as Vector, distance.value as Vector)
        : f.op(`i32x4.${name}`, a, distance.constant),
    select: (condition, a, b) => f.v128.bitselect(a as Vector, b as Vector, condition as Vector),
    bitcast: (from, to, value) => {
      for (const type of [from, to]) shapeOf(type);
      return value;
    },
    highWord: (x) => words(x, x, [1, 1, 3, 3]),
    lowWord: (x) => words(x, x, [0, 0, 2, 2]),
    fromWords: (high, low) => words(low, high, [0, 5, 2, 7]),
    toFloat: (from, to, value) => {
      const sign = from === "i32" ? "s" : "u";
      if (shapeOf(to) === "f32x4") return f.op(`f32x4.convert_i32x4_${sign}`, value);
      return f.op(`f64x2.convert_low_i32x4_${sign}`, words(value, value, [0, 2, 0, 2]));
    },
    toInteger: (from, to, value) => {
      const sign = to === "i32" ? "s" : "u";
      if (shapeOf(from) === "f32x4") return f.op(`i32x4.trunc_sat_f32x4_${sign}`, value);
      const both = f.op(`i32x4.trunc_sat_f64x2_${sign}_zero`, value);
      return words(both, both, [0, 0, 1, 1]);
    },
    betweenFloats: (to) => lacking(to === float ? (float === "f32" ? "f64" : "f32") : to),
  };
}
