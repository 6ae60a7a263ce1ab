/**
 * Groups of chains for one picture: up to eight chains are shown each by itself, more as eight groups of neighbours. The plots
 * draw a line, a row or a curve per group.
 */
import { spread } from "../../plots/thinning.js";
import type { Chains } from "../draws/draws.js";

interface ChainGroup {
  /** "chain 3" or "chains 0 to 511". */
  readonly label: string;
  readonly firstChain: number;
  readonly chains: Chains;
}

/** As many as there are colours to tell them apart. */
export const MOST_GROUPS = 8;

export function chainGroups(x: Chains): ChainGroup[] {
  const count = Math.min(x.chains, MOST_GROUPS);
  return Array.from({ length: count }, (_, k) => {
    const first = Math.floor((k * x.chains) / count);
    const end = Math.floor(((k + 1) * x.chains) / count);
    return {
      label: end === first + 1 ? `chain ${first}` : `chains ${first} to ${end - 1}`,
      firstChain: first,
      chains: { values: x.values.subarray(first * x.draws, end * x.draws), chains: end - first, draws: x.draws },
    };
  });
}

/** The range that plots show: all of it, unless a few draws in the far tails would squeeze the rest. */
export function shownRange(values: Float64Array): readonly [number, number] {
  const sorted = Float64Array.from(spread(values, 20_000)).filter(Number.isFinite).sort();
  if (sorted.length === 0) return [0, 1];
  const at = (p: number) => sorted[Math.round(p * (sorted.length - 1))];
  const [low, high] = [at(0.002), at(0.998)];
  const room = high - low;
  const isWide = at(1) - at(0) > 4 * room && room > 0;
  return isWide ? [low - room / 4, high + room / 4] : [at(0), at(1)];
}
