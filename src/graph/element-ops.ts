/**
 * The arithmetic of one element, in which primitives define their values. The compiler implements it once, over the loop-nest
 * language, for every dtype: integers wrap at their width; f16 and bf16 are computed in f32, and the result of a primitive
 * is rounded.
 */
import type { DType, Scalar } from "../core/dtype.js";

export type Comparison = "eq" | "ne" | "lt" | "le" | "gt" | "ge";

export interface ElementOps<V> {
  dtypeOf(value: V): DType;
  constant(dtype: DType, value: Scalar): V;

  add(a: V, b: V): V;
  sub(a: V, b: V): V;
  mul(a: V, b: V): V;
  /** Floats: correctly rounded. Integers: towards zero; by zero gives zero. */
  div(a: V, b: V): V;
  /** Remainder with the sign of the dividend. */
  rem(a: V, b: V): V;
  /** Integers: a times itself, b times; 0 for negative b. */
  power(a: V, b: V): V;
  /** NaN wins. */
  min(a: V, b: V): V;
  max(a: V, b: V): V;
  neg(a: V): V;
  abs(a: V): V;
  /** Floats to whole numbers. */
  round(how: "floor" | "ceil" | "trunc" | "even", a: V): V;
  sqrt(a: V): V;
  /** copysign: a magnitude ≥ 0 with the sign of another number, -0 included. Floats. */
  withSign(magnitude: V, sign: V): V;

  and(a: V, b: V): V;
  or(a: V, b: V): V;
  xor(a: V, b: V): V;
  not(a: V): V;
  /** By a distance of the same dtype; at or past the width the result is 0, or the sign. */
  shift(direction: "left" | "right", a: V, distance: V): V;

  compare(how: Comparison, a: V, b: V): V;
  select(condition: V, whenTrue: V, whenFalse: V): V;
  cast(value: V, to: DType): V;
  bitcast(value: V, to: DType): V;

  /** A function of the math library, by name: "exp", "pow", "atan2" … Floats only. */
  math(name: string, ...args: readonly V[]): V;
}
