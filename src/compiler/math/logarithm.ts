/**
 * log, log2, log10 and log1p.
 *
 * x = 2^n m with m in [sqrt(1/2), sqrt(2)), and log x = n ln 2 + log1p(f) with f = m - 1 exact. log1p(f) is f - f²/2 +
 * r(f): f32 takes r = f³ P(f) with a minimax P and so needs no division; f64, where P would have 20 terms, uses s = f /
 * (2 + f) and r = s (f²/2 + R(s²)) with 7 (the identity behind fdlibm's e_log.c; the coefficients are our own). n ln 2
 * is added in two parts, the small one first.
 *
 * log2 and log10 multiply by 1/ln 2 or 1/ln 10 in two parts, keeping the error of f - f²/2, so that exact powers give
 * exact integers. log1p forms 1 + x with its rounding error and feeds the error back into f.
 */
import { divideNormal } from "./correct-rounding.js";
import { fastTwoSum, twoSum } from "./error-free.js";
import { ln2 } from "./exponential.js";
import { constants, formats, leadingPart, powerOfTwo, splitExponent } from "./float-parts.js";
import { polynomial } from "./polynomial.js";
import type { FloatType, ScalarOps } from "./scalar-ops.js";

/** (log1p(f) - f + f²/2) / f³ on sqrt(1/2) - 1 <= f <= sqrt(2) - 1; log1p(f) is right to 2^-30.2. */
const cubicCoefficients = [
  0.3333331048488617, -0.25, 0.20002225041389465, -0.16668520867824554, 0.14218176901340485, -0.1239662915468216,
  0.11888246238231659, -0.11724097281694412, 0.06803625822067261,
] as const;

/** (2 atanh(s) - 2 s) / s³ in s² <= 0.0295; log1p(f) is right to 2^-59.5. */
const atanhCoefficients = [
  0.6666666666666735, 0.399999999994108, 0.2857142874313816, 0.2222219850323603, 0.18183567712545493,
  0.1531396862382705, 0.1479673194448769,
] as const;

/** log1p(f) = f - (halfSquare - rest), for f from sqrt(1/2) - 1 to sqrt(2) - 1. */
function log1pSeries<V>(k: ScalarOps<V>, f: V, type: FloatType): { halfSquare: V; rest: V } {
  const { add, mul } = k;
  const c = constants(k, type);
  const square = mul(f, f);
  const halfSquare = mul(c(0.5), square);
  if (type === "f32") {
    return { halfSquare, rest: mul(mul(f, square), polynomial(k, f, cubicCoefficients, type)) };
  }
  const s = divideNormal(k, f, add(c(2), f), type);
  const z = mul(s, s);
  const rest = mul(s, add(halfSquare, mul(z, polynomial(k, z, atanhCoefficients, type))));
  return { halfSquare, rest };
}

/** log x = exponent ln 2 + f - (halfSquare - rest) for a positive, finite x: for callers that merge other terms in. */
export function logTerms<V>(k: ScalarOps<V>, x: V, type: FloatType): { exponent: V; f: V; halfSquare: V; rest: V } {
  const { exponent, f } = reduce(k, x, type);
  return { exponent, f, ...log1pSeries(k, f, type) };
}

/** exponent * ln 2 + log1p(f + low): the end of every logarithm here. `low` is at most an ulp of 1 + f. */
function logFromParts<V>(k: ScalarOps<V>, exponent: V, f: V, low: V | undefined, type: FloatType): V {
  const { add, sub, mul } = k;
  const c = constants(k, type);
  const { halfSquare, rest } = log1pSeries(k, f, type);
  let small = mul(exponent, c(ln2[type].low));
  if (low !== undefined) {
    // low / (1 + f), to the few bits that matter.
    small = add(small, mul(low, sub(c(1), mul(f, sub(c(1), f)))));
  }
  return sub(mul(exponent, c(ln2[type].high)), sub(sub(halfSquare, add(rest, small)), f));
}

/** Denormals are scaled into the normal range first; the exponent comes back as a float. */
function reduce<V>(k: ScalarOps<V>, x: V, type: FloatType): { exponent: V; f: V } {
  const c = constants(k, type);
  const { precision, smallestNormal } = formats[type];
  const isDenormal = k.lt(x, c(smallestNormal));
  const normal = k.select(isDenormal, k.mul(x, c(2 ** precision)), x);
  const { exponent, significand } = splitExponent(k, normal, type);
  const count = k.convert(type, exponent);
  return {
    exponent: k.select(isDenormal, k.sub(count, c(precision)), count),
    f: k.sub(significand, c(1)),
  };
}

/** The results of every logarithm at +inf, NaN, zero and negative arguments. */
function withSpecialValues<V>(k: ScalarOps<V>, x: V, result: V, type: FloatType): V {
  const c = constants(k, type);
  const finite = k.select(k.lt(x, c(Infinity)), result, x);
  const nonPositive = k.select(k.eq(x, c(0)), c(-Infinity), c(NaN));
  return k.select(k.le(x, c(0)), nonPositive, finite);
}

export function log<V>(k: ScalarOps<V>, x: V, type: FloatType): V {
  const { exponent, f } = reduce(k, x, type);
  return withSpecialValues(k, x, logFromParts(k, exponent, f, undefined, type), type);
}

interface LogBase {
  /** 1 / ln(base), the high part short enough for an exact product with a leading part. */
  readonly high: number;
  readonly low: number;
  /** The logarithm of 2, the high part short enough for an exact product with an exponent. */
  readonly twoHigh: number;
  readonly twoLow: number;
}

const bases: Readonly<Record<"log2" | "log10", Record<FloatType, LogBase>>> = {
  log2: {
    f32: { high: 1.44287109375, low: -0.00017605286103659264, twoHigh: 1, twoLow: 0 },
    f64: { high: 1.4426950407214463, low: 1.6751713164886512e-10, twoHigh: 1, twoLow: 0 },
  },
  log10: {
    f32: {
      high: 0.434326171875,
      low: -3.168997174817235e-5,
      twoHigh: 0.30103302001953125,
      twoLow: -3.0243555500547862e-6,
    },
    f64: {
      high: 0.4342944818781689,
      low: 2.5082946711645275e-11,
      twoHigh: 0.30102999566395283,
      twoLow: 2.8363394551044964e-14,
    },
  },
};

function logToBase<V>(k: ScalarOps<V>, x: V, base: LogBase, type: FloatType): V {
  const { add, sub, mul } = k;
  const c = constants(k, type);
  const { exponent, f } = reduce(k, x, type);
  const { halfSquare, rest } = log1pSeries(k, f, type);
  const leading = leadingPart(k, sub(f, halfSquare), type);
  const low = add(sub(sub(f, leading), halfSquare), rest);
  const total = fastTwoSum(k, mul(exponent, c(base.twoHigh)), mul(leading, c(base.high)));
  const small = add(mul(low, c(base.high)), mul(add(low, leading), c(base.low)));
  const withExponent = base.twoLow === 0 ? small : add(small, mul(exponent, c(base.twoLow)));
  const result = add(total.high, add(total.low, withExponent));
  return withSpecialValues(k, x, result, type);
}

export function log2<V>(k: ScalarOps<V>, x: V, type: FloatType): V {
  return logToBase(k, x, bases.log2[type], type);
}

export function log10<V>(k: ScalarOps<V>, x: V, type: FloatType): V {
  return logToBase(k, x, bases.log10[type], type);
}

/**
 * log(1 + high + low) + doublings ln 2 for a sum that is positive and finite. The rounding error of 1 + high is fed
 * back, so a small `high` keeps its full relative precision.
 */
export function log1pOfPair<V>(k: ScalarOps<V>, high: V, low: V | undefined, type: FloatType, doublings?: V): V {
  const c = constants(k, type);
  const sum = twoSum(k, c(1), high);
  const lost = low === undefined ? sum.low : k.add(sum.low, low);
  const { exponent, significand } = splitExponent(k, sum.high, type);
  // At the very end of the range the limit keeps 2^-n a normal number; the error does not matter there.
  const limit = k.constant("i32", formats[type].bias - 1);
  const shift = k.select(k.gt(exponent, limit), limit, exponent);
  const error = k.mul(lost, powerOfTwo(k, k.sub(k.constant("i32", 0), shift), type));
  const f = fastTwoSum(k, k.sub(significand, c(1)), error);
  const count = k.convert(type, exponent);
  return logFromParts(k, doublings === undefined ? count : k.add(count, doublings), f.high, f.low, type);
}

export function log1p<V>(k: ScalarOps<V>, x: V, type: FloatType): V {
  const c = constants(k, type);
  const result = log1pOfPair(k, x, undefined, type);
  const finite = k.select(k.lt(x, c(Infinity)), result, x);
  const special = k.select(k.eq(x, c(-1)), c(-Infinity), c(NaN));
  const defined = k.select(k.le(x, c(-1)), special, finite);
  // Adding zeros would lose the sign of -0.
  return k.select(k.eq(x, c(0)), x, defined);
}
