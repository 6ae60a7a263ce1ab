/**
 * Polynomials by Horner's rule: the fewest operations, and, with the largest coefficient added last, the smallest
 * error. Coefficients, constant term first, come from scripts/fit-math.py.
 */
import type { FloatType, ScalarOps } from "./scalar-ops.js";

export function polynomial<V>(k: ScalarOps<V>, x: V, coefficients: readonly number[], type: FloatType): V {
  let sum = k.constant(type, coefficients[coefficients.length - 1]);
  for (let i = coefficients.length - 2; i >= 0; i--) {
    sum = k.add(k.mul(sum, x), k.constant(type, coefficients[i]));
  }
  return sum;
}
