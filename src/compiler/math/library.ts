/**
 * The table of all functions of the math library, for tests, docs and the lowering.
 *
 * `ulp` is the error claimed for each type, over the whole range, denormals included; `docs/accuracy.md` holds the
 * measurements. An ulp is the spacing of floats at the exact result.
 */
import { type BrainMath, erfOfBrain } from "./brain-float.js";
import { digamma } from "./digamma.js";
import { erf, erfc, erfInv } from "./error-function.js";
import { exp, exp2, expm1 } from "./exponential.js";
import { lgamma } from "./gamma.js";
import { cosh, sinh, tanh } from "./hyperbolic.js";
import { acosh, asinh, atanh } from "./inverse-hyperbolic.js";
import { acos, asin, atan, atan2 } from "./inverse-trigonometric.js";
import { log, log1p, log2, log10 } from "./logarithm.js";
import { sigmoid, softplus } from "./logistic.js";
import { pow } from "./power.js";
import { cbrt, hypot, rsqrt } from "./roots.js";
import type { BinaryMath, FloatType, UnaryMath } from "./scalar-ops.js";
import { trigamma } from "./trigamma.js";
import { cos, sin, tan } from "./trigonometric.js";

export type MathFunction = {
  readonly ulp: Readonly<Record<FloatType, number>>;
  /** A shorter one for bf16. */
  readonly ofBrain?: BrainMath;
} & ({ readonly arity: 1; readonly apply: UnaryMath } | { readonly arity: 2; readonly apply: BinaryMath });

const unary = (apply: UnaryMath, f32: number, f64: number) => ({ arity: 1, apply, ulp: { f32, f64 } }) as const;
const binary = (apply: BinaryMath, f32: number, f64: number) => ({ arity: 2, apply, ulp: { f32, f64 } }) as const;

export const mathFunctions = {
  exp: unary(exp, 1, 1),
  exp2: unary(exp2, 1.1, 1.1),
  expm1: unary(expm1, 1.3, 1.3),
  log: unary(log, 1, 1),
  log2: unary(log2, 1, 1),
  log10: unary(log10, 1, 1),
  log1p: unary(log1p, 1, 1),
  pow: binary(pow, 1, 1),
  sin: unary(sin, 1, 1),
  cos: unary(cos, 1, 1),
  tan: unary(tan, 1.6, 1.6),
  asin: unary(asin, 1.3, 1.3),
  acos: unary(acos, 1.3, 1.3),
  atan: unary(atan, 1.5, 1.5),
  atan2: binary(atan2, 1.7, 1.7),
  sinh: unary(sinh, 1.8, 1.8),
  cosh: unary(cosh, 1.5, 1.5),
  tanh: unary(tanh, 1.6, 1.6),
  asinh: unary(asinh, 1.5, 1.5),
  acosh: unary(acosh, 2, 2),
  atanh: unary(atanh, 1.8, 1.8),
  sigmoid: unary(sigmoid, 2, 2),
  softplus: unary(softplus, 2, 2),
  erf: { ...unary(erf, 1.2, 1.2), ofBrain: erfOfBrain },
  erfc: unary(erfc, 1.7, 1.7),
  erfInv: unary(erfInv, 2.5, 2.5),
  /** lgamma and digamma: right of zero; to the left the error is that of the larger of two terms that may cancel. */
  lgamma: unary(lgamma, 4, 4),
  digamma: unary(digamma, 5, 5),
  trigamma: unary(trigamma, 5.5, 5),
  cbrt: unary(cbrt, 0.6, 0.6),
  hypot: binary(hypot, 1.3, 1.3),
  rsqrt: unary(rsqrt, 1.5, 1.5),
} as const satisfies Readonly<Record<string, MathFunction>>;
