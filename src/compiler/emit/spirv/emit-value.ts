/** The arithmetic of the loop-nest language as instructions: what a value is, given its operands. */

import type { ModuleBuilder } from "../../../spirv/builder.js";
import type { FunctionBuilder } from "../../../spirv/function-builder.js";
import type { Value } from "../../../spirv/value.js";
import type { BinaryOp, IRType, Value as IRValue } from "../../ir/ir.js";
import { valueType } from "./stored-elements.js";

/** What the operation of a value makes of its operands; `otherwise`: what an operation makes that is no arithmetic. */
export function compute(
  f: FunctionBuilder,
  m: ModuleBuilder,
  value: IRValue,
  [a, b, c]: readonly Value[],
  otherwise: () => Value,
): Value {
  const isFloat = value.type === "f32" || value.type === "f64";
  const type = valueType(m, value.type);
  switch (value.op) {
    case "add":
    case "sub":
    case "mul":
    case "div":
    case "idiv":
    case "irem":
    case "min":
    case "max":
    case "and":
    case "or":
    case "xor":
    case "shl":
    case "shr":
      return binary(f, value.op, value.type, a, b);
    case "eq":
      return f.equal(a, b);
    case "ne":
      return f.notEqual(a, b);
    case "lt":
      return f.less(a, b);
    case "le":
      return f.lessEqual(a, b);
    case "gt":
      return f.greater(a, b);
    case "ge":
      return f.greaterEqual(a, b);
    case "neg":
      return f.neg(a);
    case "abs":
      return f.abs(a);
    case "floor":
      return f.floor(a);
    case "ceil":
      return f.ceil(a);
    case "trunc":
      return f.trunc(a);
    case "roundEven":
      return f.roundEven(a);
    case "sqrt":
      return f.sqrt(a);
    case "not":
      return f.not(a);
    case "select":
      return f.select(a, b, c);
    case "mulAdd":
      return isFloat ? f.fma(a, b, c) : f.add(f.mul(a, b), c);
    case "convert":
      return convert(f, m, a, value.args[0].type, value.type);
    case "bitcast":
      return f.bitcast(a, type);
    case "highWord":
      return f.extract(f.bitcast(a, m.vec(m.u32, 2)), 1);
    case "lowWord":
      return f.extract(f.bitcast(a, m.vec(m.u32, 2)), 0);
    case "fromWords":
      return f.bitcast(f.vector(b, a), m.f64);
    case "signExtend": {
      const distance = m.constant(m.u32, 32 - (value.attribute as number));
      return f.shiftRight(f.shiftLeft(a, distance), distance);
    }
    case "load":
    case "combineLanes":
    case "fromLane":
    case "constant":
    case "row":
    case "lane":
    case "index":
    case "accumulator":
    case "result":
      return otherwise();
  }
}

/** An operation on two values of a type. Also how lanes, and updates of memory, combine what they have. */
export function binary(f: FunctionBuilder, op: BinaryOp, type: IRType, a: Value, b: Value): Value {
  const isFloat = type === "f32" || type === "f64";
  switch (op) {
    case "add":
      return f.add(a, b);
    case "sub":
      return f.sub(a, b);
    case "mul":
      return f.mul(a, b);
    case "div":
    case "idiv":
      return f.div(a, b);
    case "irem":
      // Vulkan leaves OpSRem undefined for negative operands, and NVIDIA's drivers make use of it.
      return type === "i32" || type === "i64" ? f.sub(a, f.mul(f.div(a, b), b)) : f.rem(a, b);
    // NaN wins.
    case "min":
      return isFloat ? f.select(f.or(f.isNan(a), f.less(a, b)), a, b) : f.min(a, b);
    case "max":
      return isFloat ? f.select(f.or(f.isNan(a), f.greater(a, b)), a, b) : f.max(a, b);
    case "and":
      return f.and(a, b);
    case "or":
      return f.or(a, b);
    case "xor":
      return type === "bool" ? f.notEqual(a, b) : f.xor(a, b);
    case "shl":
      return f.shiftLeft(a, b);
    case "shr":
      return f.shiftRight(a, b);
  }
}

/**
 * Mesa up to 22.3 takes a comparison of a sign-extended i32 with a 64-bit constant for always false, so the extension is
 * written as the words it has.
 */
function convert(f: FunctionBuilder, m: ModuleBuilder, x: Value, from: IRType, to: IRType): Value {
  if (from !== "i32" || (to !== "i64" && to !== "u64")) return f.convert(x, valueType(m, to));
  return f.bitcast(f.vector(x, f.shiftRight(x, 31)), valueType(m, to));
}
