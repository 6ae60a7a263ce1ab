/**
 * What the numbers of one argument must be together: probabilities sum to 1. Known arguments are held to it when a model
 * meets its data; what is sampled cannot be.
 */

/** What is wrong with the numbers of one vector or matrix, if anything, in words that begin with the argument's name. */
export type Together = (values: ArrayLike<number>, shape: readonly number[]) => string | null;

/** How far off sums of f32 may be that are 1 but for rounding. */
const ROUNDING = 1e-6;

/** `logits`: what takes numbers that need not sum to 1. */
export const sumToOne =
  (name: string, logits?: string): Together =>
  (values) => {
    const sum = Array.from(values).reduce((total, value) => total + value, 0);
    if (Math.abs(sum - 1) <= ROUNDING * Math.max(1, values.length / 8)) return null;
    const instead = logits === undefined ? "" : `, or use ${logits}, which takes their logarithms up to a constant`;
    return `${name} sum to ${Number(sum.toPrecision(6))}, not to 1; divide them by their sum${instead}.`;
  };
