/** Tiles in shared memory: those that a device has room for, and those made for products with few columns. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { SharedTile, TileProfile } from "../../../src/compiler/target/tile-profile.js";
import type { ProductShape } from "../../../src/compiler/tiles/product-shape.js";
import { SEARCHED_VARIANTS, SHARED_VARIANTS, sharedCandidates } from "../../../src/compiler/tiles/shared-candidates.js";

const large: TileProfile = { kind: "shared", sharedBytes: 1 << 20, maxLanes: 1024, units: 64 };
const product: ProductShape = { batch: 1, m: 1000, k: 1024, n: 1000, dtype: "f32" };
const tilesOf = (shape: ProductShape, profile: TileProfile, isSearch: boolean) =>
  sharedCandidates(shape, profile, isSearch).map(({ tile }) => tile as SharedTile);

test("the rule compares the measured variants; a search tries the others as well, and says so", () => {
  assert.deepEqual(
    tilesOf(product, large, false),
    SHARED_VARIANTS.map(({ tile }) => tile),
  );
  const searched = sharedCandidates(product, large, true);
  const kinds = new Map(searched.map(({ tile, isKnown }) => [tile, isKnown]));
  for (const { tile } of SHARED_VARIANTS) assert.equal(kinds.get(tile), true);
  for (const { tile } of SEARCHED_VARIANTS) assert.equal(kinds.get(tile), false);
});

test("steps divide a summation that is no multiple of 16, and are whole vectors where its rows are", () => {
  const depths = (k: number) => [...new Set(tilesOf({ ...product, k }, large, false).map(({ depth }) => depth))];
  assert.deepEqual(depths(147), [16, 21]);
  assert.deepEqual(depths(75), [16, 15]);
  assert.deepEqual(depths(100), [16, 20]);
  // 4 · 37: steps of 37 would be no whole vectors.
  assert.deepEqual(depths(148), [16]);
  assert.deepEqual(depths(149), [16]);
  const wide = (k: number) => sharedCandidates({ ...product, m: 64, n: 401408, k }, large, false);
  const best = (k: number) => wide(k).reduce((x, y) => (y.estimate < x.estimate ? y : x)).tile as SharedTile;
  assert.equal(best(147).depth, 21);
  assert.equal(best(144).depth, 16);
});

test("a tile needs its lanes and its memory; f64 needs twice the memory", () => {
  // 64×64×16 of 4×4: 256 lanes and 16 · (68 + 68) numbers.
  const bytes = 16 * 136 * 4;
  const has64 = (profile: TileProfile, dtype: "f32" | "f64" = "f32") =>
    tilesOf({ ...product, dtype }, profile, false).some(({ rows, columns }) => rows === 64 && columns === 64);
  assert.equal(has64({ ...large, sharedBytes: bytes, maxLanes: 256 }), true);
  assert.equal(has64({ ...large, sharedBytes: bytes - 1, maxLanes: 256 }), false);
  assert.equal(has64({ ...large, sharedBytes: bytes, maxLanes: 255 }), false);
  assert.equal(has64({ ...large, sharedBytes: 2 * bytes - 1 }, "f64"), false);
});

test("a symmetric product is computed by half in square tiles, and may have more parts for as much work", () => {
  const symmetric = { ...product, m: 256, k: 100_000, n: 256, isSymmetric: true };
  const tiles = tilesOf(symmetric, large, true);
  assert.ok(tiles.every((tile) => (tile.isHalf === true) === (tile.rows === tile.columns)));
  assert.ok(tilesOf(product, large, true).every(({ isHalf }) => isHalf === undefined));
  const estimate = (shape: ProductShape) => Math.min(...sharedCandidates(shape, large, false).map((x) => x.estimate));
  assert.ok(estimate(symmetric) < 0.85 * estimate({ ...symmetric, isSymmetric: false }));
});

test("products with 9 to 64 columns get tiles of their own width, as deep as a short summation or 8", () => {
  const own = (n: number, k: number) => tilesOf({ ...product, n, k }, large, true).filter(({ isSpread }) => isSpread);
  assert.deepEqual([own(8, 100).length, own(65, 100).length], [0, 0]);
  for (const [n, k, ...depths] of [
    [9, 37, 37, 8],
    [53, 64, 64, 8],
    [64, 65, 16, 8],
    [53, 8, 8],
  ] as const) {
    const tiles = own(n, k);
    assert.ok(tiles.length > 0);
    assert.deepEqual([...new Set(tiles.map((tile) => tile.depth))], depths);
    for (const tile of tiles) {
      assert.ok(tile.columns >= n && tile.columns < n + 8);
    }
  }
});
