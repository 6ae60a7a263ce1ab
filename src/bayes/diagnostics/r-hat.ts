/**
 * R-hat: do the chains agree? It compares the spread between chains with that within them; 1 is agreement. Rank-normalised
 * and split, the larger of the value for location and for scale (Vehtari et al. 2021), as in Stan's posterior package.
 * Nested R-hat asks the same of superchains, groups of chains that started at one point (Margossian et al. 2024): with many
 * short chains, plain R-hat stays above 1 for want of draws in each, though together they have plenty.
 */
import { ArgumentError } from "../../core/errors.js";
import type { Chains } from "../draws/draws.js";
import { momentsOf } from "./autocovariance.js";
import { allFinite, type ChainMoments, checkChains, isConstant, meanOf, varianceOf } from "./chains.js";
import { foldSorted, quantileOf, scoreMoments } from "./ranks.js";
import { scoreChains } from "./scores.js";
import { sortWithOrder } from "./sort.js";

/** NaN for a constant, for draws that are not finite, and for fewer than 4 per chain. */
export function rHat(x: Chains): number {
  checkChains("rHat", x);
  if (x.draws < 4 || isConstant(x.values) || !allFinite(x.values)) return Number.NaN;
  const scored = scoreChains(x);
  return larger(rHatOfHalves(momentsOf(scored.location())), rHatOfHalves(scored.scale()));
}

/** `superchains` is how many groups of consecutive chains there are. */
export function nestedRHat(x: Chains, superchains: number): number {
  checkChains("nestedRHat", x);
  if (!(superchains >= 2 && x.chains % superchains === 0)) {
    throw new ArgumentError(
      `nestedRHat: ${x.chains} chains cannot be ${superchains} superchains; give a number of at least 2 that divides them.`,
    );
  }
  if (isConstant(x.values) || !allFinite(x.values)) return Number.NaN;
  const sorted = sortWithOrder(x.values);
  const folded = foldSorted(sorted, quantileOf(sorted.values, 0.5));
  return larger(nestedRatio(scoreMoments(sorted, x), superchains), nestedRatio(scoreMoments(folded, x), superchains));
}

/**
 * The larger of the R-hats of location and of scale. Chains that stand still at two points are as far from the median all of them, so
 * nothing is known of their scale; of their location it is: it could not differ more.
 */
export function larger(location: number, scale: number): number {
  return Number.isNaN(scale) ? location : Math.max(location, scale);
}

/** The square root of total over within variance, of chains that are split and scored already. */
export function rHatOfHalves({ draws, means, within }: ChainMoments): number {
  return Math.sqrt((draws - 1) / draws + varianceOf(means) / within);
}

/** Nested R-hat of values as they are: the paper's √(1 + B/W) over superchains. */
export function nestedRatio({ draws, means, within }: ChainMoments, superchains: number): number {
  const size = means.length / superchains;
  const centres = new Float64Array(superchains);
  let inside = draws > 1 ? within : 0;
  for (let k = 0; k < superchains; k++) {
    const group = means.subarray(k * size, (k + 1) * size);
    centres[k] = meanOf(group);
    if (size > 1) inside += varianceOf(group) / superchains;
  }
  return Math.sqrt(1 + varianceOf(centres) / inside);
}
