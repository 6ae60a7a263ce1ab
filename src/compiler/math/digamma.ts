/**
 * digamma: the derivative of lgamma.
 *
 *   1 <= x <= 2       (x - root) D(x), which is right near the positive root; the root is subtracted in two parts.
 *   x < 1, x > 2      digamma(x + 1) = digamma(x) + 1/x, from below or, added up as one fraction, from above.
 *   x >= 4 (f32), 8   log x - 1/(2x) - V(1/x²) / x².
 *   x < 0             reflection: digamma(x) = digamma(1 - x) - pi / tan(pi x).
 *
 * One division serves the first four rows; reflection needs a second. At ±0 the value is ∓infinity, at the other poles
 * NaN, as in SciPy. Next to the roots left of zero the error is small in absolute, not in relative terms.
 */
import { divideNormal } from "./correct-rounding.js";
import { constants, isSignSet } from "./float-parts.js";
import { largeFrom, sinPiOverPi, stepDown } from "./gamma.js";
import { log } from "./logarithm.js";
import { polynomial } from "./polynomial.js";
import type { FloatType, ScalarOps } from "./scalar-ops.js";

/** digamma(y) / (y - root) in y - centre for 1 <= y <= 2: right to 2^-27.9 and 2^-58.3. */
const middleCoefficients = {
  f32: [
    0.9506424069404602, -0.42315810918807983, 0.24010834097862244, -0.14802850782871246, 0.09468085318803787,
    -0.06181624159216881, 0.040692754089832306, -0.02565743960440159, 0.016879694536328316, -0.016261670738458633,
    0.011056800372898579,
  ],
  f64: [
    0.9406534713739373, -0.4119176168700364, 0.22979969071811443, -0.13931491591396816, 0.0876437343263044,
    -0.056168260645419334, 0.0363546138394426, -0.023660137475771295, 0.015446762586443875, -0.010102951908168446,
    0.006614914938506739, -0.004333814218364407, 0.0028401967271679644, -0.0018623302531454277, 0.0012229101565264066,
    -0.0007985713251364865, 0.0005137288796078173, -0.00035375448613298143, 0.0002644027851858248,
    -0.00011906939241277118, 1.824865311433095e-5, -0.00011150884647212928, 0.0001207817689596824,
  ],
} as const;

/** (log x - 1/(2x) - digamma(x)) x² in 1/x² from x = 4 and 8 on: right to 2^-31.8 and 2^-60.2. */
const asymptoticCoefficients = {
  f32: [0.08333314955234528, -0.008316753432154655, 0.0035163580905646086],
  f64: [
    0.08333333333332357, -0.008333333322089045, 0.003968249514865334, -0.00416583828327662, 0.007496198324373184,
    -0.017200743634448092,
  ],
} as const;

/** cos(pi r) / (1 - 4 r²) in r² for |r| <= 1/2: right to 2^-29.6 and 2^-63.1. */
const cosineCoefficients = {
  f32: [1, -0.9348020553588867, 0.3194980025291443, -0.05718742311000824, 0.0060432348400354385],
  f64: [
    1, -0.9348022005446793, 0.3195033242380521, -0.057249471902398125, 0.006332742749094927, -0.0004759203852248114,
    2.589266581892462e-5, -1.0667879102131023e-6, 3.357740971919369e-8,
  ],
} as const;

const middleCentre = { f32: 1.5009765625, f64: 1.52490234375 } as const;

const root = {
  f32: { high: 1.4616321325302124, low: 1.2438149938918909e-8 },
  f64: { high: 1.4616321449683622, low: 9.549995429965697e-17 },
} as const;

function digammaOfPositive<V>(k: ScalarOps<V>, x: V, type: FloatType): V {
  const { add, sub, mul, select } = k;
  const c = constants(k, type);
  const one = c(1);
  const isBelow = k.lt(x, one);
  const isLarge = k.ge(x, c(largeFrom[type]));
  let [numerator, denominator] = [c(0), one];
  const stepped = stepDown(k, x, type, (isTaken, next) => {
    numerator = select(isTaken, add(mul(numerator, next), denominator), numerator);
    denominator = select(isTaken, mul(denominator, next), denominator);
  });
  const bounded = select(k.gt(x, c(2 ** 60)), c(2 ** 60), x);
  const isOneOverX = k.or(isBelow, isLarge);
  const fraction = divideNormal(k, select(isOneOverX, one, numerator), select(isOneOverX, bounded, denominator), type);

  const y = select(isBelow, add(x, one), stepped);
  const fromRoot = sub(sub(y, c(root[type].high)), c(root[type].low));
  const middle = mul(fromRoot, polynomial(k, sub(y, c(middleCentre[type])), middleCoefficients[type], type));
  const small = add(middle, select(isBelow, k.neg(fraction), fraction));

  const square = mul(fraction, fraction);
  const tail = add(mul(fraction, c(0.5)), mul(square, polynomial(k, square, asymptoticCoefficients[type], type)));
  return select(isLarge, sub(log(k, x, type), tail), small);
}

export function digamma<V>(k: ScalarOps<V>, x: V, type: FloatType): V {
  const { sub, mul, select } = k;
  const c = constants(k, type);
  const zero = c(0);
  const isNegative = k.lt(x, zero);
  const positive = digammaOfPositive(k, select(isNegative, sub(c(1), x), x), type);

  const distance = sub(x, k.roundEven(x));
  const square = mul(distance, distance);
  const cosine = mul(sub(c(1), mul(c(4), square)), polynomial(k, square, cosineCoefficients[type], type));
  const cotangent = divideNormal(k, cosine, sinPiOverPi(k, distance, type), type);
  const reflected = select(k.eq(distance, zero), c(NaN), sub(positive, cotangent));
  const finite = select(isNegative, reflected, positive);
  // Next to zero it is -1/x, in two steps that stay in the range of the division.
  const [tiny, scale] = type === "f32" ? [2 ** -60, 2 ** 64] : [2 ** -500, 2 ** 540];
  const reciprocal = mul(divideNormal(k, c(-1), mul(x, c(scale)), type), c(scale));
  const isTiny = k.lt(k.abs(x), c(tiny));
  const atZero = select(isSignSet(k, x, type), c(Infinity), c(-Infinity));
  return select(k.eq(x, zero), atZero, select(isTiny, reciprocal, finite));
}
