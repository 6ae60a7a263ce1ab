/**
 * asin, acos, atan and atan2.
 *
 * atan2 folds its arguments into 0 <= a <= b and takes t = a / b, or (a - b) / (a + b) plus pi/4 when that is past 1/2:
 * one division, |t| <= 1/2, atan(t) = t + t³ P(t²). The octants are undone by adding a multiple of pi/4 in two parts.
 * (Half is more than the usual tan(pi/8), but there the rounding errors of a - b and a + b would weigh more.) atan(x)
 * is the same with b = 1.
 *
 * asin and acos use x + x³ P(x²) up to 1/2 and asin(x) = pi/2 - 2 asin(sqrt((1 - x) / 2)) beyond (as in fdlibm and
 * Cephes; the coefficients are our own).
 */
import { divide, divideNormal, squareRoot } from "./correct-rounding.js";
import { fastTwoSum, type Pair } from "./error-free.js";
import { constants, formats, isSignSet, withSignOf } from "./float-parts.js";
import { polynomial } from "./polynomial.js";
import { halfPi } from "./range-reduction.js";
import type { FloatType, ScalarOps } from "./scalar-ops.js";

/** (atan(t) - t) / t³ in t² for |t| <= 1/2: atan is right to 2^-31.7 and 2^-62.0. */
const atanCoefficients = {
  f32: [
    -0.333333283662796, 0.19999554753303528, -0.14273107051849365, 0.10948407649993896, -0.0800904855132103,
    0.03904152661561966,
  ],
  f64: [
    -0.33333333333333315, 0.19999999999993787, -0.14285714285001028, 0.11111111070200584, -0.09090907710250332,
    0.07692277732486365, -0.06666226127867286, 0.05877825066832993, -0.05230099702921864, 0.04589738344636581,
    -0.037125117436484306, 0.02366332113585262, -0.00837053081481684,
  ],
} as const;

/** (asin(x) - x) / x³ in x² for |x| <= 1/2: asin is right to 2^-31.7 and 2^-59.8. */
const asinCoefficients = {
  f32: [
    0.16666659712791443, 0.07500516623258591, 0.04451499506831169, 0.03182180970907211, 0.014391394332051277,
    0.03757629543542862,
  ],
  f64: [
    0.1666666666666676, 0.0749999999997088, 0.04464285717454125, 0.030381942710962086, 0.02237221490340788,
    0.017351613439013345, 0.013980804393190755, 0.011399037968642162, 0.01077957668742623, 0.0037088821922971133,
    0.021701559770261725, -0.020990833411786744, 0.032623496270977104,
  ],
} as const;

/** 3 pi / 4 in two parts; the other multiples are halfPi scaled by a power of two. */
const threeQuarterPi = {
  f32: { high: 2.356194496154785, low: -5.962440319251527e-9 },
  f64: { high: 2.356194490192345, low: 9.184850993605148e-17 },
} as const;

/** base + atan(t), with the base in two parts; base.high is zero or at least |t|. */
function addAtan<V>(k: ScalarOps<V>, base: Pair<V>, t: V, type: FloatType): V {
  const square = k.mul(t, t);
  const cubic = k.mul(k.mul(t, square), polynomial(k, square, atanCoefficients[type], type));
  const sum = fastTwoSum(k, base.high, t);
  return k.add(sum.high, k.add(sum.low, k.add(cubic, base.low)));
}

export function atan<V>(k: ScalarOps<V>, x: V, type: FloatType): V {
  const { add, sub, select, lt, gt } = k;
  const c = constants(k, type);
  const one = c(1);
  const { high, low } = halfPi[type];
  const magnitude = k.abs(x);
  const isLarge = gt(magnitude, one);
  // Past this the angle is pi/2 to the last bit, and the quotient stays in range.
  const bounded = select(gt(magnitude, c(2 ** 60)), c(2 ** 60), magnitude);
  const smaller = select(isLarge, one, bounded);
  const larger = select(isLarge, bounded, one);
  const isDiagonal = gt(smaller, k.mul(larger, c(0.5)));
  const numerator = select(isDiagonal, sub(smaller, larger), smaller);
  const denominator = select(isDiagonal, add(smaller, larger), larger);
  const t = divideNormal(k, numerator, denominator, type);

  const base = {
    high: select(isDiagonal, c(high / 2), select(isLarge, c(high), c(0))),
    low: select(isDiagonal, c(low / 2), select(isLarge, c(low), c(0))),
  };
  const result = addAtan(k, base, select(isLarge, k.neg(t), t), type);
  // A tiny argument is its own arctangent, also when it is -0 or denormal; NaN is not below anything and stays NaN.
  return select(lt(magnitude, c(type === "f32" ? 2 ** -13 : 2 ** -27)), x, withSignOf(k, result, x, type));
}

/** The angle of the point (x, y), with the special cases of C99. */
export function atan2<V>(k: ScalarOps<V>, y: V, x: V, type: FloatType): V {
  const { add, sub, mul, select, eq, ne, gt, or } = k;
  const c = constants(k, type);
  const [zero, one, infinity] = [c(0), c(1), c(Infinity)];
  const { high, low } = halfPi[type];
  const three = threeQuarterPi[type];
  const [height, width] = [k.abs(y), k.abs(x)];
  const isSteep = gt(height, width);
  const isLeft = isSignSet(k, x, type);

  // Two zeros count as 0 / 1, a finite number and an infinity too, two infinities as 1 / 1; scaling avoids overflow.
  const smaller = select(isSteep, width, height);
  const larger = select(isSteep, height, width);
  const isInfinite = eq(larger, infinity);
  const ratioOfInfinities = select(eq(smaller, infinity), one, zero);
  const scale = select(gt(larger, c(formats[type].largest / 4)), c(0.25), one);
  const a = select(isInfinite, ratioOfInfinities, mul(smaller, scale));
  const b = select(or(isInfinite, eq(larger, zero)), one, mul(larger, scale));

  const isDiagonal = gt(a, mul(b, c(0.5)));
  const numerator = select(isDiagonal, sub(a, b), a);
  const denominator = select(isDiagonal, add(a, b), b);
  const t = divide(k, numerator, denominator, type);

  const base = (diagonalRight: number, diagonalLeft: number, up: number, left: number) => {
    const diagonal = select(isLeft, c(diagonalLeft), c(diagonalRight));
    return select(isDiagonal, diagonal, select(isSteep, c(up), select(isLeft, c(left), zero)));
  };
  const turned = {
    high: base(high / 2, three.high, high, high * 2),
    low: base(low / 2, three.low, low, low * 2),
  };
  const result = addAtan(k, turned, select(k.xor(isSteep, isLeft), k.neg(t), t), type);
  const numeric = withSignOf(k, result, y, type);
  return select(or(ne(x, x), ne(y, y)), c(NaN), numeric);
}

/** asin(s) = s + s * tail, where s = |x| up to 1/2 and sqrt((1 - |x|) / 2) beyond. */
function asinParts<V>(k: ScalarOps<V>, x: V, type: FloatType): { isOuter: V; s: V; tail: V } {
  const { sub, mul, select } = k;
  const c = constants(k, type);
  const magnitude = k.abs(x);
  const isOuter = k.gt(magnitude, c(0.5));
  const outerSquare = mul(sub(c(1), magnitude), c(0.5));
  const square = select(isOuter, outerSquare, mul(x, x));
  const s = select(isOuter, squareRoot(k, outerSquare, type), magnitude);
  return { isOuter, s, tail: mul(square, polynomial(k, square, asinCoefficients[type], type)) };
}

/** NaN outside [-1, 1]. */
function whereInDomain<V>(k: ScalarOps<V>, x: V, result: V, type: FloatType): V {
  return k.select(k.le(k.abs(x), k.constant(type, 1)), result, k.constant(type, NaN));
}

export function asin<V>(k: ScalarOps<V>, x: V, type: FloatType): V {
  const { add, sub, mul, select } = k;
  const c = constants(k, type);
  const { isOuter, s, tail } = asinParts(k, x, type);
  const inner = add(s, mul(s, tail));
  const twice = add(s, s);
  const leading = fastTwoSum(k, c(halfPi[type].high), k.neg(twice));
  const outer = sub(leading.high, sub(sub(mul(twice, tail), c(halfPi[type].low)), leading.low));
  return whereInDomain(k, x, withSignOf(k, select(isOuter, outer, inner), x, type), type);
}

export function acos<V>(k: ScalarOps<V>, x: V, type: FloatType): V {
  const { add, sub, mul, select } = k;
  const c = constants(k, type);
  const { high, low } = halfPi[type];
  const { isOuter, s, tail } = asinParts(k, x, type);
  const isNegative = k.lt(x, c(0));
  const angle = add(s, mul(s, tail));
  // pi/2 - asin(x), 2 asin(s) or pi - 2 asin(s): a base, and the angle once or twice with a sign.
  const nearOne = select(isNegative, sub(c(2 * high), sub(add(angle, angle), c(2 * low))), add(angle, angle));
  const signed = select(isNegative, k.neg(angle), angle);
  const middle = sub(c(high), sub(signed, c(low)));
  return whereInDomain(k, x, select(isOuter, nearOne, middle), type);
}
