/** Constraints by name: supports of distributions, and what `.constrained(…)` and `flat(…)` take. */
export type { Bijection, Constraint, Transformed } from "./constraint.js";
export { correlationCholesky, covarianceCholesky, covarianceMatrix } from "./matrices.js";
export {
  above,
  affine,
  angle,
  below,
  interval,
  nonNegative,
  positive,
  positiveSoftplus,
  real,
  unitInterval,
} from "./numbers.js";
export { ordered, positiveOrdered, simplex, sumToZero, unitVector } from "./vectors.js";
export { count, countsOf, countUpTo, zeroOrOne } from "./whole-numbers.js";
