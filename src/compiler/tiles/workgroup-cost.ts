/**
 * Estimated times of products in the tiles of workgroups (shared and matrix tiles), in cycles. The constants come from the
 * table of the device's family (families.ts).
 */
import type { MatrixTile, SharedTile } from "../target/tile-profile.js";
import type { FamilyCosts } from "./families.js";
import type { Candidate, ProductShape } from "./product-shape.js";
import { halfOfTiles } from "./symmetric-product.js";

export interface TileVariant<T extends SharedTile | MatrixTile> {
  readonly tile: T;
  /** Share of the peak arithmetic rate on large products. */
  readonly efficiency: number;
  /** Workgroups that a multiprocessor holds at once. */
  readonly resident: number;
  /** See `Candidate`. */
  readonly isKnown: boolean;
}

/** The facts besides the product that an estimate needs: multiprocessors, their rate, the bytes of a sum. */
interface CostContext {
  readonly units: number;
  /** Multiply-adds of a multiprocessor per cycle. */
  readonly perCycle: number;
  readonly bytes: number;
  readonly costs: FamilyCosts;
}

/** Least length and largest number of the parts of a split summation. */
const LEAST_PART = 48;
const MOST_PARTS = 512;
/** From this length of a part on, waiting inside the loop decides, not what comes before and after it. */
const LONG_PART = 1024;
/** Workgroups per multiprocessor for which numbers of parts are tried, beside the number that the estimate prefers. */
const WAVES = [1, 2, 4];

/**
 * A tile with the number of parts that should take the least time, and, where `isSearch`, with others as well: those that
 * give each multiprocessor one, two or four workgroups, and none.
 */
export function candidatesIn<T extends SharedTile | MatrixTile>(
  shape: ProductShape,
  variant: TileVariant<T>,
  context: CostContext,
  isSearch: boolean,
): Candidate[] {
  const { k } = shape;
  const { depth } = variant.tile;
  const found = new Map<number, Candidate>();
  // Parts are whole steps, so there may be fewer of them than wanted.
  const lengthOf = (wanted: number) => (wanted === 1 ? k : Math.ceil(k / wanted / depth) * depth);
  const partsOf = (wanted: number) => Math.ceil(k / lengthOf(wanted));
  const consider = (wanted: number) => {
    const length = lengthOf(wanted);
    const parts = partsOf(wanted);
    if (found.has(parts)) return;
    const estimate = cyclesOf(shape, variant, length, context);
    found.set(parts, { tile: variant.tile, length, estimate, isKnown: variant.isKnown });
  };
  const most = Math.max(1, Math.min(MOST_PARTS, Math.floor(k / LEAST_PART)));
  for (let wanted = 1; wanted <= most; wanted++) consider(wanted);
  const best = [...found.values()].reduce((x, y) => (y.estimate < x.estimate ? y : x));
  if (!isSearch) return [best];
  const tiles = tilesOf(shape, variant.tile);
  const tried = WAVES.map((waves) => Math.floor((waves * context.units) / tiles)).filter((parts) => parts > 1);
  const others = [1, ...tried].flatMap((parts) => found.get(partsOf(Math.min(parts, most))) ?? []);
  return [...new Set([best, ...others])];
}

/** The tiles of a product that are computed. */
function tilesOf({ batch, m, n }: ProductShape, tile: SharedTile | MatrixTile): number {
  const [down, aside] = [Math.ceil(m / tile.rows), Math.ceil(n / tile.columns)];
  return batch * (tile.kind === "shared" && tile.isHalf ? halfOfTiles(down) : down * aside);
}

function cyclesOf<T extends SharedTile | MatrixTile>(
  shape: ProductShape,
  { tile, efficiency, resident }: TileVariant<T>,
  length: number,
  { units, perCycle, bytes, costs }: CostContext,
): number {
  const { batch, m, n, k } = shape;
  const { rows, columns, depth } = tile;
  const parts = Math.ceil(k / length);
  const groups = tilesOf(shape, tile) * parts;
  const residentGroups = Math.min(resident, Math.ceil(groups / units));
  const full = groups / (units * residentGroups);
  const waves = Math.max(1, full + costs.raggedWave * (Math.ceil(full) - full));
  const steps = Math.ceil(length / depth) + 2;
  // 128×262144 by 262144×128 on an H200: 33 TFLOP/s in 128 parts, 40 in 256. Measured for long sums only.
  const share = parts > 1 && length >= LONG_PART ? (residentGroups / resident) ** costs.residency : 1;
  const work = (residentGroups * rows * columns * depth) / (perCycle * efficiency * share);
  const isRagged = parts * length !== k || length % depth !== 0;
  const step = Math.max(costs.latency, work) * (isRagged ? costs.raggedPart : 1);
  const adding = parts === 1 ? 0 : costs.splitCycles + (batch * m * n * (parts + 1) * bytes) / costs.bytesPerCycle;
  return waves * steps * step + adding;
}
