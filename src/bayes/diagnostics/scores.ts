/** One sort of a scalar's draws, and all that follows from it: quantiles and the normal scores R-hat and ESS are made of. */
import type { Chains } from "../draws.js";
import { type Autocovariance, meanAutocovariance } from "./autocovariance.js";
import { type ChainMoments, splitChains } from "./chains.js";
import { foldSorted, normalScores, quantileOf, scoreMoments } from "./ranks.js";
import { sortWithOrder } from "./sort.js";

export interface ScoredChains {
  quantile(probability: number): number;
  /** Of split chains of the normal scores of the draws. */
  location(): Autocovariance;
  /** Of split chains of the normal scores of their distances from the median. */
  scale(): ChainMoments;
}

/** The draws must be finite. */
export function scoreChains(x: Chains): ScoredChains {
  const halves = splitChains(x);
  const sorted = sortWithOrder(halves.values);
  // The draw that splitting leaves out of an odd number counts for quantiles.
  const all = halves.values === x.values ? sorted.values : x.values.slice().sort();
  return {
    quantile: (probability) => quantileOf(all, probability),
    location: () => meanAutocovariance({ ...halves, values: normalScores(sorted) }),
    scale: () => scoreMoments(foldSorted(sorted, quantileOf(all, 0.5)), halves),
  };
}
