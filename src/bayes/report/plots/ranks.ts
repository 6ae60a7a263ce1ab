/**
 * Rank histograms (Vehtari et al. 2021): the ranks of a chain's draws among all. Chains that sample the same distribution
 * have flat ones; a slope is a chain elsewhere, a hump or a bowl one with another spread. A row per chain or group.
 */
import { SMALL } from "../../../plots/axes.js";
import { escapeText, pathElement, round, svg } from "../../../plots/svg.js";
import { allFinite } from "../../diagnostics/chains.js";
import { sortWithOrder } from "../../diagnostics/sort.js";
import type { Chains } from "../../draws/draws.js";
import { chainGroups } from "../chain-groups.js";

const BINS = 20;
const { width: WIDTH, height: HEIGHT } = SMALL;

export function rankPlot(name: string, x: Chains): string {
  const groups = chainGroups(x);
  const counts = rankCounts(
    x,
    groups.map(({ firstChain }) => firstChain),
  );
  const [left, top, row] = [10, 6, (HEIGHT - 28) / groups.length];
  const bar = (WIDTH - 2 * left) / BINS;
  const rows = counts.map((bins, k) => {
    const base = top + row * (k + 1);
    const { chains, draws } = groups[k].chains;
    const expected = (chains * draws) / BINS;
    // A row is twice the expected height, less a gap.
    const heights = Array.from(bins, (count) => Math.min(count / expected / 2, 1) * (row - 3));
    const bars = heights.map(
      (height, i) =>
        `M${round(left + i * bar + 0.5)} ${round(base)}v${round(-height)}h${round(bar - 1)}V${round(base)}Z`,
    );
    const middle = round(base - (row - 3) / 2);
    return (
      `<g><title>${escapeText(groups[k].label)}</title>${pathElement(bars.join(""), `bar c${k}`)}` +
      `<path class="expected" d="M${left} ${middle}H${WIDTH - left}"/></g>`
    );
  });
  const label = `<text class="label" x="${WIDTH / 2}" y="${HEIGHT - 4}">rank among all draws</text>`;
  return svg({ title: `Rank histograms of ${name}`, width: WIDTH, height: HEIGHT }, rows.join("") + label);
}

/**
 * The number of draws of each group with ranks in each bin. Draws that cannot be ranked are left out.
 * @internal for tests: numbers behind the plot
 */
export function rankCounts(x: Chains, firstChains: readonly number[]): Float64Array[] {
  const counts = firstChains.map(() => new Float64Array(BINS));
  const groupOf = Uint32Array.from({ length: x.chains }, (_, c) => firstChains.findLastIndex((first) => first <= c));
  const positions = allFinite(x.values) ? undefined : [...x.values.keys()].filter((i) => Number.isFinite(x.values[i]));
  const { order } = sortWithOrder(positions ? Float64Array.from(positions, (i) => x.values[i]) : x.values);
  for (let rank = 0; rank < order.length; rank++) {
    const position = positions ? positions[order[rank]] : order[rank];
    counts[groupOf[Math.floor(position / x.draws)]][Math.floor((rank * BINS) / order.length)]++;
  }
  return counts;
}
