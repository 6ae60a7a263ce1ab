/** Tiles of panels on a CPU: their extents, the registers of each dtype, split summations, and which is estimated best. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { PanelTile, TileProfile } from "../../../src/compiler/target/tile-profile.js";
import { panelCandidates } from "../../../src/compiler/tiles/panel-candidates.js";
import type { ProductShape } from "../../../src/compiler/tiles/product-shape.js";

const profile = (units: number): TileProfile => ({ kind: "panels", sharedBytes: 0, maxLanes: 4, units });
const product = (m: number, k: number, n: number, dtype: ProductShape["dtype"] = "f32"): ProductShape => ({
  batch: 1,
  m,
  k,
  n,
  dtype,
});
const found = (shape: ProductShape, units = 4) =>
  panelCandidates(shape, profile(units)).map(({ tile, ...rest }) => ({ ...rest, tile: tile as PanelTile }));
const best = (shape: ProductShape, units = 4) =>
  found(shape, units).reduce((x, y) => (y.estimate < x.estimate ? y : x));

test("operands and sums of a tile stay in a core's cache, and tiles are whole registers or the whole axis", () => {
  for (const shape of [product(1000, 1000, 1000), product(17, 5000, 300), product(9, 3, 11)]) {
    for (const { tile } of found(shape)) {
      const { rows, columns, depth, micro, lanes } = tile;
      assert.ok(rows * columns + (rows + columns) * depth <= 80 << 10);
      assert.ok(rows <= 256 && columns <= 256 && depth <= 256);
      assert.ok(rows === shape.m || rows % micro[0] === 0);
      assert.ok(columns === shape.n || columns % (micro[1] * lanes) === 0);
    }
  }
});

test("vectors hold four numbers of f32 and f64; integers of 64 bits go one by one", () => {
  const kinds = (dtype: ProductShape["dtype"]) => [
    ...new Set(found(product(64, 64, 64, dtype)).map(({ tile }) => `${tile.micro.join("×")} of ${tile.lanes}`)),
  ];
  assert.deepEqual(kinds("f32"), ["4×2 of 4", "3×2 of 4"]);
  assert.deepEqual(kinds("f16"), kinds("f32"));
  assert.deepEqual(kinds("f64"), ["4×1 of 4"]);
  assert.deepEqual(kinds("i64"), ["2×4 of 1"]);
});

test("tiles even out over an axis: 300 rows are not 256 and 44", () => {
  const rows = new Set(found(product(300, 64, 64)).map(({ tile }) => tile.rows));
  assert.equal(rows.has(256), false);
  assert.ok([...rows].some((each) => 300 / each <= 2 && Math.ceil(300 / each) * each - 300 <= 8));
});

test("a long summation with one small result is split among threads, but not for one thread", () => {
  const shape = product(16, 1_000_000, 16);
  assert.ok(best(shape, 8).length < shape.k);
  assert.equal(best(shape, 1).length, shape.k);
  // A part is at least 512 long.
  assert.ok(found(product(16, 1023, 16)).every(({ length }) => length === 1023));
});

test("enough tiles for all threads: many threads prefer smaller tiles", () => {
  const area = (units: number) => {
    const { rows, columns } = best(product(512, 512, 512), units).tile;
    return rows * columns;
  };
  assert.ok(area(32) < area(1));
});

test("50 columns are one tile, whose last panel overlaps", () => {
  const { rows, columns } = best(product(50, 100_000, 50), 2).tile;
  assert.deepEqual([rows, columns], [50, 50]);
});

test("a symmetric product is computed by half, in square tiles, where that is less work", () => {
  for (const size of [50, 256, 2000]) {
    const shape = { ...product(size, 10_000, size), isSymmetric: true };
    const { tile } = best(shape, 2);
    assert.equal(tile.isHalf, true);
    assert.equal(tile.rows, tile.columns);
    assert.ok(found(shape).every((each) => (each.tile.isHalf === true) === (each.tile.rows === each.tile.columns)));
  }
  assert.ok(found(product(50, 100, 50)).every(({ tile }) => tile.isHalf === undefined));
});
