/**
 * The autocovariance of the indicator x ≤ limit, which the effective sample sizes of quantiles are made of. An indicator is
 * 0 or 1, and of a tail's nearly all are the same: instead of multiplying all of them, count the pairs of the few others
 * by how far apart they are. The counts are whole numbers, so nothing is lost by not centring first.
 */
import type { Chains } from "../draws/draws.js";
import { type Autocovariance, meanAutocovariance } from "./autocovariance.js";

/** Pairs further apart are not counted: beyond, an FFT is faster. */
const FARTHEST = 128;
/** Pairs are counted up to this share of the draws; for more, products are faster. */
const FEW = 1 / 8;

export function indicatorAutocovariance(x: Chains, limit: number): Autocovariance {
  const share = countBelow(x.values, limit) / x.values.length;
  // 1 - indicator has the same covariance, so the side with fewer draws is counted.
  return Math.min(share, 1 - share) <= FEW ? fromPairs(x, limit, share <= FEW) : fromProducts(x, limit);
}

function fromProducts(x: Chains, limit: number): Autocovariance {
  return meanAutocovariance({ ...x, values: x.values.map((value) => (value <= limit ? 1 : 0)) });
}

function fromPairs(x: Chains, limit: number, isBelowFew: boolean): Autocovariance {
  const { chains, draws } = x;
  const counts = new Float64Array(chains);
  const pairs = new Float64Array(Math.min(FARTHEST, draws));
  // By position, the counts of the chains that have one there: what the products with the means sum up.
  const weights = new Float64Array(draws);
  const ones = new Uint32Array(draws);
  for (let c = 0; c < chains; c++) {
    const count = find(x, c, limit, isBelowFew, ones);
    counts[c] = count;
    for (let i = 0; i < count; i++) {
      weights[ones[i]] += count;
      for (let j = i; j < count && ones[j] - ones[i] < pairs.length; j++) pairs[ones[j] - ones[i]]++;
    }
  }
  const weightBefore = new Float64Array(draws + 1);
  for (let i = 0; i < draws; i++) weightBefore[i + 1] = weightBefore[i] + weights[i];
  const total = weightBefore[draws]; // Σ count²

  // Σ (x_i - m)(x_{i+t} - m) = pairs - m (those that have a draw t later, and those that have one t earlier) + (n - t) m².
  const near = (lag: number) => {
    const products = weightBefore[draws - lag] + (total - weightBefore[lag]);
    return (pairs[lag] - products / draws + ((draws - lag) * total) / draws / draws) / draws / chains;
  };
  let far: Autocovariance | undefined;
  return {
    chains,
    draws,
    means: counts.map((count) => (isBelowFew ? count : draws - count) / draws),
    at: (lag) => {
      if (lag < pairs.length) return near(lag);
      far ??= fromProducts(x, limit);
      return far.at(lag);
    },
  };
}

function countBelow(values: Float64Array, limit: number): number {
  let count = 0;
  for (let i = 0; i < values.length; i++) if (values[i] <= limit) count++;
  return count;
}

/** Writes where a chain's draws are on that side of the limit, and returns how many are. */
function find({ values, draws }: Chains, chain: number, limit: number, isBelow: boolean, into: Uint32Array): number {
  const start = chain * draws;
  let count = 0;
  for (let i = 0; i < draws; i++) if (values[start + i] <= limit === isBelow) into[count++] = i;
  return count;
}
