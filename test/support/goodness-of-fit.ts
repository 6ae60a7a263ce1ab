/**
 * Whether numbers follow a distribution. Keys are fixed, so a test either always passes or never does; the limits are
 * those that a right generator stays within for all but about 1 of 1000 keys.
 */
import assert from "node:assert/strict";

/** Kolmogorov and Smirnov: the largest distance between the numbers' distribution function and the given one. */
export function expectDistribution(values: ArrayLike<number>, distribution: (x: number) => number, what: string): void {
  const sorted = Float64Array.from(values).sort();
  let largest = 0;
  sorted.forEach((x, i) => {
    const p = distribution(x);
    largest = Math.max(largest, Math.abs(p - i / sorted.length), Math.abs(p - (i + 1) / sorted.length));
  });
  const scaled = largest * Math.sqrt(sorted.length);
  assert.ok(scaled < 1.95, `${what}: the distance of distribution functions times √n is ${scaled}, not below 1.95`);
}

/** Pearson's χ² of counts against probabilities, as a z-score (Wilson and Hilferty). Rare cells are merged. */
export function expectFrequencies(counts: readonly number[], probabilities: readonly number[], what: string): void {
  const total = counts.reduce((sum, n) => sum + n, 0);
  let [statistic, cells, seen, expected] = [0, 0, 0, 0];
  counts.forEach((n, i) => {
    seen += n;
    expected += probabilities[i]! * total;
    if (expected < 10 && i < counts.length - 1) return;
    if (expected > 0) statistic += (seen - expected) ** 2 / expected;
    else assert.equal(seen, 0, `${what}: cell ${i} is impossible`);
    cells++;
    [seen, expected] = [0, 0];
  });
  const freedom = Math.max(1, cells - 1);
  const z = ((statistic / freedom) ** (1 / 3) - (1 - 2 / (9 * freedom))) / Math.sqrt(2 / (9 * freedom));
  assert.ok(z < 3.3, `${what}: χ² of ${statistic.toFixed(1)} with ${freedom} degrees of freedom, z = ${z.toFixed(2)}`);
}

/** Mean and variance against the exact ones, in standard errors. `kurtosis` is the fourth central moment / variance². */
export function expectMoments(
  values: ArrayLike<number>,
  { mean, variance, kurtosis }: { readonly mean: number; readonly variance: number; readonly kurtosis: number },
  what: string,
): void {
  const n = values.length;
  let [sum, squares] = [0, 0];
  for (let i = 0; i < n; i++) {
    sum += values[i]! - mean;
    squares += (values[i]! - mean) ** 2;
  }
  const zMean = sum / n / Math.sqrt(variance / n);
  const zVariance = (squares / n / variance - 1) / Math.sqrt((kurtosis - 1) / n);
  assert.ok(Math.abs(zMean) < 4, `${what}: the mean is ${mean + sum / n}, not ${mean}: z = ${zMean.toFixed(2)}`);
  assert.ok(Math.abs(zVariance) < 4, `${what}: variance ${squares / n}, not ${variance}: z = ${zVariance.toFixed(2)}`);
}

/** erf by its series, which is exact to rounding below 6. */
export function erf(x: number): number {
  if (Math.abs(x) > 6) return Math.sign(x);
  let term = x;
  let total = x;
  for (let n = 1; Math.abs(term) > 1e-18 * Math.abs(total); n++) {
    term *= (2 * x * x) / (2 * n + 1);
    total += term;
  }
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * total;
}

export const normalDistribution = (x: number): number => (1 + erf(x / Math.SQRT2)) / 2;
