/**
 * The generalised Pareto distribution of what exceeds a threshold: its fit by Zhang and Stephens (2009), which is fast, always
 * defined and nearly as good as maximum likelihood, and Pareto smoothed importance sampling (Vehtari, Simpson, Gelman, Yao
 * and Gabry, 2024), which replaces the largest weights by what the fitted tail expects. PSIS-LOO calls this.
 */
import { meanOf } from "./chains.js";
import { checkNumbers } from "./check-numbers.js";
import { sortWithOrder } from "./sort.js";

interface ParetoFit {
  /** The shape: moments of order 1/k and higher do not exist. */
  readonly k: number;
  readonly sigma: number;
}

/** Fits the distribution of exceedances, ascending and not negative. @internal for tests: fits of known tails */
export function fitPareto(exceedances: Float64Array): ParetoFit {
  const n = exceedances.length;
  const points = 30 + Math.floor(Math.sqrt(n));
  const quarter = exceedances[Math.floor(n / 4 + 0.5) - 1];
  const shape = (theta: number) => meanOf(exceedances.map((x) => Math.log1p(-theta * x)));

  // The posterior mean of θ = -k/σ by a sum over a grid, under a prior made from the data.
  const thetas = Float64Array.from({ length: points }, (_, j) => {
    return 1 / exceedances[n - 1] + (1 - Math.sqrt(points / (j + 0.5))) / (3 * quarter);
  });
  const logWeights = thetas.map((theta) => {
    const k = shape(theta);
    return n * (Math.log(-theta / k) - k - 1);
  });
  const largest = Math.max(...logWeights);
  const weights = logWeights.map((weight) => Math.exp(weight - largest));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const theta = thetas.reduce((sum, value, j) => sum + value * (weights[j] / total), 0);
  const k = shape(theta);
  return { k, sigma: -k / theta };
}

/** The exceedance that a share p of exceedances is below. @internal for tests: inverse of the fit */
export function paretoQuantile(p: number, { k, sigma }: ParetoFit): number {
  const x = -Math.log1p(-p);
  return Math.abs(k) < 1e-12 ? sigma * x : (sigma * Math.expm1(k * x)) / k;
}

/** The logarithms of smoothed importance weights, which sum to 1, and the shape of their tail. */
export interface SmoothedWeights {
  readonly logWeights: Float64Array;
  /** Infinity where the tail is too short or too flat to fit. */
  readonly k: number;
}

/** `relativeEfficiency` is ESS over draws: correlated draws need a longer tail. */
export function smoothWeights(logRatios: Float64Array, relativeEfficiency = 1): SmoothedWeights {
  checkNumbers("smoothWeights", "logRatios", logRatios);
  const size = logRatios.length;
  const { values: sorted, order } = sortWithOrder(logRatios);
  const top = sorted[size - 1];
  const longest = Math.ceil(Math.min(0.2 * size, 3 * Math.sqrt(size / relativeEfficiency)));
  const cutoff = sorted[size - longest - 1];
  // Ties with the cutoff are no exceedances.
  let tail = longest;
  while (tail > 0 && sorted[size - tail] === cutoff) tail--;
  const logWeights = logRatios.map((value) => value - top);

  // Weights that are all equal have no tail.
  let k = sorted[0] === top ? 0 : Number.POSITIVE_INFINITY;
  if (tail >= 5) {
    const threshold = Math.exp(cutoff - top);
    const fit = fitPareto(sorted.subarray(size - tail).map((value) => Math.exp(value - top) - threshold));
    // Few points say little of k: ten more that say 0.5 keep it from wandering.
    const shrunk = (tail * fit.k + 10 * 0.5) / (tail + 10);
    if (Number.isFinite(shrunk)) {
      k = shrunk;
      for (let j = 0; j < tail; j++) {
        const expected = Math.log(paretoQuantile((j + 0.5) / tail, { k, sigma: fit.sigma }) + threshold);
        logWeights[order[size - tail + j]] = Math.min(expected, 0);
      }
    }
  }
  const normaliser = logSumExp(logWeights);
  return { logWeights: logWeights.map((weight) => weight - normaliser), k };
}

export function logSumExp(values: Float64Array): number {
  let largest = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < values.length; i++) largest = Math.max(largest, values[i]);
  if (!Number.isFinite(largest)) return largest;
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += Math.exp(values[i] - largest);
  return largest + Math.log(sum);
}
