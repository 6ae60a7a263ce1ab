/**
 * Plans the tiles of matrix products: whether to use tiles, which, and whether to split the summation so that the whole device
 * has work. A pure function of shape and target. What was measured on this device comes first (`tuned` of the profile), then
 * the table of its family, then a rule: the least estimated time.
 */
import { DTYPES } from "../../core/dtype.js";
import type { TileProfile } from "../target/tile-profile.js";
import { allCandidates, knownCandidates } from "./candidates.js";
import { familyOf } from "./families.js";
import { describeTile, inParts, type ProductShape, shapeClass, type Tiling, tilingWords } from "./product-shape.js";

/** Why a product has its tiling: it was measured on this device, or on one of its family, or estimated; or a test wants it. */
export type Reason = "tuned" | "table" | "rule" | "forced";

export interface ProductPlan extends Tiling {
  readonly reason: Reason;
}

/**
 * Products of fewer multiplications stay plain sums of products, which fuse with everything. Where tiles need no barriers, small products
 * gain, too: on the CPU, 128×128 by 128×10 took 55 µs as plain sums and takes 9, and a step of an LSTM of 32 units a sixth less.
 */
const SMALL_PRODUCT = { shared: 1 << 18, registers: 1 << 18, panels: 1 << 13, none: Number.POSITIVE_INFINITY };
/** So do products with few rows or columns, which read their operands only once, and products with a short summation. */
const SKINNY = 8;
const SHORT = 8;

/** A part of a summation is never shorter. */
const LEAST_LENGTH = 4;

/** The plan of a product in tiles, or null where tiles are not worth it. */
export function planProduct(shape: ProductShape, profile: TileProfile): ProductPlan | null {
  if (profile.forced) return forcedPlan(shape, profile, profile.forced);
  return isTiled(shape, profile) ? chosenPlan(shape, profile) : null;
}

/** Whether a product is worth tiles. */
export function isTiled({ batch, m, n, k, dtype }: ProductShape, { kind }: TileProfile): boolean {
  if (DTYPES[dtype].kind === "complex") return false;
  return batch * m * n * k >= SMALL_PRODUCT[kind] && k >= SHORT && Math.min(m, n) >= SKINNY;
}

function chosenPlan(shape: ProductShape, profile: TileProfile): ProductPlan | null {
  const measured = measuredPlan(shape, profile);
  if (measured) return measured;
  const rule = ruleTiling(shape, profile);
  return rule && { ...rule, reason: "rule" };
}

/** The tiling with the least estimated time. */
function ruleTiling(shape: ProductShape, profile: TileProfile): Tiling | null {
  const known = knownCandidates(shape, profile);
  if (known.length === 0) return null;
  const { tile, length } = known.reduce((x, y) => (y.estimate < x.estimate ? y : x));
  return { tile, length };
}

/** The measured tiling for the class of a product; null if there is none, or if it does not fit this very product. */
function measuredPlan(shape: ProductShape, profile: TileProfile): ProductPlan | null {
  const { tilings } = familyOf(profile.family);
  const { tuned = {} } = profile;
  if (Object.keys(tuned).length + Object.keys(tilings).length === 0) return null;
  const key = shapeClass(shape);
  const [wanted, reason] = tuned[key] ? [tuned[key], "tuned" as const] : [tilings[key], "table" as const];
  if (!wanted) return null;
  const { tile, parts } = tilingWords(wanted);
  const found = allCandidates(shape, profile).find((each) => describeTile(each.tile) === tile);
  // Nobody vouches for the words: a tile is one of the candidates, or none; a part is at least a step long.
  if (!found || parts < 1 || parts > shape.k / LEAST_LENGTH) return null;
  return { ...inParts(found.tile, parts, shape.k), reason };
}

function forcedPlan(
  shape: ProductShape,
  profile: TileProfile,
  { parts, tile: wanted }: NonNullable<TileProfile["forced"]>,
): ProductPlan | null {
  const { batch, m, n, k, dtype } = shape;
  if (profile.kind === "none" || DTYPES[dtype].kind === "complex" || batch * m * n * k === 0) return null;
  const isPlanned = Math.min(m, n) >= SKINNY;
  const tile = wanted ?? (isPlanned ? ruleTiling(shape, profile)?.tile : undefined);
  if (!tile) return null;
  // A tile of panels must fit into the matrix.
  if (tile.kind === "panels" && (tile.rows > m || tile.columns > n)) return null;
  if ((tile.kind === "panels" || tile.kind === "shared") && tile.isHalf && !shape.isSymmetric) return null;
  return { ...inParts(tile, parts, k), reason: "forced" };
}
