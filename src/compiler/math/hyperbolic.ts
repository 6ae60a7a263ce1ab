/**
 * sinh, cosh and tanh.
 *
 * Near zero, where the exponentials would cancel, sinh and tanh are odd minimax polynomials x + x³ P(x²), or of f64
 * x + x³ P(x²) / Q(x²). Beyond:
 * tanh x = 1 - 2z / (1 + z) with z = exp(-2x), from 0.55 on, where the subtraction can no longer magnify an error; sinh and cosh are
 * e ∓ 1 / (4 e) with e = exp(x) / 2, which is finite wherever the result is.
 */
import { divideNormal, reciprocalOfUnit } from "./correct-rounding.js";
import { expBounded, halfExp } from "./exponential.js";
import { constants, withSignOf } from "./float-parts.js";
import { polynomial } from "./polynomial.js";
import type { FloatType, ScalarOps } from "./scalar-ops.js";

/** (tanh(x) - x) / x³ in x² for |x| <= 0.55: tanh is right to 2^-29.7. */
const tanhCoefficients = [
  -0.33333316445350647, 0.13332556188106537, -0.05384964123368263, 0.021061984822154045, -0.006261853035539389,
];

/** The same of f64 as a quotient: tanh is right to 2^-62.2. The denominator grows from 1 to 1.15. */
const tanhQuotient = {
  numerator: [-0.3333333333333333, -0.020500386017313865, -0.00019924836731639715],
  denominator: [1, 0.4615011580519374, 0.023293446418055745, 0.0002066090615614875],
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

/** From here on tanh rounds to 1, and the exponential stays in range. */
const tanhEnd = { f32: 10, f64: 20 } as const;

export function tanh<V>(k: ScalarOps<V>, x: V, type: FloatType): V {
  const c = constants(k, type);
  const magnitude = k.abs(x);
  const end = c(tanhEnd[type]);
  const z = expBounded(k, k.mul(k.select(k.gt(magnitude, end), end, magnitude), c(-2)), type);
  const isInner = k.lt(magnitude, c(0.55));
  // On the magnitude, because -0 + 0 would lose the sign of -0.
  const result = type === "f64" ? wideTanh(k, magnitude, z, isInner) : singleTanh(k, magnitude, z, isInner);
  return withSignOf(k, result, x, type);
}

function singleTanh<V>(k: ScalarOps<V>, magnitude: V, z: V, isInner: V): V {
  const one = k.constant("f32", 1);
  const outer = k.sub(one, k.mul(k.add(z, z), reciprocalOfUnit(k, k.add(one, z), "f32")));
  return k.select(isInner, oddPolynomial(k, magnitude, tanhCoefficients, "f32"), outer);
}

/** In f64 both sides are a number plus a quotient, and share its division. A lane of a GPU mostly has neighbours on either side. */
function wideTanh<V>(k: ScalarOps<V>, magnitude: V, z: V, isInner: V): V {
  const one = k.constant("f64", 1);
  const square = k.mul(magnitude, magnitude);
  const inner = k.mul(k.mul(magnitude, square), polynomial(k, square, tanhQuotient.numerator, "f64"));
  const numerator = k.select(isInner, inner, k.neg(k.add(z, z)));
  const denominator = k.select(isInner, polynomial(k, square, tanhQuotient.denominator, "f64"), k.add(one, z));
  const quotient = k.mul(numerator, reciprocalOfUnit(k, denominator, "f64"));
  return k.add(k.select(isInner, magnitude, one), quotient);
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
