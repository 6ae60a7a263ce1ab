/** Candidates for products on matrix units (matrix-product.ts). */
import type { FragmentShape, MatrixTile, TileProfile } from "../target/tile-profile.js";
import { familyOf } from "./families.js";
import { matrixLanesOf, matrixTileMemory } from "./matrix-tile-memory.js";
import type { Candidate, ProductShape } from "./product-shape.js";
import { candidatesIn } from "./workgroup-cost.js";

/** Longest part of a summation on matrix units: they truncate as they add, so the error grows with the length. */
const LONGEST_PART = 16384;

interface MatrixVariant extends Pick<MatrixTile, "rows" | "columns" | "depth" | "subgroups"> {
  readonly efficiency: number;
  readonly resident: number;
}

/**
 * Rows, columns and depth of tiles in fragments of 16×16, the subgroups' grid, and their efficiency: on an H200 the first two
 * reach 307 and 301 of 592 TFLOP/s at 4096³. The third has room for more than two workgroups, which gains nothing: the gradient
 * by the kernels of a convolution (64×100352 by 100352×576) took 76 µs in 49 parts, two workgroups for each multiprocessor, 134
 * in 64 and 85 in 98.
 * @internal for tests: every variant is run
 */
export const MATRIX_VARIANTS: readonly MatrixVariant[] = [
  { rows: 128, columns: 256, depth: 32, subgroups: [2, 4], efficiency: 0.57, resident: 1 },
  { rows: 128, columns: 128, depth: 32, subgroups: [2, 2], efficiency: 0.49, resident: 2 },
  { rows: 64, columns: 128, depth: 32, subgroups: [2, 2], efficiency: 0.36, resident: 2 },
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

/** Tiles that only a search tries. */
const SEARCHED_VARIANTS: readonly MatrixVariant[] = [
  { rows: 256, columns: 128, depth: 32, subgroups: [4, 2], efficiency: 0.5, resident: 1 },
  { rows: 64, columns: 256, depth: 32, subgroups: [1, 4], efficiency: 0.46, resident: 1 },
  { rows: 128, columns: 128, depth: 64, subgroups: [2, 4], efficiency: 0.45, resident: 1 },
  { rows: 128, columns: 128, depth: 32, subgroups: [2, 4], efficiency: 0.4, resident: 2 },
  { rows: 128, columns: 64, depth: 32, subgroups: [2, 2], efficiency: 0.36, resident: 3 },
  { rows: 64, columns: 128, depth: 64, subgroups: [2, 2], efficiency: 0.36, resident: 2 },
  { rows: 64, columns: 64, depth: 64, subgroups: [2, 2], efficiency: 0.25, resident: 4 },
];

/** The candidates of a product; none where matrix units cannot compute it, or not as exactly as is asked. */
export function matrixCandidates(shape: ProductShape, profile: TileProfile, isSearch: boolean): Candidate[] {
  const way = matrixWay(shape, profile);
  if (!profile.matrices || !way) return [];
  const { subgroupSize } = profile.matrices;
  const { fragment, parts } = way;
  const { costs } = familyOf(profile.family);
  const perCycle = costs.matrixPerCycle / (parts === 2 ? 3 : 1);
  const context = { units: profile.units, perCycle, bytes: 4, costs };
  const known = parts === 2 ? SPLIT_VARIANTS : MATRIX_VARIANTS;
  const others = isSearch && parts === 1 ? SEARCHED_VARIANTS : [];
  return [...known, ...others].flatMap(({ efficiency, resident, ...extents }, at) => {
    const promoted = parts === 2 ? PROMOTED_LENGTH / extents.depth : 0;
    const tile: MatrixTile = { kind: "matrix", ...extents, subgroupSize, fragment, parts, promoted };
    if (!fits(tile, profile)) return [];
    const variant = { tile, efficiency, resident, isKnown: at < known.length };
    return candidatesIn(shape, variant, context, isSearch).map((each) => withinReach(each, parts));
  });
}

/** The same with parts that are short enough. Promoted sums have no such limit. */
const withinReach = (candidate: Candidate, parts: 1 | 2): Candidate =>
  parts === 2 ? candidate : { ...candidate, length: Math.min(candidate.length, LONGEST_PART) };

/** The fragments of a product on matrix units, and the parts of a number; null where they cannot compute it. */
function matrixWay(
  { dtype, narrow, precision = "highest" }: ProductShape,
  { matrices }: TileProfile,
): { readonly fragment: FragmentShape; readonly parts: 1 | 2 } | null {
  const isSplit = dtype === "f32" && precision === "high";
  const wanted = narrow ?? (dtype !== "f32" ? dtype : isSplit ? "f16" : precision === "fast" ? "bf16" : null);
  const fragment = matrices?.shapes.find(({ operand }) => operand === wanted);
  return fragment ? { fragment, parts: isSplit ? 2 : 1 } : null;
}

/** Whether a workgroup has the lanes and the memory, and fragments divide the tile of each subgroup. */
function fits(tile: MatrixTile, { maxLanes, sharedBytes }: TileProfile): boolean {
  const { rows, columns, depth, subgroups, fragment } = tile;
  const isWhole = (extent: number, by: number) => extent % by === 0;
  return (
    matrixLanesOf(tile) <= maxLanes &&
    4 * matrixTileMemory(tile).words <= sharedBytes &&
    isWhole(rows, subgroups[0] * fragment.rows) &&
    isWhole(columns, subgroups[1] * fragment.columns) &&
    isWhole(depth, fragment.depth)
  );
}
