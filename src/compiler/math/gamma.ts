/**
 * lgamma: the logarithm of |gamma(x)|.
 *
 *   1 <= x <= 2       (x - 1) (x - 2) S(x), which is right near both zeros.
 *   x < 1, x > 2      the recurrence gamma(x + 1) = x gamma(x) leads there at the price of a logarithm: of x below 1,
 *                     of a product of x - 1, x - 2 … above 2. Next to the zeros at 1 and 2 the leading terms of the two
 *                     parts cancel; they are merged before they are added.
 *   x >= 4 (f32), 8   Stirling's formula, (x - 1/2) (log x - 1) + constant + W(1/x²) / x.
 *   x < 0             reflection: lgamma(x) = -log(|x sin(pi x)| / pi) - lgamma(-x).
 *
 * One logarithm serves the first four rows; reflection needs a second. To the left of zero lgamma crosses zero between
 * the poles, and next to those crossings the error is small in absolute, not in relative terms.
 */
import { divideNormal } from "./correct-rounding.js";
import { ln2 } from "./exponential.js";
import { constants } from "./float-parts.js";
import { log, logTerms } from "./logarithm.js";
import { polynomial } from "./polynomial.js";
import type { FloatType, ScalarOps } from "./scalar-ops.js";

/** lgamma(y) / ((y - 1) (y - 2)) in y - centre for 1 <= y <= 2: right to 2^-27.8 and 2^-59.2. */
const middleCoefficients = {
  f32: [
    0.4870947599411011, -0.1494079828262329, 0.06550811976194382, -0.033183690160512924, 0.018133705481886864,
    -0.010344532318413258, 0.005970956292003393, -0.003684279741719365, 0.002801986876875162, -0.0015169399557635188,
  ],
  f64: [
    0.4881191755102211, -0.150308290562907, 0.06619399436261507, -0.03368346576581616, 0.018482125468375875,
    -0.010607497969460204, 0.006269051450027184, -0.003781404058439987, 0.002315284384061896, -0.0014339277523935576,
    0.0008961599841627368, -0.000564231574040154, 0.000357444056020911, -0.0002275077720291068, 0.0001453804141806217,
    -9.39750506998504e-5, 6.138864860915681e-5, -3.7509284754449095e-5, 2.1338289035640573e-5, -1.8146173810439273e-5,
    1.7819400467133664e-5, -7.9969305621513e-6,
  ],
} as const;

/** The remainder of Stirling's formula, times x, in 1/x² from x = 4 and 8 on: right to 2^-33.2 and 2^-63.2. */
const stirlingCoefficients = {
  f32: [0.08333329856395721, -0.002774986904114485, 0.0007237206446006894],
  f64: [
    0.08333333333333245, -0.002777777776803617, 0.0007936504184615507, -0.0005951698290709417, 0.0008353189062726219,
    -0.0016089960628630263,
  ],
} as const;

/** sin(pi r) / (pi r) in r² for |r| <= 1/2: right to 2^-33.2 and 2^-61.2. */
const sineCoefficients = {
  f32: [1, -1.644934058189392, 0.8117420077323914, -0.19074535369873047, 0.02610442414879799, -0.002214679727330804],
  f64: [
    1, -1.6449340668482264, 0.811742425283346, -0.190751824121665, 0.026147847807756735, -0.0023460809116057197,
    0.00014842790838696568, -6.9722469194135016e-6, 2.451628359266074e-7,
  ],
} as const;

const middleCentre = { f32: 1.47314453125, f64: 1.46630859375 } as const;

/** log(2 pi) / 2 - 1/2 */
const stirlingConstant = 0.4189385332046727;

/** The expansion at infinity is used from here on. */
export const largeFrom = { f32: 4, f64: 8 } as const;

/** Takes x between 2 and `largeFrom` down to (1, 2] in steps of 1; calls `visit` with the end of each step. */
export function stepDown<V>(k: ScalarOps<V>, x: V, type: FloatType, visit: (isTaken: V, y: V) => void): V {
  const c = constants(k, type);
  let y = x;
  for (let step = 0; step < largeFrom[type] - 2; step++) {
    const isTaken = k.gt(y, c(2));
    const next = k.sub(y, c(1));
    visit(isTaken, next);
    y = k.select(isTaken, next, y);
  }
  return y;
}

/** sin(pi r) / pi for |r| <= 1/2, r being the distance of x to the nearest integer; |sin(pi x)| is |sin(pi r)|. */
export function sinPiOverPi<V>(k: ScalarOps<V>, distance: V, type: FloatType): V {
  const square = k.mul(distance, distance);
  return k.mul(distance, polynomial(k, square, sineCoefficients[type], type));
}

function lgammaOfPositive<V>(k: ScalarOps<V>, x: V, type: FloatType): V {
  const { add, sub, mul, select } = k;
  const c = constants(k, type);
  const one = c(1);
  const isBelow = k.lt(x, one);
  const isLarge = k.ge(x, c(largeFrom[type]));
  let product = one;
  const stepped = stepDown(k, x, type, (isTaken, next) => {
    product = select(isTaken, mul(product, next), product);
  });
  const y = select(isBelow, add(x, one), stepped);
  const s = polynomial(k, sub(y, c(middleCentre[type])), middleCoefficients[type], type);
  const middle = mul(mul(sub(y, one), sub(y, c(2))), s);

  const { exponent, f, halfSquare, rest } = logTerms(k, select(k.or(isBelow, isLarge), x, product), type);
  const exponentHigh = mul(exponent, c(ln2[type].high));
  const curvature = sub(halfSquare, add(rest, mul(exponent, c(ln2[type].low))));

  // Below 1 the logarithm is subtracted. Near 1 and 2, where f = x - 1 or x - 2, middle ± f = f (± (1 - S) + f S).
  const signed = (v: V) => select(isBelow, k.neg(v), v);
  const isNearZero = k.and(k.eq(exponent, c(0)), k.ne(f, c(0)));
  const merged = mul(f, add(signed(sub(one, s)), mul(f, s)));
  const leading = select(isNearZero, merged, add(middle, signed(f)));
  const small = add(signed(exponentHigh), sub(leading, signed(curvature)));

  const logLessOne = sub(sub(exponentHigh, one), sub(curvature, f));
  const bounded = select(k.gt(x, c(2 ** 60)), c(2 ** 60), x);
  const z = divideNormal(k, one, bounded, type);
  const tail = add(c(stirlingConstant), mul(z, polynomial(k, mul(z, z), stirlingCoefficients[type], type)));
  const large = add(mul(sub(x, c(0.5)), logLessOne), tail);
  return select(isLarge, large, small);
}

export function lgamma<V>(k: ScalarOps<V>, x: V, type: FloatType): V {
  const { select } = k;
  const c = constants(k, type);
  const magnitude = k.abs(x);
  const positive = lgammaOfPositive(k, magnitude, type);
  const distance = k.sub(magnitude, k.roundEven(magnitude));
  const sine = k.abs(sinPiOverPi(k, distance, type));
  const reflected = k.neg(k.add(log(k, k.mul(magnitude, sine), type), positive));
  // Next to zero the sign of x makes no difference, and the product above would underflow.
  const isReflected = k.lt(x, c(type === "f32" ? -(2 ** -26) : -(2 ** -60)));
  const finite = select(isReflected, reflected, positive);
  const isPole = k.and(k.le(x, c(0)), k.eq(distance, c(0)));
  const atPoles = select(k.or(isPole, k.eq(magnitude, c(Infinity))), c(Infinity), finite);
  return select(k.ne(x, x), x, atPoles);
}
