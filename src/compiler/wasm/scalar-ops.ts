/**
 * The math library's arithmetic on the WebAssembly builder: `exp(k, k.typed("f32", x), "f32").value` with
 * `k = wasmOps(f)` writes exp into the function `f`; with `wasmOps(f, { lanes: 4 })` it writes exp of four numbers at once.
 *
 * A WebAssembly value does not know whether it is signed or a truth value, so here a value goes with its scalar type.
 * Every operation is the IEEE one that the library counts on, and `div` and `sqrt` round correctly, so all versions give
 * the bits of the JavaScript evaluator.
 *
 * How a vector holds the library's types:
 * - `lanes: 4`: f32, i32 and u32 as four lanes of 32 bits. There is no f64.
 * - `lanes: 2`: f64 as two lanes of 64 bits. A 32-bit word fills its lane twice, in both halves. Every integer operation
 *   on 32-bit lanes keeps it so; comparisons of integers come out as masks of 64 bits, ready to select between f64s; and
 *   taking an f64's words apart or putting them together is one shuffle. f32 is not held.
 * - a bool is a mask: all bits of its lane set, or none.
 */
import { ArgumentError } from "../../core/errors.js";
import type { FloatType, IntegerType, ScalarOps, ScalarType } from "../math/scalar-ops.js";
import type { FunctionBuilder } from "./function-builder.js";
import type { ValueType } from "./types.js";
import type { Operand, Value } from "./value.js";

export interface TypedValue {
  readonly type: ScalarType;
  readonly value: Value;
}

export interface WasmOps extends ScalarOps<TypedValue> {
  /** A value of the function, taken as `type`. */
  readonly typed: (type: ScalarType, value: Value) => TypedValue;
}

export interface WasmOpsOptions {
  /** Numbers per value: 1, 4 (f32) or 2 (f64). */
  readonly lanes?: 1 | 2 | 4;
}

export function wasmOps(f: FunctionBuilder, options: WasmOpsOptions = {}): WasmOps {
  const lanes = options.lanes ?? 1;
  return lanes === 1 ? scalarOps(f) : vectorOps(f, lanes);
}

const isFloat = (type: ScalarType): type is FloatType => type === "f32" || type === "f64";

function mismatch(operation: string, ...operands: TypedValue[]): never {
  throw new ArgumentError(`math: ${operation} does not take (${operands.map(({ type }) => type).join(", ")})`);
}

/** What differs between one number and several: the instruction prefix of a type, and a few operations. */
interface Form {
  readonly f: FunctionBuilder;
  /** "f32" or "f32x4", as the instructions of the type begin. */
  prefix(type: ScalarType): string;
  constant(type: ScalarType, value: number): Value;
  /** The suffix of a comparison's or shift's name: lt, lt_s, lt_u. */
  bitwise(name: "and" | "or" | "xor", a: TypedValue, b: TypedValue): Value;
  not(a: TypedValue): Value;
  shiftDistance(distance: Value): Operand<"i32">;
  shift(name: "shl" | "shr", a: TypedValue, distance: TypedValue): Value;
  select(condition: Value, a: Value, b: Value): Value;
  bitcast(from: ScalarType, to: ScalarType, value: Value): Value;
  highWord(x: Value): Value;
  lowWord(x: Value): Value;
  fromWords(high: Value, low: Value): Value;
  convert(from: ScalarType, to: ScalarType, value: Value): Value;
}
