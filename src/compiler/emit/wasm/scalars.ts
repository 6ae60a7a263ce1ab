/** The operations of the loop-nest language on one value at a time, and loads and stores of every dtype. */
import type { DType } from "../../../core/dtype.js";
import { UnsupportedError } from "../../../core/errors.js";
import type { FunctionBuilder } from "../../../wasm/function-builder.js";
import type { Value } from "../../../wasm/value.js";
import {
  type BinaryOp,
  type CompareOp,
  type IRType,
  type Value as IRValue,
  isBinaryOp,
  isCompareOp,
  isUnaryOp,
  type UnaryOp,
} from "../../ir/ir.js";
import { decodeBrain, decodeByte, decodeHalf, encodeBrain, encodeByte, encodeHalf, oneWord } from "./half.js";

export const wasmType = {
  bool: "i32",
  i32: "i32",
  u32: "i32",
  i64: "i64",
  u64: "i64",
  f32: "f32",
  f64: "f64",
} as const;
export const isUnsigned = (type: IRType): boolean => type === "u32" || type === "u64";

export function loadElement(
  f: FunctionBuilder,
  dtype: DType,
  at: Value<"i32">,
  offset: { readonly offset: number },
): Value {
  switch (dtype) {
    case "bool":
      return f.i32.ne(f.i32.load8_u(at, offset), 0);
    case "i2":
    case "i4":
    case "i8":
      return f.i32.load8_s(at, offset);
    case "u2":
    case "u4":
    case "u8":
      return f.i32.load8_u(at, offset);
    case "i16":
      return f.i32.load16_s(at, offset);
    case "u16":
      return f.i32.load16_u(at, offset);
    case "i32":
    case "u32":
      return f.i32.load(at, offset);
    case "i64":
    case "u64":
      return f.i64.load(at, offset);
    case "f8e4m3":
    case "f8e5m2":
      return f.f32.reinterpret_i32(decodeByte(oneWord(f), f.i32.load8_u(at, offset), dtype));
    case "f16":
      return f.f32.reinterpret_i32(decodeHalf(oneWord(f), f.i32.load16_u(at, offset)));
    case "bf16":
      return f.f32.reinterpret_i32(decodeBrain(oneWord(f), f.i32.load16_u(at, offset)));
    case "f32":
      return f.f32.load(at, offset);
    case "f64":
      return f.f64.load(at, offset);
    default:
      throw new UnsupportedError(`${dtype} is stored as pairs of floats and read one half at a time`);
  }
}

export function storeElement(
  f: FunctionBuilder,
  dtype: DType,
  at: Value<"i32">,
  value: Value,
  offset: { readonly offset: number },
): void {
  switch (dtype) {
    case "bool":
    case "i2":
    case "i4":
    case "i8":
    case "u2":
    case "u4":
    case "u8":
      f.i32.store8(at, value as Value<"i32">, offset);
      break;
    case "i16":
    case "u16":
      f.i32.store16(at, value as Value<"i32">, offset);
      break;
    case "i32":
    case "u32":
      f.i32.store(at, value as Value<"i32">, offset);
      break;
    case "i64":
    case "u64":
      f.i64.store(at, value as Value<"i64">, offset);
      break;
    case "f8e4m3":
    case "f8e5m2":
      f.i32.store8(at, encodeByte(oneWord(f), f.i32.reinterpret_f32(value as Value<"f32">), dtype), offset);
      break;
    case "f16":
      f.i32.store16(at, encodeHalf(oneWord(f), f.i32.reinterpret_f32(value as Value<"f32">)), offset);
      break;
    case "bf16":
      f.i32.store16(at, encodeBrain(oneWord(f), f.i32.reinterpret_f32(value as Value<"f32">)), offset);
      break;
    case "f32":
      f.f32.store(at, value as Value<"f32">, offset);
      break;
    case "f64":
      f.f64.store(at, value as Value<"f64">, offset);
      break;
    default:
      throw new UnsupportedError(`${dtype} is stored as pairs of floats and written one half at a time`);
  }
}

export function scalar(f: FunctionBuilder, value: IRValue, operands: readonly Value[]): Value {
  const a = operands[0];
  const b = operands[1];
  const c = operands[2];
  const from = value.args[0].type;
  const { op } = value;
  if (isBinaryOp(op)) return binary(f, op, value.type, a, b);
  if (isCompareOp(op)) return compare(f, op, from, a, b);
  if (isUnaryOp(op)) return unary(f, op, value.type, a);
  switch (op) {
    case "select":
      return f.select(a as Value<"i32">, b, c);
    case "mulAdd":
      return binary(f, "add", value.type, binary(f, "mul", value.type, a, b), c);
    case "convert":
      return convert(f, from, value.type, a);
    case "bitcast":
      return bitcast(f, from, value.type, a);
    case "highWord":
      return f.i32.wrap_i64(f.i64.shr_u(f.i64.reinterpret_f64(a as Value<"f64">), 32n));
    case "lowWord":
      return f.i32.wrap_i64(f.i64.reinterpret_f64(a as Value<"f64">));
    case "fromWords": {
      const high = f.i64.shl(f.i64.extend_i32_u(a as Value<"i32">), 32n);
      return f.f64.reinterpret_i64(f.i64.or(high, f.i64.extend_i32_u(b as Value<"i32">)));
    }
    case "signExtend":
      return value.attribute === 8 ? f.i32.extend8_s(a as Value<"i32">) : f.i32.extend16_s(a as Value<"i32">);
    case "combineLanes":
      return a;
    case "constant":
    case "row":
    case "lane":
    case "index":
    case "accumulator":
    case "result":
    case "load":
    case "fromLane":
    case "matchLanes":
    case "packHalves":
    case "exp2":
    case "anyLane":
      throw new Error(`emitWasm: ${op} is not computed`);
  }
}

export function binary(f: FunctionBuilder, op: BinaryOp, type: IRType, a: Value, b: Value): Value {
  const wasm = wasmType[type];
  const isFloat = type === "f32" || type === "f64";
  const sign = isUnsigned(type) ? "_u" : "_s";
  switch (op) {
    case "div":
      return f.opOf(wasm, "div", "", [a, b]);
    case "idiv":
      return f.opOf(wasm, "div", sign, [a, b]);
    case "irem":
      return f.opOf(wasm, "rem", sign, [a, b]);
    case "min":
    case "max": {
      const wins = compare(f, op === "min" ? "lt" : "gt", type, a, b) as Value<"i32">;
      const test = isFloat ? f.i32.or(f.opOf(wasm, "ne", "", [a, a]) as Value<"i32">, wins) : wins;
      return f.select(test, a, b);
    }
    case "shl":
      return f.opOf(wasm, "shl", "", [a, b]);
    case "shr":
      return f.opOf(wasm, "shr", sign, [a, b]);
    case "add":
    case "sub":
    case "mul":
    case "and":
    case "or":
    case "xor":
      return f.opOf(wasm, op, "", [a, b]);
  }
}

function compare(f: FunctionBuilder, op: CompareOp, type: IRType, a: Value, b: Value): Value {
  const isFloat = type === "f32" || type === "f64";
  const sign = isFloat || op === "eq" || op === "ne" ? "" : isUnsigned(type) ? "_u" : "_s";
  return f.opOf(wasmType[type], op, sign, [a, b]);
}

function unary(f: FunctionBuilder, op: UnaryOp, type: IRType, a: Value): Value {
  if (op === "not") {
    if (type === "bool") return f.i32.eqz(a as Value<"i32">);
    return wasmType[type] === "i64" ? f.i64.xor(a as Value<"i64">, -1n) : f.i32.xor(a as Value<"i32">, -1);
  }
  const name = op === "roundEven" ? "nearest" : op === "popCount" ? "popcnt" : op;
  return f.opOf(wasmType[type], name, "", [a]);
}

function convert(f: FunctionBuilder, from: IRType, to: IRType, a: Value): Value {
  const [source, target] = [wasmType[from], wasmType[to]];
  const sign = (type: IRType) => (isUnsigned(type) ? "u" : "s");
  if (source === target) return a;
  if (target === "f64" && source === "f32") return f.f64.promote_f32(a as Value<"f32">);
  if (target === "f32" && source === "f64") return f.f32.demote_f64(a as Value<"f64">);
  if (target === "i64" && source === "i32") return f.op(`i64.extend_i32_${sign(from)}`, a);
  if (target === "i32" && source === "i64") return f.i32.wrap_i64(a as Value<"i64">);
  if (target === "f32" || target === "f64") return f.op(`${target}.convert_${source}_${sign(from)}`, a);
  return f.op(`${target}.trunc_sat_${source}_${sign(to)}`, a);
}

function bitcast(f: FunctionBuilder, from: IRType, to: IRType, a: Value): Value {
  const [source, target] = [wasmType[from], wasmType[to]];
  return source === target ? a : f.opOf(target, "reinterpret_", source, [a]);
}
