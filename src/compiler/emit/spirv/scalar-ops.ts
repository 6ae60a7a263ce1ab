/**
 * The math library's arithmetic on the SPIR-V builder: `exp(spirvOps(f), x, "f32")` writes exp into the function `f`.
 *
 * Every float operation is marked NoContraction, because the library counts on each rounding. Vulkan lets division and
 * square root be off by a few ulp, so by default both are refined; a device known to round them correctly may say so.
 */

import type { FunctionBuilder } from "../../../spirv/function/function-builder.js";
import type { Value } from "../../../spirv/function/value.js";
import type { Type } from "../../../spirv/module/types.js";
import type { FloatType, IntegerType, ScalarOps, ScalarType } from "../../math/scalar-ops.js";

interface SpirvOpsOptions {
  /** Whether division and square root are the device's own or corrected; corrected unless told. */
  readonly division?: "native" | "corrected";
}

export function spirvOps(f: FunctionBuilder, options: SpirvOpsOptions = {}): ScalarOps<Value> {
  const { module: m } = f;
  const exact = { contract: false } as const;
  const types: Record<ScalarType, Type> = { f32: m.f32, f64: m.f64, i32: m.i32, u32: m.u32, bool: m.bool };
  const isBool = (value: Value) => value.type.kind === "bool";
  const words = (x: Value) => f.bitcast(x, m.vec(m.u32, 2));
  const convert = (to: FloatType | IntegerType, value: Value) => f.convert(value, types[to]);
  return {
    typeOf: (value) => scalarTypeOf(value.type),
    constant: (type, value) => m.constant(types[type], type === "bool" ? value !== 0 : value),
    usesNative: () => options.division === "native",
    add: (a, b) => f.add(a, b, exact),
    sub: (a, b) => f.sub(a, b, exact),
    mul: (a, b) => f.mul(a, b, exact),
    div: (a, b) => f.div(a, b, exact),
    sqrt: (x) => f.sqrt(x),
    neg: (x) => f.neg(x, exact),
    abs: (x) => f.abs(x),
    floor: (x) => f.floor(x),
    ceil: (x) => f.ceil(x),
    trunc: (x) => f.trunc(x),
    roundEven: (x) => f.roundEven(x),
    eq: (a, b) => f.equal(a, b),
    ne: (a, b) => f.notEqual(a, b),
    lt: (a, b) => f.less(a, b),
    le: (a, b) => f.lessEqual(a, b),
    gt: (a, b) => f.greater(a, b),
    ge: (a, b) => f.greaterEqual(a, b),
    and: (a, b) => f.and(a, b),
    or: (a, b) => f.or(a, b),
    xor: (a, b) => (isBool(a) ? f.notEqual(a, b) : f.xor(a, b)),
    not: (a) => f.not(a),
    shl: (a, distance) => f.shiftLeft(a, distance),
    shr: (a, distance) => f.shiftRight(a, distance),
    select: (condition, whenTrue, whenFalse) => f.select(condition, whenTrue, whenFalse),
    rarely: (condition, usual, compute) => f.if(condition, compute, () => usual),
    either: (condition, whenTrue, whenFalse) => f.if(condition, whenTrue, whenFalse),
    bitcast: (to, value) => f.bitcast(value, types[to]),
    highWord: (x) => f.extract(words(x), 1),
    lowWord: (x) => f.extract(words(x), 0),
    fromWords: (high, low) => f.bitcast(f.vector(low, high), m.f64),
    convert,
  };
}

function scalarTypeOf(type: Type): ScalarType {
  if (type.kind === "bool") return "bool";
  if (type.kind === "float" && type.width === 32) return "f32";
  if (type.kind === "float" && type.width === 64) return "f64";
  if (type.kind === "int" && type.width === 32) return type.signed ? "i32" : "u32";
  throw new Error(`the math library works on f32, f64, i32, u32 and bool, not ${type.name}`);
}
