/** The arithmetic of the loop-nest language as SPIR-V instructions. BodyEmitter calls it for every value it writes. */

import type { FunctionBuilder } from "../../../spirv/function/function-builder.js";
import type { Value } from "../../../spirv/function/value.js";
import type { ModuleBuilder } from "../../../spirv/module/builder.js";
import type { BinaryOp, CompareOp, IROp, IRType, Value as IRValue, UnaryOp } from "../../ir/ir.js";
import { valueType } from "./stored-elements.js";

type Binary = (f: FunctionBuilder, a: Value, b: Value, type: IRType) => Value;

const isFloat = (type: IRType): boolean => type === "f32" || type === "f64";

const BINARY: Readonly<Record<BinaryOp, Binary>> = {
  add: (f, a, b) => f.add(a, b),
  sub: (f, a, b) => f.sub(a, b),
  mul: (f, a, b) => f.mul(a, b),
  div: (f, a, b) => f.div(a, b),
  idiv: (f, a, b) => f.div(a, b),
  // Vulkan leaves OpSRem undefined for negative operands, and NVIDIA's drivers make use of it.
  irem: (f, a, b, type) => (type === "i32" || type === "i64" ? f.sub(a, f.mul(f.div(a, b), b)) : f.rem(a, b)),
  // NaN wins.
  min: (f, a, b, type) => (isFloat(type) ? f.select(f.or(f.isNan(a), f.less(a, b)), a, b) : f.min(a, b)),
  max: (f, a, b, type) => (isFloat(type) ? f.select(f.or(f.isNan(a), f.greater(a, b)), a, b) : f.max(a, b)),
  and: (f, a, b) => f.and(a, b),
  or: (f, a, b) => f.or(a, b),
  xor: (f, a, b, type) => (type === "bool" ? f.notEqual(a, b) : f.xor(a, b)),
  shl: (f, a, b) => f.shiftLeft(a, b),
  shr: (f, a, b) => f.shiftRight(a, b),
};

const COMPARE: Readonly<Record<CompareOp, Binary>> = {
  eq: (f, a, b) => f.equal(a, b),
  ne: (f, a, b) => f.notEqual(a, b),
  lt: (f, a, b) => f.less(a, b),
  le: (f, a, b) => f.lessEqual(a, b),
  gt: (f, a, b) => f.greater(a, b),
  ge: (f, a, b) => f.greaterEqual(a, b),
};

const UNARY: Readonly<Record<UnaryOp, (f: FunctionBuilder, a: Value) => Value>> = {
  neg: (f, a) => f.neg(a),
  abs: (f, a) => f.abs(a),
  floor: (f, a) => f.floor(a),
  ceil: (f, a) => f.ceil(a),
  trunc: (f, a) => f.trunc(a),
  roundEven: (f, a) => f.roundEven(a),
  sqrt: (f, a) => f.sqrt(a),
  not: (f, a) => f.not(a),
  popCount: (f, a) => f.bitCount(a),
};

const isOf = <Op extends IROp>(table: Readonly<Record<Op, unknown>>, op: IROp): op is Op => Object.hasOwn(table, op);

/** An operation on two values of a type. Lanes, and updates of memory, combine their values with it too. */
export const binary = (f: FunctionBuilder, op: BinaryOp, type: IRType, a: Value, b: Value): Value =>
  BINARY[op](f, a, b, type);

/** Writes the operation of a value on its operands; `otherwise` writes an operation that is no arithmetic. */
export function compute(
  f: FunctionBuilder,
  m: ModuleBuilder,
  value: IRValue,
  [a, b, c]: readonly Value[],
  otherwise: () => Value,
): Value {
  const { op } = value;
  if (isOf(BINARY, op)) return BINARY[op](f, a, b, value.type);
  if (isOf(COMPARE, op)) return COMPARE[op](f, a, b, value.type);
  if (isOf(UNARY, op)) return UNARY[op](f, a);
  switch (op) {
    case "select":
      return f.select(a, b, c);
    case "mulAdd":
      return isFloat(value.type) ? f.fma(a, b, c) : f.add(f.mul(a, b), c);
    case "convert":
      return convert(f, m, a, value.args[0].type, value.type);
    case "bitcast":
      return f.bitcast(a, valueType(m, value.type));
    case "highWord":
      return f.extract(f.bitcast(a, m.vec(m.u32, 2)), 1);
    case "lowWord":
      return f.extract(f.bitcast(a, m.vec(m.u32, 2)), 0);
    case "fromWords":
      return f.bitcast(f.vector(b, a), m.f64);
    case "exp2":
      return f.exp2(a);
    case "anyLane":
      return f.subgroup.any(a);
    case "packHalves":
      return f.bitcast(f.vector(f.convert(a, m.f16), f.convert(b, m.f16)), m.u32);
    case "signExtend": {
      const distance = m.constant(m.u32, 32 - (value.attribute as number));
      return f.shiftRight(f.shiftLeft(a, distance), distance);
    }
    case "load":
    case "combineLanes":
    case "fromLane":
    case "matchLanes":
    case "constant":
    case "row":
    case "lane":
    case "index":
    case "accumulator":
    case "result":
      return otherwise();
  }
}

/**
 * Mesa up to 22.3 folds a comparison of a sign-extended i32 with a 64-bit constant to false, so the extension is written as
 * two words.
 */
function convert(f: FunctionBuilder, m: ModuleBuilder, x: Value, from: IRType, to: IRType): Value {
  if (from !== "i32" || (to !== "i64" && to !== "u64")) return f.convert(x, valueType(m, to));
  return f.bitcast(f.vector(x, f.shiftRight(x, 31)), valueType(m, to));
}
