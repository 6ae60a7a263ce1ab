/**
 * Methods of `Tensor`: elementary functions, and the special functions of statistics. Integers and booleans become f32
 * first. Each is one primitive, computed by the compiler's own mathematics on every device.
 */
import { inOperation } from "../../core/arguments.js";
import { type DType, isComplex } from "../../core/dtype.js";
import type { ElementwisePrimitive } from "../../graph/primitive.js";
import * as E from "../../graph/primitives/elementwise.js";
import { backendOf, derive, makeNode } from "../build.js";
import type { FloatOf, Meeting } from "../result-dtypes.js";
import type { Operand, Tensor } from "../tensor.js";
import { complexFunctions as C } from "./complex-functions.js";
import { asFloat, metFloats, unary } from "./operands.js";

export class FunctionMethods<D extends DType> {
  /** √x. */
  sqrt(this: Tensor): Tensor<FloatOf<D>> {
    return unary(this, E.sqrt, true);
  }

  /** 1/√x. */
  rsqrt(this: Tensor): Tensor<FloatOf<D>> {
    return unary(this, E.rsqrt, true);
  }

  /** The cube root, of negative numbers too. */
  cbrt(this: Tensor): Tensor<FloatOf<D>> {
    return real(this, E.cbrt);
  }

  /** eˣ. */
  exp(this: Tensor): Tensor<FloatOf<D>> {
    return unary(this, E.exp, true);
  }

  /** 2ˣ. */
  exp2(this: Tensor): Tensor<FloatOf<D>> {
    return ofNumbers(this, E.exp2, C.exp2);
  }

  /** eˣ - 1, accurate near 0. */
  expm1(this: Tensor): Tensor<FloatOf<D>> {
    return ofNumbers(this, E.expm1, C.expm1);
  }

  /** The natural logarithm. */
  log(this: Tensor): Tensor<FloatOf<D>> {
    return unary(this, E.log, true);
  }

  /** The logarithm to the base 2. */
  log2(this: Tensor): Tensor<FloatOf<D>> {
    return ofNumbers(this, E.log2, C.log2);
  }

  /** The logarithm to the base 10. */
  log10(this: Tensor): Tensor<FloatOf<D>> {
    return ofNumbers(this, E.log10, C.log10);
  }

  /** log(1 + x), accurate near 0. */
  log1p(this: Tensor): Tensor<FloatOf<D>> {
    return ofNumbers(this, E.log1p, C.log1p);
  }

  /** log(exp(a) + exp(b)), without overflow. */
  logaddexp<O extends Operand>(this: Tensor, other: O): Tensor<FloatOf<Meeting<D, O>>> {
    return realOfTwo("logaddexp", E.logaddexp, this, other);
  }

  /** √(a² + b²), without overflow. */
  hypot<O extends Operand>(this: Tensor, other: O): Tensor<FloatOf<Meeting<D, O>>> {
    return realOfTwo("hypot", E.hypot, this, other);
  }

  /** The sine of an angle in radians. */
  sin(this: Tensor): Tensor<FloatOf<D>> {
    return unary(this, E.sin, true);
  }

  /** The cosine of an angle in radians. */
  cos(this: Tensor): Tensor<FloatOf<D>> {
    return unary(this, E.cos, true);
  }

  /** The tangent of an angle in radians. */
  tan(this: Tensor): Tensor<FloatOf<D>> {
    return unary(this, E.tan, true);
  }

  /** The inverse sine, from -π/2 to π/2. */
  asin(this: Tensor): Tensor<FloatOf<D>> {
    return ofNumbers(this, E.asin, C.asin);
  }

  /** The inverse cosine, from 0 to π. */
  acos(this: Tensor): Tensor<FloatOf<D>> {
    return ofNumbers(this, E.acos, C.acos);
  }

  /** The inverse tangent, from -π/2 to π/2. */
  atan(this: Tensor): Tensor<FloatOf<D>> {
    return ofNumbers(this, E.atan, C.atan);
  }

  /** The angle of the point (x, this), from -π to π: `y.atan2(x)`. */
  atan2<O extends Operand>(this: Tensor, x: O): Tensor<FloatOf<Meeting<D, O>>> {
    return realOfTwo("atan2", E.atan2, this, x);
  }

  /** The hyperbolic sine. */
  sinh(this: Tensor): Tensor<FloatOf<D>> {
    return unary(this, E.sinh, true);
  }

  /** The hyperbolic cosine. */
  cosh(this: Tensor): Tensor<FloatOf<D>> {
    return unary(this, E.cosh, true);
  }

  /** The hyperbolic tangent. */
  tanh(this: Tensor): Tensor<FloatOf<D>> {
    return unary(this, E.tanh, true);
  }

  /** The inverse hyperbolic sine. */
  asinh(this: Tensor): Tensor<FloatOf<D>> {
    return ofNumbers(this, E.asinh, C.asinh);
  }

  /** The inverse hyperbolic cosine, of numbers from 1 on. */
  acosh(this: Tensor): Tensor<FloatOf<D>> {
    return ofNumbers(this, E.acosh, C.acosh);
  }

  /** The inverse hyperbolic tangent, of numbers from -1 to 1. */
  atanh(this: Tensor): Tensor<FloatOf<D>> {
    return ofNumbers(this, E.atanh, C.atanh);
  }

  /** 1/(1 + e⁻ˣ), the logistic function. */
  sigmoid(this: Tensor): Tensor<FloatOf<D>> {
    return unary(this, E.sigmoid, true);
  }

  /** log(1 + eˣ), without overflow. */
  softplus(this: Tensor): Tensor<FloatOf<D>> {
    return unary(this, E.softplus, true);
  }

  /** The error function 2/√π ∫₀ˣ exp(-t²) dt. */
  erf(this: Tensor): Tensor<FloatOf<D>> {
    return real(this, E.erf);
  }

  /** 1 - erf(x), accurate where that is tiny. */
  erfc(this: Tensor): Tensor<FloatOf<D>> {
    return real(this, E.erfc);
  }

  /** The inverse of erf; ±1 give ±infinity, beyond is NaN. */
  erfInv(this: Tensor): Tensor<FloatOf<D>> {
    return real(this, E.erfInv);
  }

  /** log |Γ(x)|. */
  lgamma(this: Tensor): Tensor<FloatOf<D>> {
    return real(this, E.lgamma);
  }

  /** The derivative of log Γ(x). */
  digamma(this: Tensor): Tensor<FloatOf<D>> {
    return real(this, E.digamma);
  }

  /** The derivative of digamma. */
  trigamma(this: Tensor): Tensor<FloatOf<D>> {
    return real(this, E.trigamma);
  }
}

/** A function of real numbers that has a form for complex ones. */
function ofNumbers<T extends DType>(
  x: Tensor,
  primitive: ElementwisePrimitive,
  ofComplex: (z: Tensor) => Tensor,
): Tensor<T> {
  return isComplex(x.dtype) ? (inOperation(primitive.name, () => ofComplex(x)) as Tensor<T>) : real(x, primitive);
}

/** A function of real numbers: complex ones throw. */
function real<T extends DType>(x: Tensor, primitive: ElementwisePrimitive): Tensor<T> {
  return x.tensorOf(derive(primitive, asFloat(primitive.name, x).node, {}));
}

function realOfTwo<T extends DType>(
  operation: string,
  primitive: ElementwisePrimitive,
  x: Tensor,
  other: Operand,
): Tensor<T> {
  const [a, b] = metFloats(operation, [x, other]);
  return x.tensorOf(makeNode(primitive, [a.node, b.node], {}, backendOf(a.node)));
}
