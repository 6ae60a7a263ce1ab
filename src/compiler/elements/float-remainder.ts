/**
 * The remainder of a division of floats, exact as C's fmod: long division on the significands, as many bits of the
 * quotient at a time as fit the integer. a - b·trunc(a / b) is wrong as soon as the quotient has more bits than the
 * format. Called by elements.ts for every float dtype; f16 and bf16 come as f32, where their remainders are exact too.
 *
 * Quotients below 2^8 (f32) or 2^11 (f64) times a power of two take one round; the loop ends when no bits are left.
 */
import type { Value } from "../ir/ir.js";
import type { KernelBuilder } from "../ir/kernel-builder.js";
import { scaleByPowerOfTwo, withSignOf } from "../math/float-parts.js";
import type { ScalarOps } from "../math/scalar-ops.js";

const layouts = {
  f32: { word: "u32", fractionBits: 23, bias: 127, spare: 8 },
  f64: { word: "u64", fractionBits: 52, bias: 1023, spare: 11 },
} as const;

/** a - b·trunc(a / b) without rounding; it has the sign of a. NaN for b = 0 and for infinite a. */
export function floatRemainder(k: KernelBuilder, scalar: ScalarOps<Value>, a: Value, b: Value): Value {
  const type = a.type as "f32" | "f64";
  const { word, fractionBits, bias, spare } = layouts[type];
  const c = (value: number | bigint) => k.constant(word, value);
  const i = (value: number) => k.constant("i32", value);
  const distance = (x: Value) => (word === "u64" ? k.convert("u64", x) : k.convert("u32", x));
  const one = word === "u64" ? 1n << 52n : 1 << 23;

  const parts = (x: Value) => {
    const bits = k.bitcast(word, k.unary("abs", x));
    const field = k.convert("i32", k.binary("shr", bits, c(fractionBits)));
    const isDenormal = k.compare("eq", field, i(0));
    const fraction = k.binary("and", bits, c(BigInt(one) - 1n));
    const significand = k.select(isDenormal, fraction, k.binary("or", fraction, c(one)));
    return { bits, significand, exponent: k.select(isDenormal, i(1), field) };
  };
  const dividend = parts(a);
  const divisor = parts(b);
  const isZero = k.compare("eq", divisor.bits, c(0));
  const by = k.select(isZero, c(1), divisor.significand);
  const isLess = k.compare("lt", dividend.bits, divisor.bits);

  const gap = k.binary("sub", dividend.exponent, divisor.exponent);
  const start = k.binary("irem", dividend.significand, by);
  const rounds = Math.ceil((2 * bias) / spare);
  const [rest] = k.loop(
    rounds,
    [start, k.select(isLess, i(0), gap)],
    (_, [remainder, left]) => {
      const step = k.binary("min", left, i(spare));
      return [k.binary("irem", k.binary("shl", remainder, distance(step)), by), k.binary("sub", left, step)];
    },
    { exitWhen: ([, left]) => k.compare("le", left, i(0)) },
  );

  const magnitude = scaleByPowerOfTwo(
    scalar,
    k.convert(type, rest),
    k.binary("sub", divisor.exponent, i(bias + fractionBits)),
    type,
  );
  const infinity = k.constant(type, Infinity);
  const isOrdinary = k.binary(
    "and",
    k.compare("lt", k.unary("abs", a), infinity),
    k.binary("and", k.compare("eq", b, b), k.unary("not", isZero)),
  );
  const remainder = k.select(isLess, a, withSignOf(scalar, magnitude, a, type));
  return k.select(isOrdinary, remainder, k.constant(type, Number.NaN));
}
