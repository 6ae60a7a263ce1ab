/** Candidates for products in shared memory: tiles of plain lanes (shared-product.ts). */
import { lanesOf, sharedBytesOf, wideBytes } from "../target/shared-tile.js";
import type { SharedTile, TileProfile } from "../target/tile-profile.js";
import { familyOf } from "./families.js";
import type { Candidate, ProductShape } from "./product-shape.js";
import { candidatesIn, type TileVariant } from "./workgroup-cost.js";

type SharedVariant = TileVariant<SharedTile>;

const variant = (
  [rows, columns, depth]: readonly [number, number, number],
  perLane: readonly [number, number],
  efficiency: number,
  resident: number,
  more: Partial<SharedTile> = {},
): SharedVariant => ({
  tile: { kind: "shared", rows, columns, depth, perLane, buffers: 1, unrolled: depth, ...more },
  efficiency,
  resident,
  isKnown: true,
});

/**
 * Efficiencies as measured on an H200: the first four reach 47, 41, 40 and 32 of 67 TFLOP/s in f32 at 4096³. Half a tile of
 * 128×128 by half the lanes is as fast and fills a device better: 4096×768 by 768×2304 took 321 µs instead of 403, 4096×768 by
 * 768×768 109 instead of 134 and a second kernel.
 * @internal for tests: every variant is run
 */
export const SHARED_VARIANTS: readonly SharedVariant[] = [
  variant([128, 128, 16], [8, 8], 0.74, 2),
  variant([128, 64, 16], [8, 4], 0.64, 2),
  variant([64, 128, 16], [4, 8], 0.62, 2),
  variant([64, 64, 16], [4, 4], 0.5, 4),
  variant([32, 32, 16], [4, 4], 0.36, 8),
  variant([128, 16, 16], [4, 4], 0.3, 6),
  variant([16, 128, 16], [4, 4], 0.3, 6),
  variant([64, 128, 16], [8, 8], 0.7, 3),
  variant([128, 64, 16], [8, 8], 0.69, 3),
];

const searched = (...parts: Parameters<typeof variant>): SharedVariant => ({ ...variant(...parts), isKnown: false });

/**
 * Tiles that only a search tries: on some device, dtype or shape they are the best.
 * @internal for tests: every variant is run
 */
export const SEARCHED_VARIANTS: readonly SharedVariant[] = [
  searched([128, 128, 8], [8, 8], 0.72, 2),
  searched([128, 128, 32], [8, 8], 0.72, 2),
  searched([128, 128, 8], [8, 8], 0.72, 2, { buffers: 2 }),
  searched([128, 128, 16], [8, 8], 0.72, 2, { buffers: 2 }),
  searched([128, 128, 16], [8, 8], 0.72, 2, { unrolled: 4 }),
  searched([128, 128, 16], [8, 8], 0.72, 2, { unrolled: 8 }),
  searched([128, 256, 16], [8, 16], 0.7, 1),
  searched([256, 128, 16], [16, 8], 0.7, 1),
  searched([128, 128, 16], [16, 8], 0.7, 2),
  searched([128, 128, 16], [8, 16], 0.7, 2),
  searched([64, 64, 16], [8, 8], 0.6, 6),
  searched([64, 64, 16], [8, 4], 0.56, 5),
  searched([64, 64, 16], [4, 8], 0.56, 5),
  searched([128, 64, 32], [8, 4], 0.6, 2),
  searched([64, 64, 8], [4, 4], 0.5, 4),
  searched([64, 64, 32], [4, 4], 0.5, 4),
  searched([64, 32, 16], [4, 4], 0.45, 6),
  searched([32, 64, 16], [4, 4], 0.45, 6),
];

/** Depths of the tiles that are made for a summation that is not a multiple of 16. */
const OTHER_DEPTHS = [24, 23, 22, 21, 20, 19, 18, 17, 15, 14, 13, 12, 28, 27, 26, 25] as const;

/**
 * The known tiles with a depth that divides the summation: then no load tests for its end, and elements of a window need no
 * division. 64 kernels of 7×7 over 32×3×224×224, k = 147, on an H200: 402 µs in steps of 16, 234 in steps of 21.
 */
function wholeStepVariants({ k }: ProductShape): SharedVariant[] {
  if (k % 16 === 0) return [];
  // Vectors of four that divide the rows of an operand divide its steps, too.
  const depth = OTHER_DEPTHS.find((each) => k % each === 0 && (k % 4 !== 0 || each % 4 === 0));
  if (depth === undefined) return [];
  return SHARED_VARIANTS.map((each) => ({ ...each, tile: { ...each.tile, depth, unrolled: depth } }));
}

/** Lanes side by side in the tiles that are made for a product, and most columns of one. */
const LANES_ASIDE = 8;
const COLUMNS_PER_LANE = 8;
/** The longest summation that a tile takes as a whole. */
const WHOLE_DEPTH = 64;
/** Steps of it that are written out: a kernel that runs each instruction once waits for its instructions. */
const WRITTEN_OUT = 4;

/**
 * The depth of flat tiles. A multiprocessor of an H200 gives all its workgroups together 48 KiB of shared memory: 100003×37 by
 * 37×53 took 28.4 µs in tiles 37 deep, of which two fit, and 22.2 in those of 8.
 */
const FLAT_DEPTH = 8;

/** Tiles made for a product with few columns: as wide as the result, and as deep as a short summation, or flat. */
function slimVariants({ n, k }: ProductShape): SharedVariant[] {
  const perLane = Math.ceil(n / LANES_ASIDE);
  if (perLane > COLUMNS_PER_LANE || perLane < 2) return [];
  const columns = perLane * LANES_ASIDE;
  const depths = new Set([k <= WHOLE_DEPTH ? k : 16, FLAT_DEPTH]);
  return [...depths].flatMap((depth) =>
    [
      [32, 4],
      [64, 4],
      [64, 8],
      [128, 4],
      [128, 8],
    ].flatMap(([rows, perRow]) =>
      [WRITTEN_OUT, depth].map((unrolled) =>
        searched([rows, columns, depth], [perRow, perLane], 0.5, 4, { isSpread: true, unrolled }),
      ),
    ),
  );
}

/** The same of a symmetric product: half of square tiles are enough. */
const byHalf = (each: SharedVariant): SharedVariant => {
  const { rows, columns, isSpread } = each.tile;
  return rows === columns && !isSpread ? { ...each, tile: { ...each.tile, isHalf: true } } : each;
};

/** The candidates of a product; all of them where `isSearch`, else those that the rule compares. */
export function sharedCandidates(shape: ProductShape, profile: TileProfile, isSearch: boolean): Candidate[] {
  const bytes = wideBytes(shape.dtype);
  const { costs } = familyOf(profile.family);
  const context = { units: profile.units, perCycle: (costs.perCycle * 4) / bytes, bytes, costs };
  const fits = ({ tile }: SharedVariant) =>
    lanesOf(tile) <= profile.maxLanes && sharedBytesOf(tile, bytes) <= profile.sharedBytes;
  const known = [...SHARED_VARIANTS, ...wholeStepVariants(shape)];
  const variants = isSearch ? [...known, ...SEARCHED_VARIANTS, ...slimVariants(shape)] : known;
  const suited = shape.isSymmetric ? variants.map(byHalf) : variants;
  return suited.filter(fits).flatMap((each) => candidatesIn(shape, each, context, isSearch));
}
