/**
 * The scalar operations in plain JavaScript: the reference the other targets are compared with, bit for bit.
 *
 * f32 arithmetic is f64 arithmetic followed by `Math.fround`: for + - * / and square root the double rounding is
 * harmless, since 53 >= 2 * 24 + 2 (Figueroa, "When is double rounding innocuous?", 1995).
 *
 * A value carries its type, and each operation checks its operands, so a mistake in the library fails here first.
 * The options make the evaluator as unhelpful as a target may be: flushed denormals, inexact division and square root,
 * arbitrary integers out of failed conversions. Tests use them to show that results do not depend on such luxuries.
 */

import type { FloatType, IntegerType, ScalarOps, ScalarType } from "../../src/compiler/math/scalar-ops.js";
import { ArgumentError } from "../../src/core/errors.js";

export interface Scalar {
  readonly type: ScalarType;
  /** Bools are 0 or 1. */
  readonly value: number;
}

export interface EvaluatorOptions {
  /** f32 denormals become zero of the same sign, in operands and results. */
  readonly flushDenormals?: boolean;
  /** Moves the result of `div` or `sqrt` by this many f32 ulp (see the Vulkan specification's precision table). */
  readonly rootAndQuotientError?: (result: number) => number;
  /** What converting NaN or an out-of-range float to an integer gives; saturation unless told. */
  readonly failedConversion?: number;
}

const buffer = new DataView(new ArrayBuffer(8));

export function bitsOfF32(x: number): number {
  buffer.setFloat32(0, x);
  return buffer.getUint32(0);
}

export function f32FromBits(bits: number): number {
  buffer.setUint32(0, bits);
  return buffer.getFloat32(0);
}

export function wordsOfF64(x: number): [high: number, low: number] {
  buffer.setFloat64(0, x);
  return [buffer.getUint32(0), buffer.getUint32(4)];
}

export function f64FromWords(high: number, low: number): number {
  buffer.setUint32(0, high);
  buffer.setUint32(4, low);
  return buffer.getFloat64(0);
}

/** Nearest integer, ties to even, keeping the sign of a zero. */
export function roundEven(x: number): number {
  const magnitude = Math.abs(x);
  if (!(magnitude < 4503599627370496)) return x;
  const rounded = magnitude + 4503599627370496 - 4503599627370496;
  return x < 0 || Object.is(x, -0) ? -rounded : rounded;
}

/** A finite f64 as an integer times a power of two. */
function parts(x: number): readonly [bigint, number] {
  if (x === 0) return [0n, 0];
  const [high, low] = wordsOfF64(Math.abs(x));
  const exponent = Math.max(1, high >>> 20);
  const hidden = high >>> 20 === 0 ? 0n : 1n << 52n;
  const significand = ((BigInt(high) & 0xfffffn) << 32n) | BigInt(low) | hidden;
  return [x < 0 ? -significand : significand, exponent - 1075];
}

/** a·b + c of finite f64, rounded once; for results that are normal numbers or zero. */
export function fusedMultiplyAdd(a: number, b: number, c: number): number {
  const [[x, xs], [y, ys], [z, zs]] = [parts(a), parts(b), parts(c)];
  const scale = Math.min(xs + ys, zs);
  const sum = ((x * y) << BigInt(xs + ys - scale)) + (z << BigInt(zs - scale));
  // Number rounds to nearest, and one power of two may be too small for an f64.
  return Number(sum) * 2 ** Math.ceil(scale / 2) * 2 ** Math.floor(scale / 2);
}

const smallestNormalF32 = 2 ** -126;

export function isFloat(type: ScalarType): type is FloatType {
  return type === "f32" || type === "f64";
}

function normalizeInteger(type: ScalarType, value: number): number {
  return type === "i32" ? value | 0 : value >>> 0;
}

function mismatch(operation: string, ...operands: Scalar[]): never {
  throw new ArgumentError(`math: ${operation} does not take (${operands.map((v) => v.type).join(", ")})`);
}

export function makeEvaluator(options: EvaluatorOptions = {}): ScalarOps<Scalar> {
  const flush = (type: FloatType, value: number): number =>
    options.flushDenormals && type === "f32" && Math.abs(value) < smallestNormalF32 ? value * 0 : value;
  const float = (type: FloatType, value: number): Scalar => ({
    type,
    value: flush(type, type === "f32" ? Math.fround(value) : value),
  });
  const bool = (value: boolean): Scalar => ({ type: "bool", value: value ? 1 : 0 });
  const operand = (x: Scalar): number => (isFloat(x.type) ? flush(x.type, x.value) : x.value);

  const arithmetic =
    (name: string, onFloats: (a: number, b: number) => number, onIntegers: (a: number, b: number) => number) =>
    (a: Scalar, b: Scalar): Scalar => {
      if (a.type !== b.type || a.type === "bool") return mismatch(name, a, b);
      if (isFloat(a.type)) return float(a.type, onFloats(operand(a), operand(b)));
      return { type: a.type, value: normalizeInteger(a.type, onIntegers(a.value, b.value)) };
    };
  const unary =
    (name: string, f: (x: number) => number) =>
    (x: Scalar): Scalar =>
      isFloat(x.type) ? float(x.type, f(operand(x))) : mismatch(name, x);
  const comparison =
    (name: string, test: (a: number, b: number) => boolean) =>
    (a: Scalar, b: Scalar): Scalar =>
      a.type !== b.type || a.type === "bool" ? mismatch(name, a, b) : bool(test(operand(a), operand(b)));
  const bitwise =
    (name: string, f: (a: number, b: number) => number) =>
    (a: Scalar, b: Scalar): Scalar => {
      if (a.type !== b.type || isFloat(a.type)) return mismatch(name, a, b);
      return { type: a.type, value: normalizeInteger(a.type, f(a.value, b.value)) };
    };
  const shift =
    (name: string, f: (a: number, n: number, type: ScalarType) => number) =>
    (a: Scalar, n: Scalar): Scalar => {
      if ((a.type !== "i32" && a.type !== "u32") || n.type !== "u32") return mismatch(name, a, n);
      // A distance of 32 or more is undefined on some targets; it may arise on a side that is not selected.
      return { type: a.type, value: normalizeInteger(a.type, f(a.value, n.value & 31, a.type)) };
    };
  const disturb = options.rootAndQuotientError ?? ((x: number) => x);

  const select = (condition: Scalar, whenTrue: Scalar, whenFalse: Scalar): Scalar => {
    if (condition.type !== "bool" || whenTrue.type !== whenFalse.type) {
      return mismatch("select", condition, whenTrue, whenFalse);
    }
    return condition.value ? whenTrue : whenFalse;
  };

  return {
    typeOf: (v) => v.type,
    constant: (type, value) => {
      if (isFloat(type)) return { type, value: type === "f32" ? Math.fround(value) : value };
      if (type !== "bool" && normalizeInteger(type, value) !== value) {
        throw new ArgumentError(`math: constant ${value} is not of type ${type}`);
      }
      return { type, value };
    },
    usesNative: () => options.rootAndQuotientError === undefined,
    add: arithmetic(
      "add",
      (a, b) => a + b,
      (a, b) => a + b,
    ),
    sub: arithmetic(
      "sub",
      (a, b) => a - b,
      (a, b) => a - b,
    ),
    mul: arithmetic("mul", (a, b) => a * b, Math.imul),
    div: (a, b) => {
      if (a.type !== b.type || !isFloat(a.type)) return mismatch("div", a, b);
      return float(a.type, disturb(operand(a) / operand(b)));
    },
    sqrt: unary("sqrt", (x) => disturb(Math.sqrt(x))),
    neg: unary("neg", (x) => -x),
    abs: unary("abs", Math.abs),
    floor: unary("floor", Math.floor),
    ceil: unary("ceil", Math.ceil),
    trunc: unary("trunc", Math.trunc),
    roundEven: unary("roundEven", roundEven),
    eq: comparison("eq", (a, b) => a === b),
    ne: comparison("ne", (a, b) => a !== b),
    lt: comparison("lt", (a, b) => a < b),
    le: comparison("le", (a, b) => a <= b),
    gt: comparison("gt", (a, b) => a > b),
    ge: comparison("ge", (a, b) => a >= b),
    and: bitwise("and", (a, b) => a & b),
    or: bitwise("or", (a, b) => a | b),
    xor: bitwise("xor", (a, b) => a ^ b),
    not: (a) => {
      if (isFloat(a.type)) return mismatch("not", a);
      return a.type === "bool" ? bool(a.value === 0) : { type: a.type, value: normalizeInteger(a.type, ~a.value) };
    },
    shl: shift("shl", (a, n) => a << n),
    shr: shift("shr", (a, n, type) => (type === "i32" ? a >> n : a >>> n)),
    select,
    rarely: (condition, usual, compute) => select(condition, compute(), usual),
    either: (condition, whenTrue, whenFalse) => select(condition, whenTrue(), whenFalse()),
    bitcast: (to, v) => {
      if (v.type === "f64" || v.type === "bool") return mismatch(`bitcast to ${to}`, v);
      const bits = v.type === "f32" ? bitsOfF32(v.value) : v.value >>> 0;
      return { type: to, value: to === "f32" ? f32FromBits(bits) : normalizeInteger(to, bits) };
    },
    highWord: (x) => (x.type === "f64" ? { type: "u32", value: wordsOfF64(x.value)[0] } : mismatch("highWord", x)),
    lowWord: (x) => (x.type === "f64" ? { type: "u32", value: wordsOfF64(x.value)[1] } : mismatch("lowWord", x)),
    fromWords: (high, low) => {
      if (high.type !== "u32" || low.type !== "u32") return mismatch("fromWords", high, low);
      return { type: "f64", value: f64FromWords(high.value, low.value) };
    },
    convert: (to, v) => {
      if (v.type === "bool" || v.type === to) return mismatch(`convert to ${to}`, v);
      if (isFloat(to)) return float(to, operand(v));
      if (!isFloat(v.type)) return mismatch(`convert to ${to}`, v);
      return { type: to, value: toInteger(to, operand(v), options.failedConversion) };
    },
  };
}

function toInteger(to: IntegerType, value: number, failed: number | undefined): number {
  const [low, high] = to === "i32" ? [-(2 ** 31), 2 ** 31 - 1] : [0, 2 ** 32 - 1];
  const whole = Math.trunc(value);
  if (whole >= low && whole <= high) return whole + 0;
  if (failed !== undefined) return normalizeInteger(to, failed);
  return Number.isNaN(whole) ? 0 : Math.min(Math.max(whole, low), high);
}

/** Round-to-nearest IEEE arithmetic with denormals, as in WebAssembly. */
export const evaluator: ScalarOps<Scalar> = makeEvaluator();
