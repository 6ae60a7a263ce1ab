/** One sort of a scalar's draws, and all that follows from it: quantiles and the normal scores R-hat and ESS are made of. */
import type { Chains } from "../draws/draws.js";
import { type Autocovariance, meanAutocovariance } from "./autocovariance.js";
import { type ChainMoments, splitChains } from "./chains.js";
import { foldSorted, normalScores, quantileOf, scoreMoments } from "./ranks.js";
import { type SortMemory, sortMemory, sortWithOrder } from "./sort.js";

interface ScoredChains {
  quantile(probability: number): number;
  /** Of split chains of the normal scores of the draws. */
  location(): Autocovariance;
  /** Of split chains of the normal scores of their distances from the median. */
  scale(): ChainMoments;
}

/** Arrays that scalars of as many draws can use one after the other: fresh memory is slow, and keeps the collector busy. */
export interface ScoringMemory {
  readonly sort: SortMemory;
  readonly scores: Float64Array;
}

export function scoringMemory({ chains, draws }: Omit<Chains, "values">): ScoringMemory {
  const size = chains * (draws - (draws % 2));
  return { sort: sortMemory(size), scores: new Float64Array(size) };
}

/** The draws must be finite. What it returns is good until the memory is used again. */
export function scoreChains(x: Chains, memory = scoringMemory(x)): ScoredChains {
  const { sort, scores } = memory;
  const halves = splitChains(x);
  const sorted = sortWithOrder(halves.values, sort);
  // The draw that splitting leaves out of an odd number counts for quantiles.
  const all = halves.values === x.values ? sorted.values : x.values.slice().sort();
  return {
    quantile: (probability) => quantileOf(all, probability),
    location: () => meanAutocovariance({ ...halves, values: normalScores(sorted, scores) }),
    scale: () => scoreMoments(foldSorted(sorted, quantileOf(all, 0.5), sort.binned), halves),
  };
}
