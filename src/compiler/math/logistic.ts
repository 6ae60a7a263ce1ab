/**
 * sigmoid and softplus (log1pexp), each through exp of a negative argument, which cannot overflow.
 *
 * sigmoid(x) = 1 / (1 + exp(-x)) for x >= 0 and exp(x) / (1 + exp(x)) below, so that tiny results keep full relative
 * precision down to the denormals; a last step corrects the rounding errors of exp and of the sum. softplus(x) = max(x, 0) +
 * log1p(exp(-|x|)).
 */
import { reciprocalOfUnit } from "./correct-rounding.js";
import { clampNegativeForExp, exp, expParts } from "./exponential.js";
import { constants, scaleByPowers } from "./float-parts.js";
import { log1p } from "./logarithm.js";
import type { FloatType, ScalarOps } from "./scalar-ops.js";

export function sigmoid<V>(k: ScalarOps<V>, x: V, type: FloatType): V {
  const { add, sub, mul } = k;
  const c = constants(k, type);
  const [one, zero] = [c(1), c(0)];
  const { significand, rest, powers } = expParts(k, clampNegativeForExp(k, k.neg(k.abs(x)), type), type);
  const z = scaleByPowers(k, significand, powers);
  const isNegative = k.lt(x, zero);
  const denominator = add(one, z);
  const reciprocal = reciprocalOfUnit(k, denominator, type);
  const quotient = k.select(isNegative, mul(z, reciprocal), reciprocal);

  // The rounding errors of z (relative to z) and of 1 + z; 1 / (1 + z) is the quotient or its complement.
  const lostFromZ = mul(rest, sub(c(2), significand));
  const lostFromSum = sub(z, sub(denominator, one));
  const below = mul(sub(one, quotient), sub(lostFromZ, lostFromSum));
  const above = k.neg(mul(quotient, lostFromSum));
  return add(quotient, mul(quotient, k.select(isNegative, below, above)));
}

export function softplus<V>(k: ScalarOps<V>, x: V, type: FloatType): V {
  const c = constants(k, type);
  const tail = log1p(k, exp(k, k.neg(k.abs(x)), type), type);
  return k.add(k.select(k.gt(x, c(0)), x, c(0)), tail);
}
