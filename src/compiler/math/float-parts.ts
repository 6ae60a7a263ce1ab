/**
 * Floats taken apart and put together through their bits: sign, exponent, leading half.
 *
 * f32 goes through a u32 or i32 bit cast; f64 through its high word, which holds the sign, the exponent and the top 20
 * fraction bits, so that no 64-bit integers are needed.
 */
import type { FloatType, ScalarOps } from "./scalar-ops.js";

interface FloatFormat {
  readonly bias: number;
  /** Fraction bits in the word that holds the exponent. */
  readonly fractionBits: number;
  /** Bits of precision, the hidden one included. */
  readonly precision: number;
  readonly largest: number;
  readonly smallestNormal: number;
}

export const formats: Readonly<Record<FloatType, FloatFormat>> = {
  f32: {
    bias: 127,
    fractionBits: 23,
    precision: 24,
    largest: (2 - 2 ** -23) * 2 ** 127,
    smallestNormal: 2 ** -126,
  },
  f64: {
    bias: 1023,
    fractionBits: 20,
    precision: 53,
    largest: Number.MAX_VALUE,
    smallestNormal: 2 ** -1022,
  },
};

/** Makes constants of one type: `const c = constants(k, type); add(x, c(1))`. */
export function constants<V>(k: ScalarOps<V>, type: FloatType): (value: number) => V {
  return (value) => k.constant(type, value);
}

/** The word with sign and exponent, as u32: all bits of an f32, the upper 32 of an f64. */
export function signWord<V>(k: ScalarOps<V>, x: V, type: FloatType): V {
  return type === "f32" ? k.bitcast("u32", x) : k.highWord(x);
}

/** x with its sign word replaced; an f64 keeps its low word. */
export function withSignWord<V>(k: ScalarOps<V>, x: V, word: V, type: FloatType): V {
  return type === "f32" ? k.bitcast("f32", word) : k.fromWords(word, k.lowWord(x));
}

/** 2^n for an i32 n from 1 - bias to bias; at -bias it is zero. */
export function powerOfTwo<V>(k: ScalarOps<V>, n: V, type: FloatType): V {
  return powerOfBiased(k, k.add(n, k.constant("i32", formats[type].bias)), type);
}

/** 2^n of n + bias; bits above those of an exponent do not matter. */
export function powerOfBiased<V>(k: ScalarOps<V>, biased: V, type: FloatType): V {
  const exponent = k.shl(biased, k.constant("u32", formats[type].fractionBits));
  if (type === "f32") return k.bitcast("f32", exponent);
  return k.fromWords(k.bitcast("u32", exponent), k.constant("u32", 0));
}

/** 2^n of n + 2 * bias as a product of two powers, each in range, for any n that |n| < 2 * bias allows. */
export function powersOfBiased<V>(k: ScalarOps<V>, biased: V, type: FloatType): [V, V] {
  const half = k.shr(biased, k.constant("u32", 1));
  return [powerOfBiased(k, half, type), powerOfBiased(k, k.sub(biased, half), type)];
}

/**
 * x times two powers of two, in two exact steps and so with one rounding, for x near 1. The intermediate product is a
 * normal number, so a target that flushes denormals loses only denormal results.
 */
export function scaleByPowers<V>(k: ScalarOps<V>, x: V, [first, second]: readonly [V, V]): V {
  return k.mul(k.mul(x, first), second);
}

/** x * 2^n for x near 1 and any i32 n that |n| < 2 * bias allows. */
export function scaleByPowerOfTwo<V>(k: ScalarOps<V>, x: V, n: V, type: FloatType): V {
  const biased = k.add(n, k.constant("i32", 2 * formats[type].bias));
  return scaleByPowers(k, x, powersOfBiased(k, biased, type));
}

/** True for negative numbers and for -0 (and for a NaN that carries the sign). */
export function isSignSet<V>(k: ScalarOps<V>, x: V, type: FloatType): V {
  return k.lt(k.bitcast("i32", signWord(k, x, type)), k.constant("i32", 0));
}

/** The magnitude of `magnitude`, which is not negative, with the sign of `sign`. */
export function withSignOf<V>(k: ScalarOps<V>, magnitude: V, sign: V, type: FloatType): V {
  const signBit = k.and(signWord(k, sign, type), k.constant("u32", 0x80000000));
  return withSignWord(k, magnitude, k.or(signWord(k, magnitude, type), signBit), type);
}

/**
 * The leading bits of x, truncated: 12 of an f32's 24, 21 of an f64's 53. The rest, x minus this, is exact, and
 * products of a leading part with a leading part are exact too.
 */
export function leadingPart<V>(k: ScalarOps<V>, x: V, type: FloatType): V {
  if (type === "f64") return k.fromWords(k.highWord(x), k.constant("u32", 0));
  return k.bitcast("f32", k.and(k.bitcast("u32", x), k.constant("u32", 0xfffff000)));
}

/** A positive, normal x as 2^exponent * significand, with the significand from sqrt(1/2) up to sqrt(2). */
export function splitExponent<V>(k: ScalarOps<V>, x: V, type: FloatType): { exponent: V; significand: V } {
  const { fractionBits } = formats[type];
  // sqrt(1/2): subtracting its bits makes the exponent field step where the significand passes sqrt(2).
  const root = type === "f32" ? 0x3f3504f3 : 0x3fe6a09f;
  const shift = k.constant("u32", fractionBits);
  const bits = k.bitcast("i32", signWord(k, x, type));
  const exponent = k.shr(k.sub(bits, k.constant("i32", root)), shift);
  const word = k.bitcast("u32", k.sub(bits, k.shl(exponent, shift)));
  return { exponent, significand: withSignWord(k, x, word, type) };
}
