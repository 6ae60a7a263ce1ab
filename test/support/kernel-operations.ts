/** Single operations of the loop-nest language on JavaScript numbers: kernel-interpreter.ts computes values with them. */
import type { IRType, Value } from "../../src/compiler/ir/ir.js";
import { dataOf, encodeValues } from "../../src/core/storage.js";

/** A value; those of 64-bit integers are big. */
export type Scalar = number | boolean | bigint;

/** A result in its type. */
export function wrapped(type: IRType, value: Scalar): Scalar {
  if (type === "bool") return Boolean(value);
  if (type === "f32") return Math.fround(Number(value));
  if (type === "i32") return Number(value) | 0;
  if (type === "u64") return BigInt.asUintN(64, BigInt(value));
  return type === "u32" ? Number(value) >>> 0 : value;
}

/** The word of a value of 32 bits. */
export function bitsOf(type: IRType, value: Scalar): number {
  if (type === "f32") return new Uint32Array(new Float32Array([Number(value)]).buffer)[0]!;
  return Number(value) >>> 0;
}

/** The value of a word. */
export function numberOf(type: IRType, bits: number): number {
  if (type === "f32") return new Float32Array(new Uint32Array([bits]).buffer)[0]!;
  return type === "i32" ? bits | 0 : bits;
}

const isFloat = (type: IRType): boolean => type === "f32" || type === "f64";

type Operation = Pick<Value, "op" | "type" | "args" | "attribute">;

/** The same for results of u64. */
function operateWide(op: Value["op"], x: bigint, y: bigint): bigint {
  switch (op) {
    case "and":
      return x & y;
    case "or":
      return x | y;
    case "shl":
      return x << y;
    case "max":
      return x > y ? x : y;
    case "convert":
      return x;
    default:
      throw new Error(`kernel interpreter: ${op} of u64 is not written`);
  }
}

/** The value of an operation before it is wrapped. */
export function operate({ op, type, args, attribute }: Operation, a: Scalar, b: Scalar, c: Scalar): Scalar {
  if (type === "u64" && op !== "select") return operateWide(op, BigInt(a), BigInt(b));
  const [x, y] = [Number(a), Number(b)];
  switch (op) {
    case "add":
      return x + y;
    case "sub":
      return x - y;
    case "mul":
      return isFloat(type) ? x * y : Math.imul(x, y);
    case "div":
      return x / y;
    case "idiv":
      return Math.trunc(x / y);
    case "irem":
      return x % y;
    case "min":
      return Math.min(x, y);
    case "max":
      return Math.max(x, y);
    case "and":
      return type === "bool" ? Boolean(a) && Boolean(b) : x & y;
    case "or":
      return type === "bool" ? Boolean(a) || Boolean(b) : x | y;
    case "xor":
      return x ^ y;
    case "shl":
      return x << y;
    case "shr":
      return type === "u32" ? x >>> y : x >> y;
    case "eq":
      return x === y;
    case "ne":
      return x !== y;
    case "lt":
      return x < y;
    case "le":
      return x <= y;
    case "gt":
      return x > y;
    case "ge":
      return x >= y;
    case "neg":
      return -x;
    case "abs":
      return Math.abs(x);
    case "sqrt":
      return Math.sqrt(x);
    case "not":
      return type === "bool" ? !a : ~x;
    case "select":
      return a ? b : c;
    case "mulAdd":
      return x * y + Number(c);
    case "convert":
      return isFloat(type) ? x : Math.trunc(x);
    case "bitcast":
      return numberOf(type, bitsOf(args[0]!.type, a));
    case "popCount": {
      let count = 0;
      for (let bits = x; bits > 0; bits = Math.floor(bits / 2)) count += bits % 2;
      return count;
    }
    case "signExtend":
      return (x << (32 - Number(attribute))) >> (32 - Number(attribute));
    case "exp2":
      return 2 ** x;
    case "packHalves": {
      const halves = [x, y].map((half) => dataOf(encodeValues([half], "f16", "packHalves"), "u16")[0]!);
      return (halves[0]! | (halves[1]! << 16)) >>> 0;
    }
    default:
      throw new Error(`kernel interpreter: ${op} is not written`);
  }
}
