/**
 * The search for the best tiling of a product: which candidates are timed, how often, and which one wins. It times nothing
 * itself, so it is tested without a device.
 */
import type { TileProfile } from "../../compiler/target/tile-profile.js";
import { allCandidates } from "../../compiler/tiles/candidates.js";
import { planProduct } from "../../compiler/tiles/plan.js";
import { describeTiling, type ProductShape, shapeClass, type Tiling } from "../../compiler/tiles/product-shape.js";

/** The result of a search for a class of products. */
export interface Finding {
  /** The class, as text. */
  readonly products: string;
  /** The best tiling, and the one that was used before: by rule, or by a table or an earlier search. */
  readonly tiling: string;
  readonly before: string;
  readonly milliseconds: number;
  readonly millisecondsBefore: number;
  /** Tilings that were timed. */
  readonly tried: number;
}

/** One sample of the time of a tiling, in milliseconds; null where it does not run. */
type Sample = (tiling: Tiling) => number | null;

/** Candidates that are timed, the most promising by estimate. */
const MOST_CANDIDATES = 32;
/** Candidates of the last rounds: no slower in the first one than this, and at most so many. */
const NEAR = 1.25;
const MOST_FINALISTS = 6;
const LAST_ROUNDS = 5;
/** A tiling replaces the one before only if it gains more than repeats differ. */
const GAIN = 0.98;

/** Null where there is nothing to choose, as for a product too small for tiles, or the device cannot run even what it uses now. */
export function searchTiling(shape: ProductShape, profile: TileProfile, sample: Sample): Finding | null {
  const present = planProduct(shape, profile);
  if (!present) return null;
  const nameOf = (tiling: Tiling) => describeTiling(tiling, shape.k);
  const before = nameOf(present);
  const candidates = new Map<string, Tiling>([[before, present]]);
  for (const each of allCandidates(shape, profile)) {
    if (candidates.size < MOST_CANDIDATES) candidates.set(nameOf(each), each);
  }
  if (candidates.size < 2) return null;
  const samples = new Map<string, number[]>();
  for (const [name, tiling] of candidates) {
    const time = sample(tiling);
    if (time !== null) samples.set(name, [time]);
  }
  if (!samples.has(before)) return null;
  const finalists = finalistsOf(samples, before);
  // In turns: a clock that sinks meanwhile meets all of them.
  for (let round = 0; round < LAST_ROUNDS; round++) {
    for (const name of finalists) {
      const time = sample(candidates.get(name) as Tiling);
      if (time !== null) samples.get(name)?.push(time);
    }
  }
  const timeOf = (name: string) => median(samples.get(name) as number[]);
  const best = finalists.reduce((x, y) => (timeOf(y) < timeOf(x) ? y : x));
  const tiling = timeOf(best) < GAIN * timeOf(before) ? best : before;
  return {
    products: shapeClass(shape),
    tiling,
    before,
    milliseconds: timeOf(tiling),
    millisecondsBefore: timeOf(before),
    tried: samples.size,
  };
}

/** The fastest of the first round, and the present one. */
function finalistsOf(samples: ReadonlyMap<string, readonly number[]>, before: string): string[] {
  const ordered = [...samples].map(([name, [time]]) => ({ name, time })).sort((x, y) => x.time - y.time);
  const near = ordered.filter(({ time }) => time <= NEAR * ordered[0].time).slice(0, MOST_FINALISTS);
  return [...new Set([before, ...near.map(({ name }) => name)])];
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((x, y) => x - y);
  return sorted[sorted.length >> 1];
}
