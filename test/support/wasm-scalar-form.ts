/** The math library's types as WebAssembly scalars: i32 and u32 are both i32, a bool is an i32 that is 0 or 1. */
import type { FunctionBuilder } from "../../src/wasm/function-builder.js";
import type { Value } from "../../src/wasm/value.js";
import type { Form } from "./wasm-scalar-ops.js";

export function oneNumber(f: FunctionBuilder): Form {
  const bits = (x: Value) => f.i64.reinterpret_f64(x as Value<"f64">);
  const wide = (word: Value) => f.i64.extend_i32_u(word as Value<"i32">);
  const sign = (type: "i32" | "u32") => (type === "i32" ? "s" : "u");
  return {
    prefix: (type) => (type === "f32" || type === "f64" ? type : "i32"),
    constant: (type, value) => f.constant(type === "f32" || type === "f64" ? type : "i32", value),
    bitwise: (name, a, b) => f.op(`i32.${name}`, a, b),
    not: (type, a) => (type === "bool" ? f.i32.eqz(a as Value<"i32">) : f.i32.xor(a as Value<"i32">, -1)),
    shift: (name, a, distance) => f.op(`i32.${name}`, a, distance.value),
    select: (condition, a, b) => f.select(condition as Value<"i32">, a, b),
    bitcast: (from, to, value) => {
      if (from === "f32") return to === "f32" ? value : f.i32.reinterpret_f32(value as Value<"f32">);
      return to === "f32" ? f.f32.reinterpret_i32(value as Value<"i32">) : value;
    },
    highWord: (x) => f.i32.wrap_i64(f.i64.shr_u(bits(x), 32)),
    lowWord: (x) => f.i32.wrap_i64(bits(x)),
    fromWords: (high, low) => f.f64.reinterpret_i64(f.i64.or(f.i64.shl(wide(high), 32), wide(low))),
    toFloat: (from, to, value) => f.op(`${to}.convert_i32_${sign(from)}`, value),
    toInteger: (from, to, value) => f.op(`i32.trunc_sat_${from}_${sign(to)}`, value),
    betweenFloats: (to, value) => f.op(to === "f32" ? "f32.demote_f64" : "f64.promote_f32", value),
  };
}
