/** Functions of two operands, element by element with broadcasting: either may be a number, as in `sub(1, x)`, but not both. */
import type { ClosenessOptions } from "../methods/comparison.js";
import type { Operand, Tensor } from "../tensor.js";
import { ofTwo } from "./of-method.js";

/** a + b. */
export const add = ofTwo<"met">("add", "add");
/** a - b: `sub(1, x)`. */
export const sub = ofTwo<"met">("sub");
/** Another name of `sub`. */
export const subtract = ofTwo<"met">("subtract");
/** a · b, element by element; `matmul` is the product of matrices. */
export const mul = ofTwo<"met">("mul", "mul");
/** Another name of `mul`. */
export const multiply = ofTwo<"met">("multiply", "multiply");
/** True division: integers become floats first. */
export const div = ofTwo<"float">("div");
/** Another name of `div`. */
export const divide = ofTwo<"float">("divide");
/** a to the power of b: `pow(2, x)`. Integers to the power of integers are integers, which wrap around. */
export const pow = ofTwo<"power">("pow");
/** The remainder with the sign of the divisor, as Python's %. */
export const remainder = ofTwo<"met">("remainder");
/** Another name of `remainder`. */
export const mod = ofTwo<"met">("mod");
/** The remainder with the sign of the dividend, as C's fmod. */
export const fmod = ofTwo<"met">("fmod");
/** The quotient rounded down, as Python's //. */
export const floorDivide = ofTwo<"met">("floorDivide");
/** The quotient of integers rounded towards zero. */
export const quotient = ofTwo<"met">("quotient");
/** The larger of two; NaN wins. */
export const maximum = ofTwo<"met">("maximum", "maximum");
/** The smaller of two; NaN wins. */
export const minimum = ofTwo<"met">("minimum", "minimum");
/** log(exp(a) + exp(b)), without overflow. */
export const logaddexp = ofTwo<"float">("logaddexp", "logaddexp");
/** √(a² + b²), without overflow. */
export const hypot = ofTwo<"float">("hypot", "hypot");
/** The angle of the point (x, y), from -π to π: `atan2(y, x)`. */
export const atan2 = ofTwo<"float">("atan2");
/** The size of the first with the sign of the second. */
export const copysign = ofTwo<"float">("copysign");
/** The next number after the first in the direction of the second. */
export const nextAfter = ofTwo<"float">("nextAfter");

/** a = b; NaN equals nothing. */
export const equal = ofTwo<"bool">("equal", "equal");
/** a ≠ b. */
export const notEqual = ofTwo<"bool">("notEqual", "notEqual");
/** a < b. */
export const less = ofTwo<"bool">("less", "greater");
/** a ≤ b. */
export const lessEqual = ofTwo<"bool">("lessEqual", "greaterEqual");
/** a > b. */
export const greater = ofTwo<"bool">("greater", "less");
/** a ≥ b. */
export const greaterEqual = ofTwo<"bool">("greaterEqual", "lessEqual");
/** Whether both differ from zero. */
export const logicalAnd = ofTwo<"bool">("logicalAnd", "logicalAnd");
/** Whether either differs from zero. */
export const logicalOr = ofTwo<"bool">("logicalOr", "logicalOr");
/** Whether one of both differs from zero. */
export const logicalXor = ofTwo<"bool">("logicalXor", "logicalXor");

/** The bits that both have. */
export const bitwiseAnd = ofTwo<"met">("bitwiseAnd", "bitwiseAnd");
/** The bits that either has. */
export const bitwiseOr = ofTwo<"met">("bitwiseOr", "bitwiseOr");
/** The bits that one of both has. */
export const bitwiseXor = ofTwo<"met">("bitwiseXor", "bitwiseXor");
/** The bits of the first moved up by the second. */
export const leftShift = ofTwo<"met">("leftShift");
/** Another name of `leftShift`. */
export const bitwiseLeftShift = ofTwo<"met">("bitwiseLeftShift");
/** The bits of the first moved down by the second; of signed integers the sign bit is repeated. */
export const rightShift = ofTwo<"met">("rightShift");
/** Another name of `rightShift`. */
export const bitwiseRightShift = ofTwo<"met">("bitwiseRightShift");

type Closeness = <A extends Operand, B extends A extends Tensor ? Operand : Tensor>(
  a: A,
  b: B,
  options?: ClosenessOptions,
) => Tensor<"bool">;

/** |a - b| ≤ atol + rtol·|b|; equal infinities are close. */
export const isClose: Closeness = ofTwo<"bool">("isClose");
/** Whether all elements are close: a tensor of one bool. */
export const allClose: Closeness = ofTwo<"bool">("allClose");
