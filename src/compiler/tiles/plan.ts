/**
 * How products of matrices are cut into tiles: whether at all, into which, and whether the summation is split, so that
 * there is work for all of the device. A pure choice by shape and target. The times it compares are estimates in cycles;
 * the constants are those of a GPU of 2023 (NVIDIA H200), and others differ less between shapes than in speed.
 */
import { DTYPES, type DType } from "../../core/dtype.js";

/** What tiles are made for. */
export interface TileProfile {
  /**
   * shared: a workgroup loads tiles into memory that it shares (GPUs). registers: a thread computes a small tile by itself
   * (software Vulkan, where barriers are slow). panels: a thread packs operands for its vectors and caches (CPUs). none:
   * every product is a sum of products, as inside functions of a thread.
   */
  readonly kind: "shared" | "registers" | "panels" | "none";
  /** Bytes of memory that a workgroup may share. */
  readonly sharedBytes: number;
  /** Lanes of a workgroup, at most. */
  readonly maxLanes: number;
  /** Multiprocessors, or threads, that work at the same time. */
  readonly units: number;
  /** For tests and for tuning: how every product is computed, however small. */
  readonly forced?: { readonly tile: Tile; readonly parts: number };
}

/** A workgroup's tile of the result: rows × columns, summed over `depth` at a time. */
export interface SharedTile {
  readonly kind: "shared";
  readonly rows: number;
  readonly columns: number;
  readonly depth: number;
  /** The part of it that one lane has in registers. */
  readonly perLane: readonly [rows: number, columns: number];
  /** Tiles of each operand that there is memory for: with two, one is worked on while the next arrives. */
  readonly buffers: 1 | 2;
  /** Steps along the depth that are written out; the rest is a loop. */
  readonly unrolled: number;
}

/** A thread's tile of the result. */
export interface RegisterTile {
  readonly kind: "registers";
  readonly rows: number;
  readonly columns: number;
}

export type Tile = SharedTile | RegisterTile;

export interface ProductPlan {
  readonly tile: Tile;
  /** How much of the summation is done at once; less than all of it when it is split into parts that are added up. */
  readonly length: number;
}

export interface ProductShape {
  readonly batch: number;
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly dtype: DType;
}

/** Products of fewer multiplications than this are left to the sum of products that fuses with everything. */
const SMALL_PRODUCT = 1 << 18;
/** So are those of a matrix with few rows or columns, which only read their operands once. */
const SKINNY = 8;
const SHORT = 8;

export const lanesOf = ({ rows, columns, perLane }: SharedTile): number => (rows / perLane[0]) * (columns / perLane[1]);

/** Elements of an array that lie between a row of a tile and the next: whole vectors, and not all in the same banks. */
export const pitchOf = (extent: number): number => extent + 4;

/** Bytes of the type that elements of a dtype are kept in. */
export const wideBytes = (dtype: DType): number => Math.max(4, DTYPES[dtype].bytes);

export const sharedBytesOf = ({ rows, columns, depth, buffers }: SharedTile, bytes: number): number =>
  buffers * depth * (pitchOf(rows) + pitchOf(columns)) * bytes;

interface SharedVariant {
  readonly tile: SharedTile;
  /** Share of the arithmetic units that it keeps busy when there is enough of it. */
  readonly efficiency: number;
  /** Workgroups that a multiprocessor holds at once. */
  readonly resident: number;
}

const variant = (
  rows: number,
  columns: number,
  depth: number,
  perLane: readonly [number, number],
  efficiency: number,
  resident: number,
): SharedVariant => ({
  tile: { kind: "shared", rows, columns, depth, perLane, buffers: 1, unrolled: depth },
  efficiency,
  resident,
});

export const SHARED_VARIANTS: readonly SharedVariant[] = [
  variant(128, 128, 16, [8, 8], 0.75, 2),
  variant(64, 64, 16, [4, 4], 0.5, 4),
  variant(32, 32, 16, [4, 4], 0.35, 8),
  variant(128, 16, 16, [4, 4], 0.3, 6),
  variant(16, 128, 16, [4, 4], 0.3, 6),
];

const REGISTER_TILE: RegisterTile = { kind: "registers", rows: 4, columns: 4 };

/** Multiply-adds of 4-byte numbers a multiprocessor does per cycle. */
const PER_CYCLE = 128;
/** Cycles a step takes at least: memory, barriers. */
const LATENCY = 700;
/** Cycles that adding up the parts of a split summation takes: a kernel more, and its memory. */
const SPLIT_CYCLES = 9000;
const BYTES_PER_CYCLE = 2000;
/** A part of a split summation is at least this long, and there are at most so many. */
const LEAST_PART = 48;
const MOST_PARTS = 64;
/** What it costs more to test in every load whether the last part has ended. */
const RAGGED = 1.25;

/** The way to compute a product in tiles, or null where that would not be worth it. */
export function planProduct(shape: ProductShape, profile: TileProfile): ProductPlan | null {
  const { batch, m, n, k, dtype } = shape;
  if (profile.kind === "none" || DTYPES[dtype].kind === "complex" || batch * m * n * k === 0) return null;
  if (profile.forced) {
    const { tile, parts } = profile.forced;
    const step = tile.kind === "shared" ? tile.depth : 1;
    return { tile, length: parts === 1 ? k : Math.ceil(k / parts / step) * step };
  }
  if (batch * m * n * k < SMALL_PRODUCT) return null;
  if (Math.min(m, n) < SKINNY || k < SHORT) return null;
  return profile.kind === "shared" ? planShared(shape, profile) : { tile: REGISTER_TILE, length: k };
}

function planShared(shape: ProductShape, profile: TileProfile): ProductPlan | null {
  const { batch, m, n, k, dtype } = shape;
  const bytes = wideBytes(dtype);
  let best: ProductPlan | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const { tile, efficiency, resident } of SHARED_VARIANTS) {
    const { rows, columns, depth } = tile;
    if (lanesOf(tile) > profile.maxLanes || sharedBytesOf(tile, bytes) > profile.sharedBytes) continue;
    const tiles = batch * Math.ceil(m / rows) * Math.ceil(n / columns);
    for (let wanted = 1; wanted === 1 || (wanted <= MOST_PARTS && k / wanted >= LEAST_PART); wanted++) {
      const length = wanted === 1 ? k : Math.ceil(k / wanted / depth) * depth;
      const parts = Math.ceil(k / length);
      const groups = tiles * parts;
      const held = Math.min(resident, Math.ceil(groups / profile.units));
      const rounds = Math.ceil(groups / (profile.units * held));
      const steps = Math.ceil(length / depth) + 2;
      const work = (held * rows * columns * depth * (bytes / 4)) / (PER_CYCLE * efficiency);
      const step = Math.max(LATENCY, work) * (parts * length === k ? 1 : RAGGED);
      const adding = parts === 1 ? 0 : SPLIT_CYCLES + (batch * m * n * (parts + 1) * bytes) / BYTES_PER_CYCLE;
      const time = rounds * steps * step + adding;
      if (time >= least) continue;
      least = time;
      best = { tile, length };
    }
  }
  return best;
}
