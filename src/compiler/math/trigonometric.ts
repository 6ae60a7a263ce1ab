/**
 * sin, cos and tan, over the whole range.
 *
 * |x| is reduced to an angle of at most pi/4, as a pair of floats, plus a number of quarter turns (range-reduction.ts);
 * there sin(r) = r + r³ S(r²) and cos(r) = 1 - r²/2 + r⁴ C(r²) with minimax S and C, corrected to first order for the
 * low half of the angle. tan is their quotient.
 */
import { divideNormal } from "./correct-rounding.js";
import { fastTwoSum, type Pair } from "./error-free.js";
import { constants, isSignSet } from "./float-parts.js";
import { polynomial } from "./polynomial.js";
import { reduceByHalfPi } from "./range-reduction.js";
import type { FloatType, ScalarOps } from "./scalar-ops.js";

/** (sin(r) - r) / r³ in r² for |r| <= pi/4: sin is right to 2^-27.9 and 2^-57.9. */
const sinCoefficients = {
  f32: [-0.16666655242443085, 0.008332189172506332, -0.00019518287444952875],
  f64: [
    -0.1666666666666663, 0.008333333333321917, -0.00019841269829456776, 2.755731358166478e-6, -2.505074223930172e-8,
    1.589594009453365e-10,
  ],
} as const;

/** (cos(r) - 1 + r²/2) / r⁴ in r² for |r| <= pi/4: cos is right to 2^-33.0 and 2^-63.9. */
const cosCoefficients = {
  f32: [0.04166664555668831, -0.0013887310633435845, 2.443257108097896e-5],
  f64: [
    0.041666666666666595, -0.0013888888888873348, 2.4801587289006975e-5, -2.7557314218348066e-7, 2.087570554515685e-9,
    -1.1358755385235983e-11,
  ],
} as const;

/** sin(high + low) for |high| <= pi/4. */
function sinOfAngle<V>(k: ScalarOps<V>, { high, low }: Pair<V>, type: FloatType): Pair<V> {
  const { add, sub, mul } = k;
  const square = mul(high, high);
  const cubic = mul(mul(high, square), polynomial(k, square, sinCoefficients[type], type));
  const lowShare = sub(low, mul(mul(low, square), k.constant(type, 0.5)));
  return fastTwoSum(k, high, add(cubic, lowShare));
}

/** cos(high + low) for |high| <= pi/4; 1 - r²/2 is kept with its rounding error. */
function cosOfAngle<V>(k: ScalarOps<V>, { high, low }: Pair<V>, type: FloatType): Pair<V> {
  const { add, sub, mul } = k;
  const c = constants(k, type);
  const square = mul(high, high);
  const half = mul(square, c(0.5));
  const leading = sub(c(1), half);
  const quartic = mul(mul(square, square), polynomial(k, square, cosCoefficients[type], type));
  return fastTwoSum(k, leading, add(sub(sub(c(1), leading), half), sub(quartic, mul(high, low))));
}

function hasBit<V>(k: ScalarOps<V>, word: V, bit: number): V {
  return k.ne(k.and(word, k.constant("u32", bit)), k.constant("u32", 0));
}

/** NaN for infinite arguments and for NaN. */
function whereFinite<V>(k: ScalarOps<V>, x: V, result: V, type: FloatType): V {
  return k.select(k.lt(k.abs(x), k.constant(type, Infinity)), result, k.constant(type, NaN));
}

export function sin<V>(k: ScalarOps<V>, x: V, type: FloatType): V {
  const angle = reduceByHalfPi(k, x, type);
  const isOdd = hasBit(k, angle.quadrant, 1);
  const magnitude = k.select(isOdd, cosOfAngle(k, angle, type).high, sinOfAngle(k, angle, type).high);
  const isNegative = k.xor(hasBit(k, angle.quadrant, 2), isSignSet(k, x, type));
  return whereFinite(k, x, k.select(isNegative, k.neg(magnitude), magnitude), type);
}

export function cos<V>(k: ScalarOps<V>, x: V, type: FloatType): V {
  const angle = reduceByHalfPi(k, x, type);
  const isOdd = hasBit(k, angle.quadrant, 1);
  const magnitude = k.select(isOdd, sinOfAngle(k, angle, type).high, cosOfAngle(k, angle, type).high);
  const isNegative = k.xor(hasBit(k, angle.quadrant, 2), isOdd);
  return whereFinite(k, x, k.select(isNegative, k.neg(magnitude), magnitude), type);
}

/**
 * The quotient of sine and cosine, then one correction for the rounding errors of both. The correction divides by the cosine,
 * or by the sine, which is the cosine divided by the quotient; a rough 1 / cos r = 1 + r²/2 + … is enough there.
 */
export function tan<V>(k: ScalarOps<V>, x: V, type: FloatType): V {
  const { add, sub, mul, select } = k;
  const c = constants(k, type);
  const angle = reduceByHalfPi(k, x, type);
  const isOdd = hasBit(k, angle.quadrant, 1);
  const [sine, cosine] = [sinOfAngle(k, angle, type), cosOfAngle(k, angle, type)];
  const quotient = divideNormal(k, select(isOdd, cosine.high, sine.high), select(isOdd, sine.high, cosine.high), type);
  const lostAbove = select(isOdd, cosine.low, sine.low);
  const lostBelow = select(isOdd, sine.low, cosine.low);
  const square = mul(angle.high, angle.high);
  const secant = add(c(1), mul(square, add(c(0.5), mul(square, c(0.3)))));
  const reciprocal = select(isOdd, mul(secant, quotient), secant);
  const corrected = add(quotient, mul(sub(lostAbove, mul(quotient, lostBelow)), reciprocal));
  const isNegative = k.xor(isOdd, isSignSet(k, x, type));
  const signed = select(isNegative, k.neg(corrected), corrected);
  // Tiny arguments are their own tangent; the division need not know about denormals.
  const isTiny = k.lt(k.abs(x), c(type === "f32" ? 2 ** -13 : 2 ** -27));
  return whereFinite(k, x, select(isTiny, x, signed), type);
}
