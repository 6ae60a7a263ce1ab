/**
 * The draws in the order they came. A few chains are lines; of many, the spread over all chains at each time is shown with a
 * few of them, which tells at a glance whether they have settled. Divergences are marks at the foot.
 */
import { plot } from "../../../plots/axes.js";
import { padded, type Scale } from "../../../plots/scales.js";
import { bandPath, linePath, pathElement } from "../../../plots/svg.js";
import { spread } from "../../../plots/thinning.js";
import type { Chains } from "../../draws/draws.js";
import { MOST_GROUPS, shownRange } from "../chain-groups.js";

/** Beyond this many points a line is drawn by the extremes of each bin. */
const BINS = 220;
/** Chains drawn on top of the spread of many. */
const EXAMPLES = 3;

export function tracePlot(name: string, x: Chains, divergent?: Float64Array): string {
  const isMany = x.chains > MOST_GROUPS;
  return plot({
    title: `Trace of ${name}`,
    width: 980,
    height: 200,
    x: [0, Math.max(x.draws - 1, 1)],
    y: padded(shownRange(x.values)),
    xLabel: "draw",
    draw: (toX, toY, { bottom }) => {
      const shown = isMany ? EXAMPLES : x.chains;
      const lines = Array.from({ length: shown }, (_, c) => {
        const path = linePath(extremes(chainOf(x, c)).map(([i, value]) => [toX(i), toY(value)]));
        return pathElement(path, `line thin c${c}`);
      });
      const marks = divergent ? divergenceMarks(divergent, x.draws, toX, bottom) : "";
      return (isMany ? spreadOverChains(x, toX, toY) : "") + lines.join("") + marks;
    },
  });
}

function chainOf(x: Chains, chain: number): Float64Array {
  return x.values.subarray(chain * x.draws, (chain + 1) * x.draws);
}

/** Position and value of all draws, or of the smallest and largest of each bin, in the order they came. @internal for tests: numbers behind the plot */
export function extremes(chain: Float64Array): [index: number, value: number][] {
  if (chain.length <= 2 * BINS) return Array.from(chain, (value, i) => [i, value]);
  const result: [number, number][] = [];
  for (let bin = 0; bin < BINS; bin++) {
    const start = Math.floor((bin * chain.length) / BINS);
    const end = Math.floor(((bin + 1) * chain.length) / BINS);
    let [low, high] = [start, start];
    for (let i = start; i < end; i++) {
      if (chain[i] < chain[low]) low = i;
      if (chain[i] > chain[high]) high = i;
    }
    for (const i of low < high ? [low, high] : [high, low]) result.push([i, chain[i]]);
  }
  return result;
}

/** Bands that hold half and nine tenths of the chains at each time, and their median. */
function spreadOverChains(x: Chains, toX: Scale, toY: Scale): string {
  const bins = Math.min(x.draws, 120);
  const chains = spread(
    Array.from({ length: x.chains }, (_, c) => c),
    800,
  );
  const columns = Array.from({ length: bins }, (_, bin) => {
    const start = Math.floor((bin * x.draws) / bins);
    const end = Math.floor(((bin + 1) * x.draws) / bins);
    const values = chains.flatMap((c) => [...x.values.subarray(c * x.draws + start, c * x.draws + end)]);
    const sorted = Float64Array.from(values).filter(Number.isFinite).sort();
    const at = (p: number) => toY(sorted[Math.round(p * (sorted.length - 1))]);
    return {
      x: toX((start + end - 1) / 2),
      q5: at(0.05),
      q25: at(0.25),
      q50: at(0.5),
      q75: at(0.75),
      q95: at(0.95),
    };
  }).filter(({ q50 }) => Number.isFinite(q50));
  const of = (key: "x" | "q5" | "q25" | "q50" | "q75" | "q95") => columns.map((column) => column[key]);
  return (
    pathElement(bandPath(of("x"), of("q5"), of("q95")), "band light") +
    pathElement(bandPath(of("x"), of("q25"), of("q75")), "band") +
    pathElement(linePath(columns.map((column) => [column.x, column.q50])), "line strong")
  );
}

/** A mark wherever a chain diverged. */
function divergenceMarks(divergent: Float64Array, draws: number, toX: Scale, bottom: number): string {
  const times = new Set<number>();
  divergent.forEach((value, i) => {
    if (value) times.add(i % draws);
  });
  const path = spread(
    [...times].sort((a, b) => a - b),
    400,
  ).map((i) => `M${Math.round(toX(i))} ${bottom}v-7`);
  return pathElement(path.join(""), "divergence");
}
