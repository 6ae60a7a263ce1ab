/**
 * The math library's arithmetic on the WebAssembly builder: with `k = wasmOps(f)`, `exp(k, k.typed("f32", x), "f32").value`
 * writes exp into the function `f`; with `wasmOps(f, { lanes: 4 })` it writes exp of four numbers at once.
 *
 * A WebAssembly value does not say whether it is signed or a truth value, so here a value goes with its scalar type. Every
 * operation is the IEEE one that the library counts on, and division and square root round correctly, so all forms give
 * the bits of the JavaScript evaluator.
 */

import type { FloatType, ScalarOps, ScalarType } from "../../src/compiler/math/scalar-ops.js";
import { ArgumentError } from "../../src/core/errors.js";
import type { FunctionBuilder } from "../../src/wasm/function-builder.js";
import type { Value } from "../../src/wasm/value.js";
import { oneNumber } from "./wasm-scalar-form.js";
import { severalNumbers } from "./wasm-vector-form.js";

export interface TypedValue {
  readonly type: ScalarType;
  readonly value: Value;
  /** The number itself, of a constant. */
  readonly constant?: number;
}

export interface WasmOps extends ScalarOps<TypedValue> {
  /** A value of the function, taken as `type`. */
  readonly typed: (type: ScalarType, value: Value) => TypedValue;
}

export interface WasmOpsOptions {
  /** Numbers per value: 1, or as many as a vector holds, which is 4 for f32 and 2 for f64. */
  readonly lanes?: 1 | 2 | 4;
}

/** What differs between one number and several: the names of the instructions, and how the odd operations are done. */
export interface Form {
  /** What an instruction on the type begins with: "f32" or "f32x4". */
  prefix(type: ScalarType): string;
  constant(type: ScalarType, value: number): Value;
  /** "and", "or" and "xor" of integers or truth values. */
  bitwise(name: string, a: Value, b: Value): Value;
  not(type: ScalarType, a: Value): Value;
  shift(name: "shl" | "shr_s" | "shr_u", a: Value, distance: TypedValue): Value;
  select(condition: Value, a: Value, b: Value): Value;
  bitcast(from: ScalarType, to: ScalarType, value: Value): Value;
  highWord(x: Value): Value;
  lowWord(x: Value): Value;
  fromWords(high: Value, low: Value): Value;
  toFloat(from: "i32" | "u32", to: FloatType, value: Value): Value;
  toInteger(from: FloatType, to: "i32" | "u32", value: Value): Value;
  betweenFloats(to: FloatType, value: Value): Value;
}

export function wasmOps(f: FunctionBuilder, options: WasmOpsOptions = {}): WasmOps {
  const lanes = options.lanes ?? 1;
  const form = lanes === 1 ? oneNumber(f) : severalNumbers(f, lanes);

  const unary =
    (name: string) =>
    (x: TypedValue): TypedValue =>
      isFloat(x.type) ? { type: x.type, value: f.op(`${form.prefix(x.type)}.${name}`, x.value) } : mismatch(name, x);
  const arithmetic =
    (name: string, onIntegers: boolean) =>
    (a: TypedValue, b: TypedValue): TypedValue => {
      if (a.type !== b.type || a.type === "bool" || !(onIntegers || isFloat(a.type))) return mismatch(name, a, b);
      return { type: a.type, value: f.op(`${form.prefix(a.type)}.${name}`, a.value, b.value) };
    };
  const comparison =
    (name: string, isSignless = false) =>
    (a: TypedValue, b: TypedValue): TypedValue => {
      if (a.type !== b.type || a.type === "bool") return mismatch(name, a, b);
      const suffix = isSignless || isFloat(a.type) ? "" : a.type === "i32" ? "_s" : "_u";
      return { type: "bool", value: f.op(`${form.prefix(a.type)}.${name}${suffix}`, a.value, b.value) };
    };
  const bitwise =
    (name: string) =>
    (a: TypedValue, b: TypedValue): TypedValue => {
      if (a.type !== b.type || isFloat(a.type)) return mismatch(name, a, b);
      return { type: a.type, value: form.bitwise(name, a.value, b.value) };
    };
  const shift =
    (name: "shl" | "shr") =>
    (a: TypedValue, distance: TypedValue): TypedValue => {
      if ((a.type !== "i32" && a.type !== "u32") || distance.type !== "u32") return mismatch(name, a, distance);
      const full = name === "shl" ? "shl" : a.type === "i32" ? "shr_s" : "shr_u";
      return { type: a.type, value: form.shift(full, a.value, distance) };
    };

  const select = (condition: TypedValue, a: TypedValue, b: TypedValue): TypedValue => {
    if (condition.type !== "bool" || a.type !== b.type) return mismatch("select", condition, a, b);
    return { type: a.type, value: form.select(condition.value, a.value, b.value) };
  };

  return {
    typed: (type, value) => ({ type, value }),
    typeOf: ({ type }) => type,
    constant: (type, constant) => ({ type, value: form.constant(type, constant), constant }),
    usesNative: () => true,
    add: arithmetic("add", true),
    sub: arithmetic("sub", true),
    mul: arithmetic("mul", true),
    div: arithmetic("div", false),
    sqrt: unary("sqrt"),
    neg: unary("neg"),
    abs: unary("abs"),
    floor: unary("floor"),
    ceil: unary("ceil"),
    trunc: unary("trunc"),
    roundEven: unary("nearest"),
    eq: comparison("eq", true),
    ne: comparison("ne", true),
    lt: comparison("lt"),
    le: comparison("le"),
    gt: comparison("gt"),
    ge: comparison("ge"),
    and: bitwise("and"),
    or: bitwise("or"),
    xor: bitwise("xor"),
    not: (a) => (isFloat(a.type) ? mismatch("not", a) : { type: a.type, value: form.not(a.type, a.value) }),
    shl: shift("shl"),
    shr: shift("shr"),
    select,
    rarely: (condition, usual, compute) => select(condition, compute(), usual),
    either: (condition, whenTrue, whenFalse) => select(condition, whenTrue(), whenFalse()),
    bitcast: (to, v) => {
      if (v.type === "f64" || v.type === "bool") return mismatch(`bitcast to ${to}`, v);
      return { type: to, value: form.bitcast(v.type, to, v.value) };
    },
    highWord: (x) => (x.type === "f64" ? { type: "u32", value: form.highWord(x.value) } : mismatch("highWord", x)),
    lowWord: (x) => (x.type === "f64" ? { type: "u32", value: form.lowWord(x.value) } : mismatch("lowWord", x)),
    fromWords: (high, low) => {
      if (high.type !== "u32" || low.type !== "u32") return mismatch("fromWords", high, low);
      return { type: "f64", value: form.fromWords(high.value, low.value) };
    },
    convert: (to, v) => {
      if (v.type === "bool" || v.type === to) return mismatch(`convert to ${to}`, v);
      if (isFloat(to)) {
        const value = isFloat(v.type) ? form.betweenFloats(to, v.value) : form.toFloat(v.type, to, v.value);
        return { type: to, value };
      }
      return isFloat(v.type)
        ? { type: to, value: form.toInteger(v.type, to, v.value) }
        : mismatch(`convert to ${to}`, v);
    },
  };
}

function isFloat(type: ScalarType): type is FloatType {
  return type === "f32" || type === "f64";
}

function mismatch(operation: string, ...operands: TypedValue[]): never {
  throw new ArgumentError(`math: ${operation} does not take (${operands.map(({ type }) => type).join(", ")})`);
}
