/**
 * exp, exp2 and expm1.
 *
 * exp: with n the integer nearest x / ln 2, r = x - n ln 2 lies in ±0.347, where exp(r) = 1 + r + r² q(r) with a
 * minimax q. ln 2 is split in two so that n * high is exact (Cody and Waite 1980), and the low half of r is added late,
 * next to r² q(r). The last step, times 2^n, is exact, or rounds once into a denormal. Going through exp2(x log2 e)
 * instead would multiply the rounding error of the product by x.
 *
 * The argument is first clamped to just beyond where the result overflows or vanishes: infinities then need no case of
 * their own, and NaN passes through the arithmetic.
 */
import { constants, formats, powerOfBiased, powerOfTwo, powersOfBiased, scaleByPowers } from "./float-parts.js";
import { polynomial } from "./polynomial.js";
import type { FloatType, ScalarOps } from "./scalar-ops.js";

/** ln 2 in two parts; the high part leaves room for a product with any exponent. */
export const ln2 = {
  f32: { high: 0.693145751953125, low: 1.4286068203094173e-6 },
  f64: { high: 0.693147180559663, low: 2.8235290563031577e-13 },
} as const;

/** (exp(r) - 1 - r) / r² on |r| <= ln(2) / 2, with exp(r) off by at most 2^-28.2 and 2^-57.9. */
const expCoefficients = {
  f32: [0.4999999403953552, 0.1666652113199234, 0.041668251156806946, 0.00836866907775402, 0.0013822142500430346],
  f64: [
    0.5000000000000011, 0.16666666666666433, 0.04166666666652698, 0.008333333333482865, 0.0013888888944338371,
    0.00019841269529678157, 2.480149245615292e-5, 2.7557567042485127e-6, 2.763045354158578e-7, 2.5005882633901502e-8,
  ],
} as const;

/** The same with one term more, so that expm1(r) itself is right to 2^-31.0 and 2^-61.5. */
const expm1Coefficients = {
  f32: [
    0.5, 0.1666666567325592, 0.041666481643915176, 0.00833356473594904, 0.0013933343579992652, 0.0001974492333829403,
  ],
  f64: [
    0.5, 0.16666666666666677, 0.04166666666666662, 0.008333333333321466, 0.0013888888888915457, 0.00019841269886467435,
    2.4801587254921966e-5, 2.755724392004742e-6, 2.755733781126575e-7, 2.510912351874563e-8, 2.089415182169667e-9,
  ],
} as const;

/** Beyond these exp is infinite or rounds to zero, also after division by 4. */
const expLimits = { f32: { low: -106, high: 90 }, f64: { low: -748, high: 711 } } as const;

/** Written as compare and select, so that a target with such a minimum or maximum needs one instruction. */
function clamp<V>(k: ScalarOps<V>, x: V, low: V, high: V): V {
  const below = k.select(k.gt(x, high), high, x);
  return k.select(k.lt(below, low), low, below);
}

/** x as n ln 2 + (high - low), with `high` exact. */
function reduceByLn2<V>(k: ScalarOps<V>, x: V, type: FloatType): Exponent<V> & { high: V; low: V } {
  const c = constants(k, type);
  const exponent = nearestInteger(k, k.mul(x, c(Math.LOG2E)), type);
  const high = k.sub(x, k.mul(exponent.n, c(ln2[type].high)));
  return { ...exponent, high, low: k.mul(exponent.n, c(ln2[type].low)) };
}

/** 2^n: as one float, good where it is a normal number, and as two, for `scaleByPowers`. */
interface Powers<V> {
  readonly power: V;
  readonly powers: readonly [V, V];
}

/** An integer as a float and as an i32, and its power of two. Unused parts cost nothing. */
interface Exponent<V> extends Powers<V> {
  readonly n: V;
  readonly exponent: V;
}

/**
 * The integer nearest to x, below 2^21 in size. Next to 1.5 · 2^23 (2^52) floats are integers, and their last bits are
 * those of the integer: an addition rounds and converts at less cost. Adding twice the exponent bias as well makes each half
 * of the last bits the exponent of a float; the bits above them are even, and shifted out.
 */
function nearestInteger<V>(k: ScalarOps<V>, x: V, type: FloatType): Exponent<V> {
  const { bias, precision } = formats[type];
  const middle = 1.5 * 2 ** (precision - 1);
  const magic = k.constant(type, middle + 2 * bias);
  const shifted = k.add(x, magic);
  const n = k.sub(shifted, magic);
  const biased = k.bitcast("i32", type === "f64" ? k.lowWord(shifted) : shifted);
  const above = type === "f64" ? 0 : 0x4b400000;
  return {
    n,
    exponent: k.sub(biased, k.constant("i32", above + 2 * bias)),
    power: powerOfBiased(k, k.sub(biased, k.constant("i32", bias)), type),
    powers: powersOfBiased(k, biased, type),
  };
}

/** (significand + rest) times a power of two: `rest` is the rounding error of the significand. */
interface ExpParts<V> extends Powers<V> {
  readonly significand: V;
  readonly rest: V;
}

/**
 * exp(x + low) for x within about ±2^9 (f32) or ±2^12 (f64), for callers that go on computing with it. `low`, when
 * given, is the rounding error of x.
 */
export function expParts<V>(k: ScalarOps<V>, x: V, type: FloatType, low?: V): ExpParts<V> {
  const { add, sub, mul } = k;
  const reduced = reduceByLn2(k, x, type);
  const remainder = low === undefined ? reduced.low : sub(reduced.low, low);
  const r = sub(reduced.high, remainder);
  const tail = mul(mul(r, r), polynomial(k, r, expCoefficients[type], type));
  const one = k.constant(type, 1);
  const fraction = add(reduced.high, sub(tail, remainder));
  const significand = add(one, fraction);
  const { power, powers } = reduced;
  return { significand, rest: sub(fraction, sub(significand, one)), power, powers };
}

/** x limited to just beyond where exp(x) and exp(x) / 4 overflow or round to zero. */
export function clampForExp<V>(k: ScalarOps<V>, x: V, type: FloatType): V {
  return clamp(k, x, k.constant(type, expLimits[type].low), k.constant(type, expLimits[type].high));
}

/** The same for x that is not positive. */
export function clampNegativeForExp<V>(k: ScalarOps<V>, x: V, type: FloatType): V {
  const low = k.constant(type, expLimits[type].low);
  return k.select(k.lt(x, low), low, x);
}

/** exp of x known to lie within ±80, where the result is normal. */
export function expBounded<V>(k: ScalarOps<V>, x: V, type: FloatType): V {
  const { significand, power } = expParts(k, x, type);
  return k.mul(significand, power);
}

export function exp<V>(k: ScalarOps<V>, x: V, type: FloatType): V {
  const { significand, powers } = expParts(k, clampForExp(k, x, type), type);
  return scaleByPowers(k, significand, powers);
}

/** exp(x) / 2, which is still finite where exp overflows. */
export function halfExp<V>(k: ScalarOps<V>, x: V, type: FloatType): V {
  const { significand, powers } = expParts(k, clampForExp(k, x, type), type);
  return scaleByPowers(k, k.mul(significand, k.constant(type, 0.5)), powers);
}

/** (2^r - 1 - r ln 2) / r² on |r| <= 1/2: 2^r is right to 2^-28.3 and 2^-57.7. */
const exp2Coefficients = {
  f32: [0.24022647738456726, 0.05550359562039375, 0.00961849931627512, 0.00133909669239074, 0.0001532945316284895],
  f64: [
    0.2402265069591011, 0.05550410866482174, 0.009618129107600673, 0.0013333558146539778, 0.00015403530450054382,
    1.5252733641020183e-5, 1.3215438386833855e-6, 1.0178156893111575e-7, 7.073302351355354e-9, 4.439363596349552e-10,
  ],
} as const;

const exp2Limits = { f32: { low: -151, high: 129 }, f64: { low: -1076, high: 1025 } } as const;

/** 2^x: the reduction is exact, and integers give exact powers of two. */
export function exp2<V>(k: ScalarOps<V>, x: V, type: FloatType): V {
  const { add, sub, mul } = k;
  const c = constants(k, type);
  const clamped = clamp(k, x, c(exp2Limits[type].low), c(exp2Limits[type].high));
  const { n, powers } = nearestInteger(k, clamped, type);
  const r = sub(clamped, n);
  const tail = mul(mul(r, r), polynomial(k, r, exp2Coefficients[type], type));
  const significand = add(c(1), add(mul(r, c(Math.LN2)), tail));
  return scaleByPowers(k, significand, powers);
}

/**
 * exp(x) - 1 = 2^n (expm1(r) + 1 - 2^-n). For small n the difference 1 - 2^-n is exact; for large n, 2^-n joins the
 * low-order terms instead, where it is not rounded away.
 */
export function expm1<V>(k: ScalarOps<V>, x: V, type: FloatType): V {
  const { add, sub, mul } = k;
  const c = constants(k, type);
  const lowest = type === "f32" ? -30 : -60;
  const clamped = clamp(k, x, c(lowest), c(expLimits[type].high));
  const { n, exponent, powers, high, low } = reduceByLn2(k, clamped, type);
  const r = sub(high, low);
  const tail = sub(mul(mul(r, r), polynomial(k, r, expm1Coefficients[type], type)), low);
  // Past 2^-100 the subtraction no longer shows; the limit keeps 2^-n a normal number.
  const limit = k.constant("i32", 100);
  const shift = k.select(k.gt(exponent, limit), limit, exponent);
  const reciprocal = powerOfTwo(k, k.sub(k.constant("i32", 0), shift), type);
  const isLarge = k.gt(n, c(8));
  const base = k.select(isLarge, c(1), sub(c(1), reciprocal));
  const correction = k.select(isLarge, sub(tail, reciprocal), tail);
  const result = scaleByPowers(k, add(add(base, high), correction), powers);
  // Adding zeros would lose the sign of -0.
  return k.select(k.eq(x, c(0)), x, result);
}
