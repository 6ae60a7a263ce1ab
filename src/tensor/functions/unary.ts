/** Functions of one tensor, element by element: `exp(x)` is `x.exp()`. */
import type { DType } from "../../core/dtype.js";
import type { Meeting } from "../result-dtypes.js";
import type { Operand, Tensor } from "../tensor.js";
import { ofMethod } from "./of-method.js";

/** -x. */
export const neg = ofMethod("neg");
/** Another name of `neg`. */
export const negative = ofMethod("negative");
/** The numbers as they are. */
export const positive = ofMethod("positive");
/** The absolute value; of a complex number √(re² + im²). */
export const abs = ofMethod("abs");
/** -1, 0 or 1. */
export const sign = ofMethod("sign");
/** Whether the sign is a minus, also of -0. */
export const signbit = ofMethod("signbit");
/** x². */
export const square = ofMethod("square");
/** 1/x. */
export const reciprocal = ofMethod("reciprocal");
/** Rounded down. */
export const floor = ofMethod("floor");
/** Rounded up. */
export const ceil = ofMethod("ceil");
/** Rounded towards zero. */
export const trunc = ofMethod("trunc");
/** Rounded to the nearest whole number, halves to the even one, or to decimals: `round(x, { decimals: 2 })`. */
export const round = ofMethod("round");
/** The number itself where it is positive, else 0. */
export const relu = ofMethod("relu");

/** √x. */
export const sqrt = ofMethod("sqrt");
/** 1/√x. */
export const rsqrt = ofMethod("rsqrt");
/** The cube root, of negative numbers too. */
export const cbrt = ofMethod("cbrt");
/** eˣ. */
export const exp = ofMethod("exp");
/** 2ˣ. */
export const exp2 = ofMethod("exp2");
/** eˣ - 1, accurate near 0. */
export const expm1 = ofMethod("expm1");
/** The natural logarithm. */
export const log = ofMethod("log");
/** The logarithm to the base 2. */
export const log2 = ofMethod("log2");
/** The logarithm to the base 10. */
export const log10 = ofMethod("log10");
/** log(1 + x), accurate near 0. */
export const log1p = ofMethod("log1p");
/** The sine of an angle in radians. */
export const sin = ofMethod("sin");
/** The cosine of an angle in radians. */
export const cos = ofMethod("cos");
/** The tangent of an angle in radians. */
export const tan = ofMethod("tan");
/** The inverse sine, from -π/2 to π/2. */
export const asin = ofMethod("asin");
/** The inverse cosine, from 0 to π. */
export const acos = ofMethod("acos");
/** The inverse tangent, from -π/2 to π/2. */
export const atan = ofMethod("atan");
/** The hyperbolic sine. */
export const sinh = ofMethod("sinh");
/** The hyperbolic cosine. */
export const cosh = ofMethod("cosh");
/** The hyperbolic tangent. */
export const tanh = ofMethod("tanh");
/** The inverse hyperbolic sine. */
export const asinh = ofMethod("asinh");
/** The inverse hyperbolic cosine. */
export const acosh = ofMethod("acosh");
/** The inverse hyperbolic tangent. */
export const atanh = ofMethod("atanh");
/** 1/(1 + e⁻ˣ), the logistic function. */
export const sigmoid = ofMethod("sigmoid");
/** log(1 + eˣ), without overflow. */
export const softplus = ofMethod("softplus");
/** The error function. */
export const erf = ofMethod("erf");
/** 1 - erf(x), accurate where that is tiny. */
export const erfc = ofMethod("erfc");
/** The inverse of erf. */
export const erfInv = ofMethod("erfInv");
/** log |Γ(x)|. */
export const lgamma = ofMethod("lgamma");
/** The derivative of log Γ(x). */
export const digamma = ofMethod("digamma");
/** The derivative of digamma. */
export const trigamma = ofMethod("trigamma");

/** All bits the other way round. */
export const bitwiseNot = ofMethod("bitwiseNot");
/** Another name of `bitwiseNot`. */
export const bitwiseInvert = ofMethod("bitwiseInvert");
/** The number of ones among the bits of each integer. */
export const popcount = ofMethod("popcount");
/** The number of zero bits before the first one. */
export const countLeadingZeros = ofMethod("countLeadingZeros");
/** Whether x is zero. */
export const logicalNot = ofMethod("logicalNot");
/** Whether x is NaN. */
// biome-ignore lint/suspicious/noShadowRestrictedNames: the method has this name
export const isNaN = ofMethod("isNaN");
/** Whether x is infinite. */
export const isInf = ofMethod("isInf");
/** Whether x is neither infinite nor NaN. */
// biome-ignore lint/suspicious/noShadowRestrictedNames: the method has this name
export const isFinite = ofMethod("isFinite");
/** NaN and infinities replaced by numbers. */
export const nanToNum = ofMethod("nanToNum");

/** The real part. */
export const real = ofMethod("real");
/** The imaginary part; of a real tensor zeros. */
export const imag = ofMethod("imag");
/** The complex conjugate. */
export const conj = ofMethod("conj");
/** The angle of a complex number, from -π to π. */
export const phase = ofMethod("phase");

/** The same values in another dtype: the array API's name of `cast`. */
export const asType = ofMethod("asType") as <T extends DType>(x: Tensor, dtype: T) => Tensor<T>;

type Bound = Operand | null | undefined;
type Bounded<D extends DType, B> = B extends Operand ? Meeting<D, B> : D;

/** At least `low` and at most `high`; null or nothing leaves a side open. */
export const clip = ofMethod("clip") as <D extends DType, L extends Bound = null, H extends Bound = null>(
  x: Tensor<D>,
  low?: L,
  high?: H,
) => Tensor<Bounded<Bounded<D, L>, H>>;
