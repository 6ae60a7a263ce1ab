/** The first steps of every diagnostic with the chains of a scalar: halve them, reduce each, see whether they vary at all. */
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import type { Chains } from "../draws/draws.js";

/** Throws on what are no chains: lists of lists, or as many numbers as do not fill them. */
export function checkChains(operation: string, x: Chains): void {
  const isChains = typeof x === "object" && x !== null && !Array.isArray(x);
  const hasNumbers = isChains && ArrayBuffer.isView(x.values);
  if (hasNumbers && x.values.length === x.chains * x.draws) return;
  const made = 'draws.scalar("x") is such, and of lists Draws.from({ x: [[…], […]] }).scalar("x")';
  if (hasNumbers) {
    throw new ArgumentError(
      `${operation}: ${x.values.length} values are not ${x.chains} chains × ${x.draws} draws; ${made}.`,
    );
  }
  const what = (value: unknown) => (Array.isArray(value) ? "a list" : shown(value));
  const problem = isChains ? `values is ${what(x.values)};` : `${what(x)} stands where the chains of a scalar do,`;
  throw new ArgumentError(`${operation}: ${problem} { values: Float64Array, chains, draws }; ${made}.`);
}

export function checkProbability(operation: string, probability: number): void {
  if (probability >= 0 && probability <= 1) return;
  throw new ArgumentError(
    `${operation}: ${shown(probability)} stands where the probability of the quantile does, a number from 0 to 1.`,
  );
}

/** The halves of every chain as chains of their own, without the middle draw where the number is odd. */
export function splitChains(x: Chains): Chains {
  const half = Math.floor(x.draws / 2);
  if (2 * half === x.draws) return { values: x.values, chains: 2 * x.chains, draws: half };
  const values = new Float64Array(2 * half * x.chains);
  for (let c = 0; c < x.chains; c++) {
    const chain = x.values.subarray(c * x.draws, (c + 1) * x.draws);
    values.set(chain.subarray(0, half), 2 * half * c);
    values.set(chain.subarray(half + 1), 2 * half * c + half);
  }
  return { values, chains: 2 * x.chains, draws: half };
}

export function isConstant(values: Float64Array): boolean {
  return values.every((value) => value === values[0]);
}

export function allFinite(values: Float64Array): boolean {
  // Infinity minus itself is NaN, so the sum is 0 for finite values only, and no branch slows the loop down.
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i] - values[i];
  return sum === 0;
}

/** The numbers that R-hat compares: the mean of every chain, and the mean of the variances (over n - 1) within them. */
export interface ChainMoments {
  readonly draws: number;
  readonly means: Float64Array;
  readonly within: number;
}

export function chainMeans({ values, chains, draws }: Chains): Float64Array {
  const means = new Float64Array(chains);
  for (let c = 0; c < chains; c++) {
    let sum = 0;
    for (let i = c * draws; i < (c + 1) * draws; i++) sum += values[i];
    means[c] = sum / draws;
  }
  return means;
}

/** The moments of whole chains from those of their halves, which lie side by side. */
export function joinHalves({ draws, means: halves, within }: ChainMoments): ChainMoments {
  const means = new Float64Array(halves.length / 2);
  let between = 0;
  for (let c = 0; c < means.length; c++) {
    means[c] = (halves[2 * c] + halves[2 * c + 1]) / 2;
    between += (halves[2 * c] - halves[2 * c + 1]) ** 2 / 2;
  }
  const squares = 2 * (draws - 1) * within + (draws * between) / means.length;
  return { draws: 2 * draws, means, within: squares / (2 * draws - 1) };
}

export function meanOf(values: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i];
  return sum / values.length;
}

/** The variance over n - 1; NaN of fewer than two values. A mean that is known saves finding it. */
export function varianceOf(values: ArrayLike<number>, mean = meanOf(values)): number {
  let squares = 0;
  for (let i = 0; i < values.length; i++) squares += (values[i] - mean) * (values[i] - mean);
  return values.length < 2 ? Number.NaN : squares / (values.length - 1);
}
