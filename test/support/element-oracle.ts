/**
 * What one element of an elementwise operation is, in plain JavaScript: floats in doubles and rounded to the dtype,
 * integers as bigints cut to their width. The op sweep compares with it; the fuzzer's interpreter is made of it.
 */
import { castScalar, roundTo } from "../../src/core/cast.js";
import { DTYPES, type DType, isNarrowFloat } from "../../src/core/dtype.js";
import * as E from "../../src/graph/primitives/elementwise.js";
import { digamma, erf, erfc, erfInv, lgamma, trigamma } from "./special-functions.js";

/** An element: bool is 0 or 1; i64 and u64 are bigints. */
export type Value = number | bigint;

export type ElementwiseEntry = typeof E.exp;

/** The elementwise operations on real numbers. Complex numbers have tests of their own: test/tensor/complex.test.ts. */
export const entries: readonly ElementwiseEntry[] = Object.values(E).filter((entry) => entry !== E.complex);

const isWide = (dtype: DType): boolean => dtype === "i64" || dtype === "u64";

/** A whole number as its dtype holds it: the low bits. */
export function wrapped(value: bigint, dtype: DType): Value {
  const { kind, bits } = DTYPES[dtype];
  const kept = kind === "int" ? BigInt.asIntN(bits, value) : BigInt.asUintN(kind === "bool" ? 1 : bits, value);
  return isWide(dtype) ? kept : Number(kept);
}

/** Operations on whole numbers, before they are cut to the width. */
const whole: Readonly<Record<string, (a: bigint, b: bigint, bits: number) => bigint>> = {
  add: (a, b) => a + b,
  sub: (a, b) => a - b,
  mul: (a, b) => a * b,
  quotient: (a, b) => (b === 0n ? 0n : a / b),
  rem: (a, b) => (b === 0n ? 0n : a % b),
  maximum: (a, b) => (a > b ? a : b),
  minimum: (a, b) => (a < b ? a : b),
  neg: (a) => -a,
  real: (a) => a,
  imag: () => 0n,
  conj: (a) => a,
  abs: (a) => (a < 0n ? -a : a),
  relu: (a) => (a < 0n ? 0n : a),
  sign: (a) => (a < 0n ? -1n : a > 0n ? 1n : 0n),
  square: (a) => a * a,
  and: (a, b) => a & b,
  or: (a, b) => a | b,
  xor: (a, b) => a ^ b,
  not: (a) => ~a,
  shiftLeft: (a, b, bits) => (b < 0n || b >= bits ? 0n : a << b),
  integerPower: (a, b, bits) => (b < 0n ? 0n : powerModulo(a, b, 2n ** BigInt(bits))),
  popcount: (a, _, bits) => BigInt(binary(a, bits).replaceAll("0", "").length),
  countLeadingZeros: (a, _, bits) => BigInt(bits - binary(a, bits).length + (a === 0n ? 1 : 0)),
  shiftRight: (a, b, bits) => (b < 0n || b >= bits ? (a < 0n ? -1n : 0n) : a >> b),
};

function powerModulo(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let product = 1n;
  for (const bit of exponent.toString(2)) product = (product * product * (bit === "1" ? base : 1n)) % modulus;
  return product;
}

const binary = (a: bigint, bits: number): string => BigInt.asUintN(bits, a).toString(2);

const comparisons: Readonly<Record<string, (a: Value, b: Value) => boolean>> = {
  equal: (a, b) => a === b,
  notEqual: (a, b) => a !== b,
  less: (a, b) => a < b,
  lessEqual: (a, b) => a <= b,
  greater: (a, b) => a > b,
  greaterEqual: (a, b) => a >= b,
};

/** Functions whose entries have no oracle because JavaScript has none. */
const functions: Readonly<Record<string, (x: number) => number>> = { erf, erfc, erfInv, lgamma, digamma, trigamma };

/** The exact value, or a double near it, before it is rounded to the dtype. Null where the operation is not of floats. */
export function exactOracle(entry: ElementwiseEntry): ((...args: number[]) => number) | null {
  const found = functions[entry.name] ?? entry.oracle;
  return found ? (...args) => Number(found(...(args as [number]))) : null;
}

const words = new DataView(new ArrayBuffer(8));

/** The number with these bits, from its parts: a sign, an exponent, a fraction. */
function floatOfBits(bits: number, width: number, fractionBits: number, bias: number, hasNoInfinity = false): number {
  const sign = (bits >> (width - 1)) & 1 ? -1 : 1;
  const exponent = (bits & (2 ** (width - 1) - 1)) >> fractionBits;
  const fraction = (bits & ((1 << fractionBits) - 1)) / 2 ** fractionBits;
  if (hasNoInfinity) {
    if ((bits & 0x7f) === 0x7f) return Number.NaN;
  } else if (exponent === 2 * bias + 1) return fraction === 0 ? sign * Infinity : Number.NaN;
  return sign * (exponent === 0 ? fraction * 2 ** (1 - bias) : (1 + fraction) * 2 ** (exponent - bias));
}

const decoded = {
  f16: (bits: number) => floatOfBits(bits, 16, 10, 15),
  bf16: (bits: number) => floatOfBits(bits, 16, 7, 127),
  f8e4m3: (bits: number) => floatOfBits(bits, 8, 3, 7, true),
  f8e5m2: (bits: number) => floatOfBits(bits, 8, 2, 15),
};
const isDecoded = (dtype: DType): dtype is keyof typeof decoded => Object.hasOwn(decoded, dtype);

/** The bits of every number there is. */
const encoded = Object.fromEntries(
  Object.entries(decoded).map(([dtype, decode]) => {
    const numbers = Array.from(
      { length: 2 ** DTYPES[dtype as DType].bits },
      (_, bits) => [decode(bits), bits] as const,
    );
    // A map takes -0 for 0.
    return [dtype, new Map(numbers.map(([number, bits]) => [Object.is(number, -0) ? "-0" : number, bits]))];
  }),
);

/** The same bits, for dtypes of one width. */
function bitcastValue(value: Value, from: DType, to: DType): Value {
  if (DTYPES[from].bytes <= 2) {
    const table = encoded[from];
    const bits = table
      ? (table.get(Object.is(value, -0) ? "-0" : (value as number)) as number)
      : Number(value) & (2 ** DTYPES[from].bits - 1);
    return isDecoded(to) ? decoded[to](bits) : wrapped(BigInt(bits), to);
  }
  if (from === "f32") words.setFloat32(0, value as number);
  else if (from === "f64") words.setFloat64(0, value as number);
  else if (isWide(from)) words.setBigUint64(0, BigInt.asUintN(64, value as bigint));
  else words.setUint32(0, Number(value) >>> 0);
  if (to === "f32") return words.getFloat32(0);
  if (to === "f64") return words.getFloat64(0);
  if (isWide(to)) return wrapped(words.getBigUint64(0), to);
  return wrapped(BigInt(words.getUint32(0)), to);
}

/** The value in another dtype, by the rules in src/core/cast.ts. */
export function castValue(value: Value, from: DType, to: DType): Value {
  const cast = castScalar(from === "bool" ? Boolean(value) : value, from, to) as Value | boolean;
  return typeof cast === "boolean" ? Number(cast) : cast;
}

/** The element of the result: operands of one dtype (after the condition, for `where`), a result of `result`. */
export function elementOracle(entry: ElementwiseEntry, dtypes: readonly DType[], result: DType) {
  const { name } = entry;
  const from = dtypes[0]!;
  if (name === "where") return (condition: Value, a: Value, b: Value): Value => (condition ? a : b);
  if (name === "cast") return (x: Value): Value => castValue(x, from, result);
  if (name === "bitcast") return (x: Value): Value => bitcastValue(x, from, result);
  const compare = comparisons[name];
  if (compare) return (a: Value, b: Value): Value => Number(compare(a, b));
  if (DTYPES[from].kind !== "float") {
    const apply = whole[name];
    if (!apply) throw new Error(`there is no oracle for ${name} of ${from}`);
    const { bits } = DTYPES[from];
    return (a: Value, b: Value = 0): Value => wrapped(apply(BigInt(a), BigInt(b), bits), result);
  }
  const exact = exactOracle(entry);
  if (!exact) throw new Error(`there is no oracle for ${name} of ${from}`);
  // Narrow floats are computed in f32 and then rounded; f64 results need no rounding here.
  const isNarrow = isNarrowFloat(result);
  return (...args: Value[]): Value => {
    const value = exact(...(args as number[]));
    return roundTo(result, isNarrow ? Math.fround(value) : value);
  };
}
