/**
 * sinh, cosh and tanh.
 *
 * Near zero, where the exponentials would cancel, sinh and tanh are odd minimax polynomials x + x³ P(x²). Beyond:
 * tanh x = 1 - 2z / (1 + z) with z = exp(-2x), from 0.55 on, where the subtraction can no longer magnify an error; sinh and cosh are
 * e ∓ 1 / (4 e) with e = exp(x) / 2, which is finite wherever the result is.
 */
import { divideNormal, reciprocalOfUnit } from "./correct-rounding.js";
import { expBounded, halfExp } from "./exponential.js";
import { constants, withSignOf } from "./float-parts.js";
import { polynomial } from "./polynomial.js";
import type { FloatType, ScalarOps } from "./scalar-ops.js";

/** (tanh(x) - x) / x³ in x² for |x| <= 0.55: tanh is right to 2^-29.7 and 2^-60.6. */
const tanhCoefficients = {
  f32: [-0.33333316445350647, 0.13332556188106537, -0.05384964123368263, 0.021061984822154045, -0.006261853035539389],
  f64: [
    -0.333333333333333, 0.1333333333332659, -0.053968253963746986, 0.021869488385529285, -0.008863232596782242,
    0.0035920919881969483, -0.0014555425961223054, 0.000588443528638226, -0.00023337926977836507, 8.331332710927243e-5,
    -1.9492853658246457e-5,
  ],
} as const;

/** (sinh(x) - x) / x³ in x² for |x| <= 1: sinh is right to 2^-31.4 and 2^-61.5. */
const sinhCoefficients = {
  f32: [0.1666666716337204, 0.008333314210176468, 0.00019841900211758912, 2.788554411381483e-6],
  f64: [
    0.16666666666666669, 0.00833333333333291, 0.00019841269841596674, 2.7557319105046763e-6, 2.5052131369821662e-8,
    1.6056623490730632e-10, 7.777859444625859e-13,
  ],
} as const;

/** x + x³ P(x²). */
function oddPolynomial<V>(k: ScalarOps<V>, x: V, coefficients: readonly number[], type: FloatType): V {
  const square = k.mul(x, x);
  return k.add(x, k.mul(k.mul(x, square), polynomial(k, square, coefficients, type)));
}

export function tanh<V>(k: ScalarOps<V>, x: V, type: FloatType): V {
  const c = constants(k, type);
  const magnitude = k.abs(x);
  // From here on tanh rounds to 1, and the exponential stays in range.
  const end = type === "f32" ? 10 : 20;
  const outer = () => {
    const bounded = k.select(k.gt(magnitude, c(end)), c(end), magnitude);
    const z = expBounded(k, k.mul(bounded, c(-2)), type);
    return k.sub(c(1), k.mul(k.add(z, z), reciprocalOfUnit(k, k.add(c(1), z), type)));
  };
  // On the magnitude, because -0 + 0 would lose the sign of -0.
  const inner = () => oddPolynomial(k, magnitude, tanhCoefficients[type], type);
  const isInner = k.lt(magnitude, c(0.55));
  // Of f64 either side takes longer than a branch.
  const result = type === "f64" ? k.either(isInner, inner, outer) : k.select(isInner, inner(), outer());
  return withSignOf(k, result, x, type);
}

export function sinh<V>(k: ScalarOps<V>, x: V, type: FloatType): V {
  const c = constants(k, type);
  const magnitude = k.abs(x);
  const e = halfExp(k, magnitude, type);
  const outer = k.sub(e, divideNormal(k, c(0.25), e, type));
  const inner = oddPolynomial(k, x, sinhCoefficients[type], type);
  return k.select(k.lt(magnitude, c(1)), inner, withSignOf(k, outer, x, type));
}

export function cosh<V>(k: ScalarOps<V>, x: V, type: FloatType): V {
  const e = halfExp(k, k.abs(x), type);
  return k.add(e, divideNormal(k, k.constant(type, 0.25), e, type));
}
