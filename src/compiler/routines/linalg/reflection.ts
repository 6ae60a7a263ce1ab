/** The Householder reflection of a column, as in LAPACK: the panels of householder.ts and tridiagonal.ts are made of them. */
import type { Value } from "../../ir/ir.js";
import type { KernelBuilder } from "../../ir/kernel-builder.js";
import type { Field, Num } from "./field.js";

/**
 * Columns with less than this for the sum of their squares count as zero: the sum would have lost digits, and the reflection would
 * not be orthogonal. Matrices are scaled before, so that this is far below the rounding of their largest elements.
 */
const TINY = { f32: 2 ** -100, f64: 2 ** -900 } as const;

/** I - τ v vᴴ; its adjoint turns a column into one with only its head, β. */
interface Reflection {
  /** Real, unless there is nothing to do. */
  readonly beta: Num;
  readonly tau: Num;
  /** v is the column times this, below a one. */
  readonly inverse: Num;
}

/** The reflection that makes a column with this head zero below it; `below`: the sum of squares there. */
export function reflectionOf(k: KernelBuilder, field: Field, head: Num, below: Value): Reflection {
  const zero = k.constant(field.type, 0);
  const isEmpty = k.compare("eq", below, zero);
  const isDone = head.im ? k.binary("and", isEmpty, k.compare("eq", head.im, zero)) : isEmpty;
  const square = k.binary("add", field.squared(head), below);
  const isTrivial = k.binary("or", isDone, k.compare("lt", square, k.constant(field.type, TINY[field.type])));
  const length = field.sqrtReal(square);
  const beta = k.select(k.compare("lt", head.re, zero), length, k.unary("neg", length));
  const safe = k.select(isTrivial, k.constant(field.type, 1), beta);
  const tau = field.shrink(field.sub(field.real(safe), head), safe);
  const gap = field.select(isTrivial, field.one, field.sub(head, field.real(safe)));
  return {
    beta: field.select(isTrivial, head, field.real(beta)),
    tau: field.select(isTrivial, field.zero, tau),
    inverse: field.select(isTrivial, field.zero, field.div(field.one, gap)),
  };
}
