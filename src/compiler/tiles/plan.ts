/**
 * Plans the tiles of matrix products: whether to use tiles, which, and whether to split the summation so that the whole device
 * has work. A pure function of shape and target. It compares estimated times, in cycles with the constants of an NVIDIA H200;
 * on other GPUs the ratios between shapes are similar.
 */
import { DTYPES, type DType } from "../../core/dtype.js";
import type { MatmulPrecision } from "../../graph/product-precision.js";
import type { FragmentShape, MatrixTile, RegisterTile, SharedTile, Tile, TileProfile } from "../target/tile-profile.js";
import { matrixLanesOf, matrixTileMemory } from "./matrix-tile-memory.js";

interface ProductPlan {
  readonly tile: Tile;
  /** The length of one part of the summation; less than all of it if it is split into parts that are then added. */
  readonly length: number;
}

interface ProductShape {
  readonly batch: number;
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly dtype: DType;
  /** Of f32: how exactly it is to be multiplied; f32's own arithmetic unless told. */
  readonly precision?: MatmulPrecision;
}

/** Products of fewer multiplications stay plain sums of products, which fuse with everything. */
const SMALL_PRODUCT = 1 << 18;
/** So do products with few rows or columns, which read their operands only once, and products with a short summation. */
const SKINNY = 8;
const SHORT = 8;

export const lanesOf = ({ rows, columns, perLane }: SharedTile): number => (rows / perLane[0]) * (columns / perLane[1]);

/** Elements from one row of a tile to the next: a multiple of a vector, and rows begin in different banks. */
export const pitchOf = (extent: number): number => extent + 4;

/** Bytes of the type in which a dtype is computed. */
export const wideBytes = (dtype: DType): number => Math.max(4, DTYPES[dtype].bytes);

type SharedVariant = TileVariant<SharedTile>;

/** @internal for tests: a tile must fit the shared memory that the profile states */
export const sharedBytesOf = ({ rows, columns, depth, buffers }: SharedTile, bytes: number): number =>
  buffers * depth * (pitchOf(rows) + pitchOf(columns)) * bytes;

interface TileVariant<T extends SharedTile | MatrixTile> {
  readonly tile: T;
  /** Share of the peak arithmetic rate on large products. */
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

/**
 * Efficiencies as measured on an H200: the first four reach 47, 41, 40 and 32 of 67 TFLOP/s in f32 at 4096³.
 * @internal for tests: every variant is run
 */
export const SHARED_VARIANTS: readonly SharedVariant[] = [
  variant(128, 128, 16, [8, 8], 0.74, 2),
  variant(128, 64, 16, [8, 4], 0.64, 2),
  variant(64, 128, 16, [4, 8], 0.62, 2),
  variant(64, 64, 16, [4, 4], 0.5, 4),
  variant(32, 32, 16, [4, 4], 0.36, 8),
  variant(128, 16, 16, [4, 4], 0.3, 6),
  variant(16, 128, 16, [4, 4], 0.3, 6),
];

const REGISTER_TILE: RegisterTile = { kind: "registers", rows: 4, columns: 4 };

/** Multiply-adds of 4-byte numbers a multiprocessor does per cycle. */
const PER_CYCLE = 128;
/** Least cycles of a step: memory, barriers. */
const LATENCY = 600;
/** A last wave that is not full costs at least this share of a full one: workgroups do not all end at once. */
const RAGGED_WAVE = 0.6;
/** Cycles for adding the parts of a split summation: one more kernel, and its memory. */
const SPLIT_CYCLES = 9000;
const BYTES_PER_CYCLE = 2000;
/** Least length and largest number of the parts of a split summation. */
const LEAST_PART = 48;
const MOST_PARTS = 512;
/** Slowdown where the last part is shorter than the others: every load tests for its end. */
const RAGGED_PART = 1.25;

/** The plan of a product in tiles, or null where tiles are not worth it. */
export function planProduct(shape: ProductShape, profile: TileProfile): ProductPlan | null {
  const { batch, m, n, k, dtype } = shape;
  if (profile.kind === "none" || DTYPES[dtype].kind === "complex" || batch * m * n * k === 0) return null;
  if (profile.forced) {
    const { parts, tile = planTile(shape, profile)?.tile } = profile.forced;
    const step = tile?.kind === "shared" || tile?.kind === "matrix" ? tile.depth : 1;
    // A tile of panels must fit into the matrix.
    if (tile?.kind === "panels" && (tile.rows > m || tile.columns > n)) return null;
    return tile ? { tile, length: parts === 1 ? k : Math.ceil(k / parts / step) * step } : null;
  }
  if (batch * m * n * k < SMALL_PRODUCT) return null;
  if (k < SHORT) return null;
  return planTile(shape, profile);
}

function planTile(shape: ProductShape, profile: TileProfile): ProductPlan | null {
  if (Math.min(shape.m, shape.n) < SKINNY) return null;
  if (profile.kind === "shared") return planMatrix(shape, profile) ?? planShared(shape, profile);
  return profile.kind === "panels" ? planPanels(shape, profile) : { tile: REGISTER_TILE, length: shape.k };
}

function planShared(shape: ProductShape, profile: TileProfile): ProductPlan | null {
  const bytes = wideBytes(shape.dtype);
  const fits = ({ tile }: SharedVariant) =>
    lanesOf(tile) <= profile.maxLanes && sharedBytesOf(tile, bytes) <= profile.sharedBytes;
  const perCycle = (PER_CYCLE * 4) / bytes;
  return cheapestTile(shape, profile.units, SHARED_VARIANTS.filter(fits), perCycle, bytes);
}

/** The tile, and the number of parts, that should take the least time. `bytes`: those of a sum. */
function cheapestTile<T extends SharedTile | MatrixTile>(
  { batch, m, n, k }: ProductShape,
  units: number,
  variants: readonly TileVariant<T>[],
  perCycle: number,
  bytes: number,
): ProductPlan | null {
  let best: ProductPlan | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const { tile, efficiency, resident } of variants) {
    const { rows, columns, depth } = tile;
    const tiles = batch * Math.ceil(m / rows) * Math.ceil(n / columns);
    for (let wanted = 1; wanted === 1 || (wanted <= MOST_PARTS && k / wanted >= LEAST_PART); wanted++) {
      const length = wanted === 1 ? k : Math.ceil(k / wanted / depth) * depth;
      const parts = Math.ceil(k / length);
      const groups = tiles * parts;
      const residentGroups = Math.min(resident, Math.ceil(groups / units));
      const full = groups / (units * residentGroups);
      const waves = Math.max(1, full + RAGGED_WAVE * (Math.ceil(full) - full));
      const steps = Math.ceil(length / depth) + 2;
      const work = (residentGroups * rows * columns * depth) / (perCycle * efficiency);
      const step = Math.max(LATENCY, work) * (parts * length === k ? 1 : RAGGED_PART);
      const adding = parts === 1 ? 0 : SPLIT_CYCLES + (batch * m * n * (parts + 1) * bytes) / BYTES_PER_CYCLE;
      const time = waves * steps * step + adding;
      if (time >= least) continue;
      least = time;
      best = { tile, length };
    }
  }
  return best;
}

/** Multiply-adds of 2-byte numbers that the matrix units of a multiprocessor do per cycle. */
const MATRIX_PER_CYCLE = 1133;
/** Longest part of a summation on matrix units: they truncate as they add, so the error grows with the length. */
const LONGEST_MATRIX_PART = 16384;

/**
 * Rows, columns and depth of tiles in fragments of 16×16, the subgroups' grid, and their efficiency: on an H200 the first two
 * reach 339 and 290 of 592 TFLOP/s at 4096³.
 * @internal for tests: every variant is run
 */
export const MATRIX_VARIANTS: readonly MatrixVariant[] = [
  { rows: 128, columns: 256, depth: 32, subgroups: [2, 4], efficiency: 0.57, resident: 1 },
  { rows: 128, columns: 128, depth: 32, subgroups: [2, 2], efficiency: 0.49, resident: 2 },
  { rows: 64, columns: 128, depth: 32, subgroups: [2, 2], efficiency: 0.36, resident: 3 },
  { rows: 64, columns: 64, depth: 32, subgroups: [2, 2], efficiency: 0.25, resident: 5 },
  { rows: 32, columns: 64, depth: 64, subgroups: [1, 2], efficiency: 0.18, resident: 8 },
  { rows: 16, columns: 128, depth: 64, subgroups: [1, 4], efficiency: 0.14, resident: 6 },
  { rows: 128, columns: 16, depth: 64, subgroups: [4, 1], efficiency: 0.14, resident: 6 },
];

/**
 * Tiles of f32 split into two f16 parts. A step of 64 between promotions keeps errors below f32's own from sums of 512 on.
 * @internal for tests: every variant is run
 */
export const SPLIT_VARIANTS: readonly MatrixVariant[] = [
  { rows: 128, columns: 128, depth: 32, subgroups: [2, 4], efficiency: 0.42, resident: 1 },
  { rows: 64, columns: 64, depth: 32, subgroups: [2, 2], efficiency: 0.25, resident: 3 },
];
const PROMOTED_LENGTH = 64;

interface MatrixVariant extends Pick<MatrixTile, "rows" | "columns" | "depth" | "subgroups"> {
  readonly efficiency: number;
  readonly resident: number;
}

function planMatrix(shape: ProductShape, profile: TileProfile): ProductPlan | null {
  const way = matrixWay(shape, profile);
  if (!profile.matrices || !way) return null;
  const { subgroupSize } = profile.matrices;
  const { fragment, parts } = way;
  const variants = (parts === 2 ? SPLIT_VARIANTS : MATRIX_VARIANTS).map(({ efficiency, resident, ...extents }) => {
    const promoted = parts === 2 ? PROMOTED_LENGTH / extents.depth : 0;
    const tile: MatrixTile = { kind: "matrix", ...extents, subgroupSize, fragment, parts, promoted };
    return { tile, efficiency, resident };
  });
  const fits = ({ tile }: TileVariant<MatrixTile>) =>
    matrixLanesOf(tile) <= profile.maxLanes &&
    4 * matrixTileMemory(tile).words <= profile.sharedBytes &&
    isDivided(tile);
  const perCycle = MATRIX_PER_CYCLE / (parts === 2 ? 3 : 1);
  const plan = cheapestTile(shape, profile.units, variants.filter(fits), perCycle, 4);
  if (!plan || parts === 2 || plan.length <= LONGEST_MATRIX_PART) return plan;
  return { ...plan, length: LONGEST_MATRIX_PART };
}

/** How matrix units compute a product: the fragments, and the parts of a number; null where they cannot. */
function matrixWay(
  { dtype, precision = "highest" }: ProductShape,
  { matrices }: TileProfile,
): { readonly fragment: FragmentShape; readonly parts: 1 | 2 } | null {
  const isSplit = dtype === "f32" && precision === "high";
  const wanted = dtype !== "f32" ? dtype : isSplit ? "f16" : precision === "fast" ? "bf16" : null;
  const fragment = matrices?.shapes.find(({ operand }) => operand === wanted);
  return fragment ? { fragment, parts: isSplit ? 2 : 1 } : null;
}

/** Whether fragments divide the tile of each subgroup. */
function isDivided({ rows, columns, depth, subgroups, fragment }: MatrixTile): boolean {
  const isWhole = (extent: number, by: number) => extent % by === 0;
  return (
    isWhole(rows, subgroups[0] * fragment.rows) &&
    isWhole(columns, subgroups[1] * fragment.columns) &&
    isWhole(depth, fragment.depth)
  );
}

/** Most rows, columns and depth of a tile, and most numbers in its operands and sums: 320 KiB of a core's cache. */
const PANEL_SIDE = 256;
const PANEL_DEPTH = 256;
const PANEL_NUMBERS = 80 << 10;
const LEAST_SIDE = 16;
/** A part of a split summation is at least this long. */
const LEAST_PANEL_PART = 512;

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

/** The extent of equal tiles that cover an axis with the least overlap: between half of `most` and all of it. */
function even(extent: number, most: number, step: number): number {
  let best = Math.max(step, Math.floor(Math.min(extent, most) / step) * step);
  let least = Number.POSITIVE_INFINITY;
  for (let count = Math.ceil(extent / most); count <= Math.ceil((2 * extent) / most); count++) {
    const each = Math.ceil(extent / count / step) * step;
    if (each > extent || count * each >= least) continue;
    least = count * each;
    best = each;
  }
  return best;
}

/** Candidate extents of tiles: PANEL_SIDE, half of it, and so on, each evened out over the axis. */
function sides(extent: number, step: number): ReadonlySet<number> {
  const found = new Set<number>();
  for (let most = PANEL_SIDE; most >= Math.max(LEAST_SIDE, step); most /= 2) found.add(even(extent, most, step));
  return found;
}

/** The tile and the number of parts with the least estimated time. */
function planPanels(shape: ProductShape, { units }: TileProfile): ProductPlan {
  const { batch, m, n, k, dtype } = shape;
  // 64-bit integers have no vectors.
  const kind = wideBytes(dtype) === 4 ? "bits32" : dtype === "f64" ? "f64" : "integers64";
  const lanes = kind === "integers64" ? 1 : 4;
  let best: ProductPlan | null = null;
  let least = Number.POSITIVE_INFINITY;
  const consider = (rows: number, columns: number, { rows: microRows, vectors, slowness }: Micro, parts: number) => {
    const length = Math.ceil(k / parts);
    const room = Math.floor((PANEL_NUMBERS - rows * columns) / (rows + columns));
    const most = Math.min(PANEL_DEPTH, room);
    const depth = length <= most ? length : even(length, most, 4);
    const count = batch * Math.ceil(m / rows) * Math.ceil(n / columns) * parts;
    const copying = COPY * (rows + columns) * length * (parts * length === k ? 1 : RAGGED_PART);
    const work = rows * columns * (length * slowness + PARTIAL_SUM * Math.ceil(length / depth)) + copying;
    const adding = parts === 1 ? 0 : START_ADDING + (ADD_PART * batch * m * n * (parts + 1)) / units;
    const waiting = units > 1 ? WAIT * work : 0;
    const time = Math.ceil(count / units) * work + waiting + adding;
    if (time >= least) return;
    least = time;
    best = { tile: { kind: "panels", rows, columns, depth, micro: [microRows, vectors], lanes }, length };
  };
  const mostParts = Math.max(1, Math.min(MOST_PARTS, 4 * units, Math.floor(k / LEAST_PANEL_PART)));
  for (const micro of MICRO[kind]) {
    for (const rows of sides(m, micro.rows)) {
      for (const columns of sides(n, micro.vectors * lanes)) {
        if (rows * columns > PANEL_NUMBERS / 2) continue;
        for (let parts = 1; parts <= mostParts; parts++) consider(rows, columns, micro, parts);
      }
    }
  }
  return best as unknown as ProductPlan;
}
