/** What every diagnostic does first with the chains of a scalar: halve them, reduce each, see whether they vary at all. */
import type { Chains } from "../draws.js";

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

/** The mean and the variance (over n - 1) of every chain. */
export function chainMoments({ values, chains, draws }: Chains): { means: Float64Array; variances: Float64Array } {
  const means = new Float64Array(chains);
  const variances = new Float64Array(chains);
  for (let c = 0; c < chains; c++) {
    const [start, end] = [c * draws, (c + 1) * draws];
    let sum = 0;
    for (let i = start; i < end; i++) sum += values[i];
    const mean = sum / draws;
    let squares = 0;
    for (let i = start; i < end; i++) squares += (values[i] - mean) * (values[i] - mean);
    means[c] = mean;
    variances[c] = squares / (draws - 1);
  }
  return { means, variances };
}

export function meanOf(values: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i];
  return sum / values.length;
}

/** The variance over n - 1; NaN of fewer than two values. */
export function varianceOf(values: ArrayLike<number>): number {
  const mean = meanOf(values);
  let squares = 0;
  for (let i = 0; i < values.length; i++) squares += (values[i] - mean) * (values[i] - mean);
  return values.length < 2 ? Number.NaN : squares / (values.length - 1);
}
