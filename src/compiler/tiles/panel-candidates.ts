/** Candidates for products on a CPU: tiles of panels that a thread packs for its vectors and caches (panel-product.ts). */

import { wideBytes } from "../target/shared-tile.js";
import type { TileProfile } from "../target/tile-profile.js";
import type { Candidate, ProductShape } from "./product-shape.js";
import { halfOfTiles } from "./symmetric-product.js";

/** Most rows, columns and depth of a tile, and most numbers in its operands and sums: 320 KiB of a core's cache. */
const PANEL_SIDE = 256;
const PANEL_DEPTH = 256;
const PANEL_NUMBERS = 80 << 10;
const LEAST_SIDE = 16;
/** A part of a split summation is at least this long, and there are at most so many. */
const LEAST_PART = 512;
const MOST_PARTS = 512;
/** Slowdown where the last part is shorter than the others: every load tests for its end. */
const RAGGED_PART = 1.25;

// Costs in multiply-adds of 0.06 ns, as measured on a Zen 4.
/** Copying a number into a panel: less for a plain matrix, more for windows. */
const COPY = 10;
/** Storing a partial sum and loading it again. */
const PARTIAL_SUM = 6;
/** Adding the sums of a split summation: storing and loading each; and starting the kernel. */
const ADD_PART = 6;
const START_ADDING = 400_000;
/** The share of a tile's time that threads wait for the last one. */
const WAIT = 0.25;

interface Micro {
  readonly rows: number;
  readonly vectors: number;
  /** Time of a multiply-add relative to the best one. */
  readonly slowness: number;
}

/** Sums in registers at a time: rows of vectors. Four numbers of 8 bytes take two registers. */
const MICRO = {
  bits32: [
    { rows: 4, vectors: 2, slowness: 1 },
    { rows: 3, vectors: 2, slowness: 1.2 },
  ],
  f64: [{ rows: 4, vectors: 1, slowness: 1 }],
  integers64: [{ rows: 2, vectors: 4, slowness: 1 }],
} as const satisfies Readonly<Record<string, readonly Micro[]>>;

/**
 * The extent of equal tiles that cover an axis with the least overlap: between half of `most` and all of it. One tile is the whole axis, several
 * are whole steps.
 */
function even(extent: number, most: number, step: number): number {
  let best = extent;
  let least = Number.POSITIVE_INFINITY;
  for (let count = Math.ceil(extent / most); count <= Math.ceil((2 * extent) / most); count++) {
    const each = whole(extent / count, step);
    if ((count > 1 && each > extent) || count * each >= least) continue;
    least = count * each;
    best = Math.min(each, extent);
  }
  return best;
}

const whole = (extent: number, step: number): number => Math.ceil(extent / step) * step;

/** Candidate extents of tiles: PANEL_SIDE, half of it, and so on, each evened out over the axis. */
function sides(extent: number, step: number): ReadonlySet<number> {
  const found = new Set<number>();
  for (let most = PANEL_SIDE; most >= Math.max(LEAST_SIDE, step); most /= 2) found.add(even(extent, most, step));
  return found;
}

/** The candidates of a product: every tile with each number of parts. */
export function panelCandidates(shape: ProductShape, { units }: TileProfile): Candidate[] {
  const { batch, m, n, k, dtype, isSymmetric } = shape;
  // 64-bit integers have no vectors.
  const kind = wideBytes(dtype) === 4 ? "bits32" : dtype === "f64" ? "f64" : "integers64";
  const lanes = kind === "integers64" ? 1 : 4;
  const found: Candidate[] = [];
  const consider = (rows: number, columns: number, { rows: microRows, vectors, slowness }: Micro, parts: number) => {
    const length = Math.ceil(k / parts);
    const room = Math.floor((PANEL_NUMBERS - rows * columns) / (rows + columns));
    const most = Math.min(PANEL_DEPTH, room);
    const depth = length <= most ? length : even(length, most, 4);
    const isHalf = isSymmetric === true && rows === columns;
    const down = Math.ceil(m / rows);
    const count = batch * parts * (isHalf ? halfOfTiles(down) : down * Math.ceil(n / columns));
    const copying = COPY * (rows + columns) * length * (parts * length === k ? 1 : RAGGED_PART);
    // Of the `down` tiles on the diagonal, a half and what crosses it is computed.
    const area = whole(rows, microRows) * whole(columns, vectors * lanes);
    const skipped = isHalf ? (1 - (vectors * lanes) / columns) / (down + 1) : 0;
    const sums = length * slowness + PARTIAL_SUM * Math.ceil(length / depth);
    const work = area * (1 - skipped) * sums + copying;
    const adding = parts === 1 ? 0 : START_ADDING + (ADD_PART * batch * m * n * (parts + 1)) / units;
    const waiting = units > 1 ? WAIT * work : 0;
    const estimate = Math.ceil(count / units) * work + waiting + adding;
    const half = isHalf && { isHalf };
    const tile = { kind: "panels", rows, columns, depth, micro: [microRows, vectors], lanes, ...half } as const;
    found.push({ tile, length, estimate, isKnown: true });
  };
  const mostParts = Math.max(1, Math.min(MOST_PARTS, 4 * units, Math.floor(k / LEAST_PART)));
  for (const micro of MICRO[kind]) {
    for (const rows of sides(m, micro.rows)) {
      for (const columns of sides(n, micro.vectors * lanes)) {
        if (rows * columns > PANEL_NUMBERS / 2) continue;
        for (let parts = 1; parts <= mostParts; parts++) consider(rows, columns, micro, parts);
      }
    }
  }
  return found;
}
