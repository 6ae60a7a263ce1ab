/**
 * The arithmetic of elements (`ElementOps`) over the loop-nest language, implemented once for all dtypes. Narrow integers are
 * kept in i32 or u32 and wrapped after every operation that can leave their range; narrow floats are computed in f32. A
 * primitive may take several operations, so the lowering rounds the result of the primitive (`rounded`), once.
 */
import { roundTo } from "../../core/cast.js";
import { DTYPES, type DType, isNarrowFloat, type Scalar } from "../../core/dtype.js";
import { DTypeError, UnsupportedError } from "../../core/errors.js";
import type { Comparison, ElementOps } from "../../graph/element-ops.js";
import type { IRType, Value } from "../ir/ir.js";
import type { KernelBuilder } from "../ir/kernel-builder.js";
import { type BrainOps, isDenormal, quotientOfBrains } from "../math/brain-float.js";
import { divide, squareRoot } from "../math/correct-rounding.js";
import { withSignOf } from "../math/float-parts.js";
import { type MathFunction, mathFunctions } from "../math/library.js";
import type { FloatType, ScalarOps, ScalarType } from "../math/scalar-ops.js";
import { floatRemainder } from "./float-remainder.js";
import { bitsOfNarrow, narrowOfBits, roundToBrainByArithmetic, roundToNarrow } from "./narrow-floats.js";

export interface Element {
  readonly dtype: DType;
  readonly value: Value;
}

/** The type a dtype is computed in. */
export function computeType(dtype: DType): IRType {
  switch (dtype) {
    case "bool":
    case "i32":
    case "u32":
    case "i64":
    case "u64":
    case "f32":
    case "f64":
      return dtype;
    case "i2":
    case "i4":
    case "i8":
    case "i16":
      return "i32";
    case "u2":
    case "u4":
    case "u8":
    case "u16":
      return "u32";
    case "f8e4m3":
    case "f8e5m2":
    case "f16":
    case "bf16":
      return "f32";
    default:
      throw new UnsupportedError(`${dtype} is not one number`);
  }
}

export interface ElementSettings {
  /**
   * Division and square root: the target's own instructions, or corrected to round to nearest (math/correct-rounding.ts).
   */
  readonly division: "native" | "corrected";
  /** The target's multiply-add rounds once. */
  readonly fusesMultiplyAdds?: boolean;
  /** The target takes denormal f32 for zeros, or may do so. */
  readonly flushesDenormals?: boolean;
}

/** `rarely` computes rare corrections: in a branch, unless another way is given. */
export function elementOps(
  k: KernelBuilder,
  settings: ElementSettings,
  rarely: ScalarOps<Value>["rarely"] = inBranch(k),
): ElementOps<Element> {
  const scalar = { ...scalarOps(k, settings), rarely };
  const of = (dtype: DType, value: Value): Element => wrapped(k, dtype, value);
  const bool = (value: Value): Element => ({ dtype: "bool", value });
  return {
    dtypeOf: ({ dtype }) => dtype,
    constant: (dtype, value) => ({ dtype, value: k.constant(computeType(dtype), plainScalar(value, dtype)) }),
    add: (a, b) => of(a.dtype, k.binary("add", a.value, b.value)),
    sub: (a, b) => of(a.dtype, k.binary("sub", a.value, b.value)),
    mul: (a, b) => of(a.dtype, k.binary("mul", a.value, b.value)),
    div: (a, b) =>
      isFloat(a.dtype) ? of(a.dtype, quotient(k, scalar, a, b, settings)) : integerDivision(k, "idiv", a, b),
    rem: (a, b) => {
      if (!isFloat(a.dtype)) return integerDivision(k, "irem", a, b);
      return of(a.dtype, floatRemainder(k, scalar, a.value, b.value));
    },
    power: (a, b) => of(a.dtype, integerPower(k, a.value, b.value)),
    min: (a, b) => of(a.dtype, k.binary("min", a.value, b.value)),
    max: (a, b) => of(a.dtype, k.binary("max", a.value, b.value)),
    neg: (a) => of(a.dtype, isFloat(a.dtype) ? k.unary("neg", a.value) : k.binary("sub", zero(k, a.dtype), a.value)),
    abs: (a) => {
      if (isFloat(a.dtype)) return of(a.dtype, k.unary("abs", a.value));
      if (!isSigned(a.dtype)) return a;
      const negated = k.binary("sub", zero(k, a.dtype), a.value);
      return of(a.dtype, k.select(k.compare("lt", a.value, zero(k, a.dtype)), negated, a.value));
    },
    round: (how, a) => of(a.dtype, k.unary(how === "even" ? "roundEven" : how, a.value)),
    withSign: (a, b) => of(a.dtype, withSignOf(scalar, a.value, b.value, floatType(a.dtype))),
    sqrt: (a) => of(a.dtype, squareRoot(scalar, a.value, floatType(a.dtype))),
    and: (a, b) => of(a.dtype, k.binary("and", a.value, b.value)),
    or: (a, b) => of(a.dtype, k.binary("or", a.value, b.value)),
    xor: (a, b) => of(a.dtype, k.binary("xor", a.value, b.value)),
    not: (a) => of(a.dtype, k.unary("not", a.value)),
    shift: (direction, a, distance) => shift(k, direction, a, distance),
    compare: (how, a, b) => bool(compareValues(k, how, a.value, b.value)),
    select: (condition, a, b) => ({ dtype: a.dtype, value: k.select(condition.value, a.value, b.value) }),
    cast: (x, to) => castElement(k, x, to),
    bitcast: (x, to) => bitcastElement(k, x, to),
    math: (name, ...args) => mathFunction(scalar, name, args),
  };
}

const isFloat = (dtype: DType): boolean => DTYPES[dtype].kind === "float";

const floatType = (dtype: DType): FloatType => (dtype === "f64" ? "f64" : "f32");

const zero = (k: KernelBuilder, dtype: DType): Value => k.constant(computeType(dtype), 0);

const wrapped = (k: KernelBuilder, dtype: DType, value: Value): Element => ({ dtype, value: wrap(k, dtype, value) });

/** Division by zero traps on some targets, so the divisor is replaced first and the result afterwards. */
function integerDivision(k: KernelBuilder, op: "idiv" | "irem", a: Element, b: Element): Element {
  const { dtype } = a;
  const isZero = k.compare("eq", b.value, zero(k, dtype));
  const safe = k.select(isZero, k.constant(computeType(dtype), 1), b.value);
  const quotient = isSigned(dtype) ? signedDivision(k, op, a.value, safe) : k.binary(op, a.value, safe);
  return wrapped(k, dtype, k.select(isZero, zero(k, dtype), quotient));
}

function quotient(
  k: KernelBuilder,
  scalar: BrainOps<Value>,
  a: Element,
  b: Element,
  { flushesDenormals = false }: ElementSettings,
): Value {
  const reciprocal = reciprocalOfPower(b.value);
  if (reciprocal !== null) return k.binary("mul", a.value, k.constant(b.value.type, reciprocal));
  if (a.dtype !== "bf16" || scalar.usesNative("div", "f32")) {
    return divide(scalar, a.value, b.value, floatType(a.dtype));
  }
  const divisor = b.value.op === "constant" ? Number(b.value.attribute) : null;
  return quotientOfBrains(scalar, a.value, b.value, divisor, flushesDenormals);
}

/** A function of the math library, by name. */
function mathFunction(scalar: BrainOps<Value>, name: string, [x, y]: readonly Element[]): Element {
  const entry = (mathFunctions as Readonly<Record<string, MathFunction>>)[name];
  if (!entry) throw new UnsupportedError(`the math library has no ${name}`);
  const { dtype } = x;
  if (dtype === "bf16" && entry.ofBrain) return { dtype, value: entry.ofBrain(scalar, x.value) };
  const type = floatType(dtype);
  const value = entry.arity === 1 ? entry.apply(scalar, x.value, type) : entry.apply(scalar, x.value, y.value, type);
  return { dtype, value };
}

/** Computes a rare correction in a branch. */
export const inBranch =
  (k: KernelBuilder): ScalarOps<Value>["rarely"] =>
  (condition, usual, compute) =>
    k.when(
      condition,
      () => [compute()],
      () => [usual],
    )[0];

/** The math library's arithmetic, over the loop-nest language. */
function scalarOps(k: KernelBuilder, settings: ElementSettings): BrainOps<Value> {
  return {
    mulAdd: (a, b, c) => k.mulAdd(a, b, c),
    ...(settings.fusesMultiplyAdds && { fused: (a, b, c) => k.mulAdd(a, b, c) }),
    typeOf: (value) => value.type as ScalarType,
    constant: (type, value) => k.constant(type, value),
    usesNative: () => settings.division === "native",
    add: (a, b) => k.binary("add", a, b),
    sub: (a, b) => k.binary("sub", a, b),
    mul: (a, b) => k.binary("mul", a, b),
    div: (a, b) => k.binary("div", a, b),
    sqrt: (x) => k.unary("sqrt", x),
    neg: (x) => k.unary("neg", x),
    abs: (x) => k.unary("abs", x),
    floor: (x) => k.unary("floor", x),
    ceil: (x) => k.unary("ceil", x),
    trunc: (x) => k.unary("trunc", x),
    roundEven: (x) => k.unary("roundEven", x),
    eq: (a, b) => k.compare("eq", a, b),
    ne: (a, b) => k.compare("ne", a, b),
    lt: (a, b) => k.compare("lt", a, b),
    le: (a, b) => k.compare("le", a, b),
    gt: (a, b) => k.compare("gt", a, b),
    ge: (a, b) => k.compare("ge", a, b),
    and: (a, b) => k.binary("and", a, b),
    or: (a, b) => k.binary("or", a, b),
    xor: (a, b) => k.binary("xor", a, b),
    not: (a) => k.unary("not", a),
    shl: (a, distance) => k.binary("shl", a, distance),
    shr: (a, distance) => k.binary("shr", a, distance),
    select: (condition, a, b) => k.select(condition, a, b),
    rarely: inBranch(k),
    // A branch would keep a CPU from computing rows as vectors.
    either: (condition, whenTrue, whenFalse) =>
      settings.division === "native"
        ? k.select(condition, whenTrue(), whenFalse())
        : k.when(
            condition,
            () => [whenTrue()],
            () => [whenFalse()],
          )[0],
    bitcast: (to, x) => k.bitcast(to, x),
    highWord: (x) => k.word("highWord", x),
    lowWord: (x) => k.word("lowWord", x),
    fromWords: (high, low) => k.fromWords(high, low),
    convert: (to, x) => k.convert(to, x),
  };
}

const isSigned = (dtype: DType): boolean => DTYPES[dtype].kind === "int";

function plainScalar(value: Scalar, dtype: DType): number | bigint | boolean {
  if (typeof value === "object") throw new DTypeError(`a complex constant in ${dtype}`);
  return isNarrowFloat(dtype) ? roundTo(dtype, Number(value)) : value;
}

/** Brings the result of an operation back into a narrow dtype's range. */
export function wrap(k: KernelBuilder, dtype: DType, value: Value): Value {
  switch (dtype) {
    case "i2":
    case "i4": {
      const distance = k.constant("u32", 32 - DTYPES[dtype].bits);
      return k.binary("shr", k.binary("shl", value, distance), distance);
    }
    case "i8":
      return k.signExtend(value, 8);
    case "i16":
      return k.signExtend(value, 16);
    case "u2":
    case "u4":
    case "u8":
    case "u16":
      return k.binary("and", value, k.constant("u32", 2 ** DTYPES[dtype].bits - 1));
    default:
      return value;
  }
}

/** A value computed in f32, rounded to the dtype if that is a narrow float. */
export function rounded(k: KernelBuilder, dtype: DType, value: Value): Value {
  return isNarrowFloat(dtype) ? roundToNarrow(k, value, dtype) : value;
}

/** How results of bf16 are rounded where what is rare can be corrected. */
export interface RareRounding {
  readonly rarely: ScalarOps<Value>["rarely"];
  readonly flushesDenormals: boolean;
  /** Whether corrections of a value cost one test with those of its batch, and no branch of their own. */
  isSpeculative(value: Value): boolean;
}

/**
 * The result of an operation on operands of a dtype, rounded to it. A bf16 times a power of two is one already, unless it is
 * denormal; others are rounded by arithmetic, unless they are huge or denormal. `rare` deals with those. Null: a branch costs
 * more than rounding does.
 */
export function roundedResult(
  k: KernelBuilder,
  dtype: DType,
  value: Value,
  operands: readonly Element[],
  rare: RareRounding | null,
): Value {
  if (dtype !== "bf16" || rare === null) return rounded(k, dtype, value);
  const slowly = () => rounded(k, dtype, value);
  const factor = scaledBy(value, operands);
  if (factor !== null) {
    if (factor >= 1 || rare.flushesDenormals) return value;
    return rare.rarely(isDenormal(denormalOps(k), value), value, slowly);
  }
  if (!rare.isSpeculative(value)) return slowly();
  const { rounded: nearest, doubts } = roundToBrainByArithmetic(k, value, rare.flushesDenormals);
  return doubts.reduce((usual, doubt) => rare.rarely(doubt, usual, slowly), nearest);
}

/** The size of the power of two that a value is an operand times; null if it is something else. */
function scaledBy({ op, args }: Value, operands: readonly Element[]): number | null {
  if (op !== "mul") return null;
  const [constant, other] = args[0].op === "constant" ? [args[0], args[1]] : [args[1], args[0]];
  const size = Math.abs(Number(constant.attribute));
  const isPower = constant.op === "constant" && size >= 2 ** -126 && Number.isInteger(Math.log2(size));
  return isPower && operands.some(({ value }) => value === other) ? size : null;
}

const denormalOps = (k: KernelBuilder) => ({
  and: (a: Value, b: Value) => k.binary("and", a, b),
  lt: (a: Value, b: Value) => k.compare("lt", a, b),
  ne: (a: Value, b: Value) => k.compare("ne", a, b),
  abs: (x: Value) => k.unary("abs", x),
  constant: (type: "f32", value: number) => k.constant(type, value),
});

/** 1 / x where x is a constant and a power of two, so that a product with it rounds as the quotient does; else null. */
function reciprocalOfPower({ op, attribute, type }: Value): number | null {
  if (op !== "constant" || (type !== "f32" && type !== "f64")) return null;
  const x = Math.abs(Number(attribute));
  return x >= 2 ** -100 && x <= 2 ** 100 && Number.isInteger(Math.log2(x)) && 2 ** Math.log2(x) === x
    ? 1 / Number(attribute)
    : null;
}

/** The only signed division that overflows, the least number by -1, wraps to itself; some targets trap on it. */
function signedDivision(k: KernelBuilder, op: "idiv" | "irem", a: Value, b: Value): Value {
  const isMinusOne = k.compare("eq", b, k.constant(b.type, -1));
  const safe = k.select(isMinusOne, k.constant(b.type, 1), b);
  const quotient = k.binary(op, a, safe);
  const whenMinusOne = op === "idiv" ? k.binary("sub", k.constant(a.type, 0), a) : k.constant(a.type, 0);
  return k.select(isMinusOne, whenMinusOne, quotient);
}

/** By repeated squaring, as long as the exponent has bits. The low bits of a product do not depend on the high ones. */
function integerPower(k: KernelBuilder, base: Value, exponent: Value): Value {
  const { type } = base;
  const [zero, one] = [k.constant(type, 0), k.constant(type, 1)];
  const isNegative = k.compare("lt", exponent, zero);
  const bits = type === "i64" || type === "u64" ? 64 : 32;
  const distance = k.constant(bits === 64 ? type : "u32", 1);
  const [product] = k.loop(
    bits,
    [one, base, k.select(isNegative, zero, exponent)],
    (_, [product, square, left]) => {
      const isOdd = k.compare("ne", k.binary("and", left, one), zero);
      const next = k.select(isOdd, k.binary("mul", product, square), product);
      return [next, k.binary("mul", square, square), k.binary("shr", left, distance)];
    },
    { exitWhen: ([, , left]) => k.compare("eq", left, zero) },
  );
  return k.select(isNegative, zero, product);
}

function compareValues(k: KernelBuilder, how: Comparison, a: Value, b: Value): Value {
  if (a.type !== "bool") return k.compare(how, a, b);
  const number = (x: Value) => k.select(x, k.constant("i32", 1), k.constant("i32", 0));
  return k.compare(how, number(a), number(b));
}

/** Shifts by the width or more give 0, or the sign: the instruction's result would depend on the target. */
function shift(k: KernelBuilder, direction: "left" | "right", a: Element, distance: Element): Element {
  const { bits } = DTYPES[a.dtype];
  const type = a.value.type;
  const opcode = direction === "left" ? "shl" : "shr";
  const known = distance.value.op === "constant" ? Number(distance.value.attribute) : -1;
  if (known >= 0 && known < bits) {
    const plain = k.constant(type === "i64" || type === "u64" ? type : "u32", known);
    return { dtype: a.dtype, value: wrap(k, a.dtype, k.binary(opcode, a.value, plain)) };
  }
  const tooFar = k.compare("ge", distance.value, k.constant(type, bits));
  const isNegative = isSigned(a.dtype)
    ? k.compare("lt", distance.value, k.constant(type, 0))
    : k.constant("bool", false);
  const isOut = k.binary("or", tooFar, isNegative);
  const safe = k.select(isOut, k.constant(type, 0), distance.value);
  const by = type === "i64" || type === "u64" ? safe : k.convert("u32", safe);
  const shifted = k.binary(opcode, a.value, by);
  const last = k.constant(type === "i64" || type === "u64" ? type : "u32", bits - 1);
  const signs = direction === "right" && isSigned(a.dtype) ? k.binary("shr", a.value, last) : k.constant(type, 0);
  return { dtype: a.dtype, value: wrap(k, a.dtype, k.select(isOut, signs, shifted)) };
}

/** The value in another dtype: integers wrap, floats are truncated and saturate at the integer's range, NaN becomes 0. */
function castElement(k: KernelBuilder, x: Element, to: DType): Element {
  const type = computeType(to);
  const from = x.value.type;
  if (x.dtype === to) return x;
  if (to === "bool") return { dtype: to, value: k.compare("ne", x.value, k.constant(from, 0)) };
  if (from === "bool") return { dtype: to, value: k.select(x.value, k.constant(type, 1), k.constant(type, 0)) };
  if (isNarrowFloat(to)) return { dtype: to, value: roundToNarrow(k, x.value, to) };
  const isFromFloat = DTYPES[x.dtype].kind === "float";
  if (!isFromFloat || DTYPES[to].kind === "float") return { dtype: to, value: wrap(k, to, k.convert(type, x.value)) };
  const { min, max } = DTYPES[to];
  const low = k.constant(from, Number(min));
  const high = k.constant(from, Number(max));
  const isNan = k.compare("ne", x.value, x.value);
  const number = k.select(isNan, k.constant(from, 0), x.value);
  const isLow = k.compare("le", number, low);
  const isHigh = k.compare("ge", number, high);
  const inside = k.select(k.binary("or", isLow, isHigh), k.constant(from, 0), number);
  const converted = k.convert(type, inside);
  const clamped = k.select(isLow, k.constant(type, min), k.select(isHigh, k.constant(type, max), converted));
  return { dtype: to, value: clamped };
}

function bitcastElement(k: KernelBuilder, x: Element, to: DType): Element {
  if (DTYPES[x.dtype].bits !== DTYPES[to].bits) {
    throw new DTypeError(`bitcast: ${x.dtype} and ${to} have different widths`);
  }
  if (DTYPES[x.dtype].bytes >= 4) return { dtype: to, value: k.bitcast(computeType(to), x.value) };
  const bits = isNarrowFloat(x.dtype) ? bitsOfNarrow(k, x.value, x.dtype) : k.bitcast("u32", x.value);
  if (isNarrowFloat(to)) return { dtype: to, value: narrowOfBits(k, bits, to) };
  return { dtype: to, value: wrap(k, to, k.bitcast(computeType(to), bits)) };
}
