/** The summary of one scalar. All its diagnostics come from one sort of its draws. */
import type { Chains } from "../draws/draws.js";
import { momentsOf } from "./autocovariance.js";
import { allFinite, type ChainMoments, isConstant, joinHalves, meanOf, varianceOf } from "./chains.js";
import { essBelow, essMean, essOf } from "./effective-sample-size.js";
import { larger, nestedRatio, nestedRHat, rHatOfHalves } from "./r-hat.js";
import { scoreChains, scoringMemory } from "./scores.js";

/** A row of the summary. Diagnostics are NaN where there is nothing to say, as of a constant. */
export interface SummaryRow {
  readonly name: string;
  readonly mean: number;
  readonly sd: number;
  /** The Monte Carlo standard error of the mean. */
  readonly mcseMean: number;
  readonly q5: number;
  readonly median: number;
  readonly q95: number;
  readonly essBulk: number;
  readonly essTail: number;
  readonly rHat: number;
  /** Present if the draws have superchains. */
  readonly nestedRHat?: number;
}

/** The diagnostics of one scalar. */
export function summarizeScalar(name: string, x: Chains, superchains = 1, memory = scoringMemory(x)): SummaryRow {
  const mean = meanOf(x.values);
  const sd = Math.sqrt(varianceOf(x.values, mean));
  const nested = superchains > 1 && { nestedRHat: Number.NaN };
  const unknown = { essBulk: Number.NaN, essTail: Number.NaN, rHat: Number.NaN, mcseMean: Number.NaN, ...nested };
  // A finite sum has finite terms; that of huge ones may not be finite.
  if (x.values.length === 0 || !(Number.isFinite(mean) || allFinite(x.values))) {
    return { name, mean, sd, q5: Number.NaN, median: Number.NaN, q95: Number.NaN, ...unknown };
  }
  const scored = scoreChains(x, memory);
  const [q5, median, q95] = [0.05, 0.5, 0.95].map(scored.quantile);
  const row = { name, mean, sd, q5, median, q95 };
  if (isConstant(x.values)) return { ...row, sd: 0, ...unknown };

  const bulk = scored.location();
  const [location, scale] = [momentsOf(bulk), scored.scale()];
  return {
    ...row,
    mcseMean: sd / Math.sqrt(essMean(x)),
    essBulk: essOf(bulk),
    essTail: Math.min(essBelow(x, q5), essBelow(x, q95)),
    rHat: x.draws < 4 ? Number.NaN : larger(rHatOfHalves(location), rHatOfHalves(scale)),
    ...(nested && {
      nestedRHat: x.draws % 2 ? nestedRHat(x, superchains) : nestedOfHalves(location, scale, superchains),
    }),
  };
}

/** Nested R-hat from moments that are there already: halves side by side are whole chains again. */
function nestedOfHalves(location: ChainMoments, scale: ChainMoments, superchains: number): number {
  return larger(nestedRatio(joinHalves(location), superchains), nestedRatio(joinHalves(scale), superchains));
}
