/**
 * The precision of products of f32 matrices. The setting is read where a product enters the graph; from then on the
 * node carries it, through gradients, batches and compiled programs.
 */
import { checkCount } from "../core/arity.js";
import { ArgumentError } from "../core/errors.js";
import { shown } from "../core/shown.js";

/**
 * highest: f32 arithmetic. high: on matrix units, each operand as two f16 parts with a power of two per row or column; errors
 * like f32's, but infinities become NaN. fast: operands rounded to bf16. Devices without matrix units compute all in f32.
 */
export type MatmulPrecision = "highest" | "high" | "fast";

const PRECISIONS: readonly MatmulPrecision[] = ["highest", "high", "fast"];

let current: MatmulPrecision = "highest";

/** The precision of products of f32 that do not state their own. */
export function matmulPrecision(): MatmulPrecision {
  checkCount("matmulPrecision", 0, arguments);
  return current;
}

/**
 * Sets the precision of products of f32 (matmul, dot, einsum, conv and their gradients) from now on: "highest" unless told.
 * A call can state its own: `a.matmul(b, { precision: "high" })`.
 */
export function setMatmulPrecision(precision: MatmulPrecision): void {
  checkCount("setMatmulPrecision", 1, arguments);
  current = checkedPrecision("setMatmulPrecision", precision);
}

function checkedPrecision(operation: string, precision: MatmulPrecision): MatmulPrecision {
  if (PRECISIONS.includes(precision)) return precision;
  throw new ArgumentError(`${operation}: precision ${shown(precision)}; give "highest", "high" or "fast".`);
}

/** Runs a function whose products have this precision; undefined leaves the setting alone. */
export function withPrecision<T>(operation: string, precision: MatmulPrecision | undefined, run: () => T): T {
  if (precision === undefined) return run();
  const before = current;
  current = checkedPrecision(operation, precision);
  try {
    return run();
  } finally {
    current = before;
  }
}

const HIGHEST = {};

/** The params of a product that enters the graph now. */
export const precisionParams = (): { readonly precision?: MatmulPrecision } =>
  current === "highest" ? HIGHEST : { precision: current };
