/**
 * Quantiles, ranks and normal scores: what makes R-hat and ESS indifferent to the scale and the tails of a variable (Vehtari
 * et al. 2021). A variable is sorted once; its quantiles, its scores and those of its distance from the median all
 * come from that order.
 */

import { normalQuantile } from "../../core/normal-quantile.js";
import type { Chains } from "../draws/draws.js";
import type { ChainMoments } from "./chains.js";
import { newSorted, type Sorted } from "./sort.js";

/** A quantile of sorted values, interpolated as NumPy and R do by default. */
export function quantileOf(sorted: Float64Array, probability: number): number {
  const at = (sorted.length - 1) * probability;
  // A position that should be whole may miss by rounding; without this an order statistic would be missed by an ulp.
  const nearest = Math.round(at);
  if (Math.abs(at - nearest) <= 4 * Number.EPSILON * Math.max(1, at)) return sorted[nearest];
  const below = sorted[Math.floor(at)];
  const above = sorted[Math.ceil(at)];
  return below === above ? below : below + (above - below) * (at - Math.floor(at));
}

let latest: { readonly size: number; readonly scores: Float64Array } = { size: 0, scores: new Float64Array(0) };

/** Blom's normal score of a rank counted from 1; halves are ranks of ties. */
function normalScore(rank: number, size: number): number {
  return normalQuantile((rank - 0.375) / (size + 0.25));
}

/** The scores of the ranks 1 to size. The latest are kept: all variables of a model have the same number of draws. */
function scoresOfRanks(size: number): Float64Array {
  if (latest.size !== size) {
    const scores = new Float64Array(size);
    for (let i = 0; i < size - 1 - i; i++) {
      scores[i] = normalScore(i + 1, size);
      scores[size - 1 - i] = -scores[i];
    }
    latest = { size, scores };
  }
  return latest.scores;
}

/** The end of the values that equal the one at `start`. */
function endOfTie(values: Float64Array, start: number): number {
  let end = start + 1;
  while (end < values.length && values[end] === values[start]) end++;
  return end;
}

/** The normal scores of the values, at the positions they came from. Equal ones share that of the mean of their ranks. */
export function normalScores(
  { values, order }: Sorted,
  into: Float64Array = new Float64Array(values.length),
): Float64Array {
  const scores = scoresOfRanks(values.length);
  for (let start = 0; start < values.length; ) {
    const end = endOfTie(values, start);
    const score = end === start + 1 ? scores[start] : normalScore((start + 1 + end) / 2, values.length);
    for (let i = start; i < end; i++) into[order[i]] = score;
    start = end;
  }
  return into;
}

/** The moments of chains of such scores. Summed in the order of the ranks, they need not be put in that of the draws. */
export function scoreMoments({ values, order }: Sorted, { chains, draws }: Omit<Chains, "values">): ChainMoments {
  const scores = scoresOfRanks(values.length);
  const means = new Float64Array(chains);
  const squares = new Float64Array(chains);
  // A product is faster than a quotient; the half keeps its rounding out of the next chain.
  const perDraw = 1 / draws;
  for (let start = 0; start < values.length; ) {
    const end = endOfTie(values, start);
    const score = end === start + 1 ? scores[start] : normalScore((start + 1 + end) / 2, values.length);
    for (let i = start; i < end; i++) {
      const chain = Math.floor((order[i] + 0.5) * perDraw);
      means[chain] += score;
      squares[chain] += score * score;
    }
    start = end;
  }
  let total = 0;
  for (let c = 0; c < chains; c++) {
    means[c] /= draws;
    // Scores are of size 1, so the difference loses next to nothing; but of a chain that never moves it may be negative.
    total += Math.max(squares[c] - draws * means[c] * means[c], 0);
  }
  return { draws, means, within: total / (draws - 1) / chains };
}

/** The distances from a centre, sorted: from the outside in, so that neither side comes to an end before the other. */
export function foldSorted({ values, order }: Sorted, centre: number, folded = newSorted(values.length)): Sorted {
  let low = 0;
  let high = values.length - 1;
  for (let i = high; i >= 0; i--) {
    const left = centre - values[low];
    const right = values[high] - centre;
    folded.values[i] = Math.max(left, right);
    folded.order[i] = left > right ? order[low++] : order[high--];
  }
  return folded;
}
