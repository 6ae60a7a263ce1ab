/**
 * asinh, acosh and atanh, each as log1p of a pair of floats: the pair keeps the rounding errors made in the logarithm's
 * argument:
 *
 *   asinh x = log1p(x + x² / (1 + sqrt(1 + x²))),   acosh x = log1p(t + sqrt(2t + t²)) with t = x - 1,
 *   atanh x = log1p(2x / (1 - x)) / 2.
 *
 * Where x² would overflow, asinh and acosh are log x + log 2.
 */
import { divideNormal, squareRoot } from "./correct-rounding.js";
import { fastTwoSum } from "./error-free.js";
import { constants, withSignOf } from "./float-parts.js";
import { log1pOfPair } from "./logarithm.js";
import type { FloatType, ScalarOps } from "./scalar-ops.js";

const hugeFrom = { f32: 2 ** 60, f64: 2 ** 500 } as const;

export function asinh<V>(k: ScalarOps<V>, x: V, type: FloatType): V {
  const { add, mul, select } = k;
  const c = constants(k, type);
  const magnitude = k.abs(x);
  const isHuge = k.gt(magnitude, c(hugeFrom[type]));
  const bounded = select(isHuge, c(hugeFrom[type]), magnitude);
  const square = mul(bounded, bounded);
  const root = squareRoot(k, add(c(1), square), type);
  const argument = fastTwoSum(k, bounded, divideNormal(k, square, add(c(1), root), type));
  const result = log1pOfPair(
    k,
    select(isHuge, magnitude, argument.high),
    select(isHuge, c(0), argument.low),
    type,
    select(isHuge, c(1), c(0)),
  );
  // Below this x is its own inverse sine, and its square may underflow; infinities and NaN are kept too.
  const isOrdinary = k.and(k.gt(magnitude, c(type === "f32" ? 2 ** -13 : 2 ** -27)), k.lt(magnitude, c(Infinity)));
  return select(isOrdinary, withSignOf(k, result, x, type), x);
}

export function acosh<V>(k: ScalarOps<V>, x: V, type: FloatType): V {
  const { add, sub, mul, select } = k;
  const c = constants(k, type);
  const isHuge = k.gt(x, c(hugeFrom[type]));
  const bounded = select(isHuge, c(hugeFrom[type]), x);
  const t = sub(bounded, c(1));
  const root = squareRoot(k, add(add(t, t), mul(t, t)), type);
  const argument = fastTwoSum(k, root, t);
  const result = log1pOfPair(
    k,
    select(isHuge, x, argument.high),
    select(isHuge, c(0), argument.low),
    type,
    select(isHuge, c(1), c(0)),
  );
  const finite = select(k.lt(x, c(Infinity)), result, x);
  return select(k.lt(x, c(1)), c(NaN), finite);
}

export function atanh<V>(k: ScalarOps<V>, x: V, type: FloatType): V {
  const { add, sub, mul, select } = k;
  const c = constants(k, type);
  const one = c(1);
  const magnitude = k.abs(x);
  const isTiny = k.lt(magnitude, c(type === "f32" ? 2 ** -13 : 2 ** -27));
  const difference = sub(one, magnitude);
  const lost = sub(sub(one, difference), magnitude);
  const quotient = divideNormal(k, add(magnitude, magnitude), difference, type);
  // (2x) / (difference + lost), to first order, with 1 / (1 - x) = 1 + quotient / 2.
  const low = k.neg(mul(mul(quotient, lost), add(one, mul(quotient, c(0.5)))));
  const half = mul(c(0.5), log1pOfPair(k, quotient, low, type));
  const ordinary = select(isTiny, x, withSignOf(k, half, x, type));
  const atEnd = select(k.eq(magnitude, one), withSignOf(k, c(Infinity), x, type), c(NaN));
  return select(k.lt(magnitude, one), ordinary, atEnd);
}
