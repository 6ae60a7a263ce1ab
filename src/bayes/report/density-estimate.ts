/**
 * A kernel density estimate for the plots: draws binned on a grid, smoothed by a Gaussian of Silverman's width, mirrored at
 * the ends of the data so that a density that stops at 0 does not seem to leak below it.
 */
import { quantileOf } from "../diagnostics/ranks.js";

interface DensityEstimate {
  readonly x: readonly number[];
  readonly density: readonly number[];
}

const POINTS = 160;

/** The density over a range, scaled by the share of the values that are in it. */
export function estimateDensity(values: Float64Array, [low, high]: readonly [number, number]): DensityEstimate {
  const inside = values.filter((value) => value >= low && value <= high);
  const step = (high - low) / (POINTS - 1);
  const x = Array.from({ length: POINTS }, (_, i) => low + i * step);
  if (inside.length < 2 || !(step > 0)) return { x, density: x.map(() => 0) };

  const bins = new Float64Array(POINTS);
  for (const value of inside) {
    const at = Math.min((value - low) / step, POINTS - 1);
    const left = Math.min(Math.floor(at), POINTS - 2);
    bins[left] += left + 1 - at;
    bins[left + 1] += at - left;
  }
  const width = Math.max(bandwidth(inside) / step, 0.6);
  const reach = Math.min(Math.ceil(4 * width), POINTS - 1);
  const kernel = Array.from({ length: reach + 1 }, (_, d) => Math.exp(-0.5 * (d / width) ** 2));
  const total = kernel[0] + 2 * kernel.slice(1).reduce((sum, weight) => sum + weight, 0);
  const first = bins.findIndex((count) => count > 0);
  const last = bins.findLastIndex((count) => count > 0);
  const density = new Array<number>(POINTS).fill(0);
  for (let i = first; i <= last; i++) {
    for (let d = -reach; d <= reach; d++) {
      const weight = bins[i] * kernel[Math.abs(d)];
      const to = mirrored(i + d, first, last);
      if (to >= first && to <= last) density[to] += weight / (total * step * values.length);
    }
  }
  return { x, density };
}

function mirrored(i: number, first: number, last: number): number {
  if (i < first) return 2 * first - i - 1;
  return i > last ? 2 * last - i + 1 : i;
}

/** Silverman's rule, of the smaller of the two measures of spread. */
function bandwidth(values: Float64Array): number {
  const sorted = values.slice().sort();
  const mean = sorted.reduce((sum, value) => sum + value, 0) / sorted.length;
  const sd = Math.sqrt(sorted.reduce((sum, value) => sum + (value - mean) ** 2, 0) / sorted.length);
  const quartiles = (quantileOf(sorted, 0.75) - quantileOf(sorted, 0.25)) / 1.34;
  return 0.9 * (quartiles > 0 ? Math.min(sd, quartiles) : sd) * sorted.length ** -0.2;
}
