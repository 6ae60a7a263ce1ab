/** Which tile a product is computed in: a pure choice, by shape and by what the target can do. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { lanesOf, sharedBytesOf, wideBytes } from "../../../src/compiler/target/shared-tile.js";
import type { PanelTile, SharedTile, TileProfile } from "../../../src/compiler/target/tile-profile.js";
import { planProduct } from "../../../src/compiler/tiles/plan.js";
import { shapeClass } from "../../../src/compiler/tiles/product-shape.js";
import type { DType } from "../../../src/core/dtype.js";

const gpu: TileProfile = { kind: "shared", sharedBytes: 49152, maxLanes: 1024, units: 128 };
const least: TileProfile = { kind: "shared", sharedBytes: 16384, maxLanes: 128, units: 16 };
const cpu = (units: number): TileProfile => ({ kind: "panels", sharedBytes: 0, maxLanes: 4, units });
type ProductShape = Parameters<typeof planProduct>[0];

const shape = (m: number, k: number, n: number, batch = 1, dtype: DType = "f32"): ProductShape => ({
  batch,
  m,
  n,
  k,
  dtype,
});

const everyShape: ProductShape[] = [];
for (const dtype of ["f32", "f64", "f16", "i8", "i64", "bool"] as const) {
  for (const m of [8, 10, 128, 784, 4096, 100_000]) {
    for (const n of [8, 10, 129, 1024]) {
      for (const k of [8, 100, 784, 65_536]) for (const batch of [1, 12]) everyShape.push(shape(m, k, n, batch, dtype));
    }
  }
}

test("a tile never needs more shared memory or more lanes than there are", () => {
  for (const profile of [gpu, least, { ...gpu, sharedBytes: 32768 }]) {
    for (const each of everyShape) {
      const plan = planProduct(each, profile);
      if (!plan) continue;
      const tile = plan.tile as SharedTile;
      assert.ok(lanesOf(tile) <= profile.maxLanes, JSON.stringify(each));
      assert.ok(sharedBytesOf(tile, wideBytes(each.dtype)) <= profile.sharedBytes, JSON.stringify(each));
      assert.equal(tile.depth % tile.unrolled, 0);
    }
  }
});

test("every large product has a tile on the least that Vulkan guarantees", () => {
  for (const each of everyShape) {
    if (each.batch * each.m * each.n * each.k < 2 ** 18) continue;
    assert.ok(planProduct(each, least), JSON.stringify(each));
  }
});

test("on a CPU tiles are no larger than the matrix, and whole panels of vectors or the whole axis", () => {
  for (const units of [1, 2, 64]) {
    for (const each of everyShape) {
      const plan = planProduct(each, cpu(units));
      if (!plan) continue;
      const { rows, columns, depth, micro, lanes } = plan.tile as PanelTile;
      assert.ok(rows <= each.m && columns <= each.n, JSON.stringify(each));
      assert.ok((rows === each.m && rows >= micro[0]) || rows % micro[0] === 0);
      assert.ok((columns === each.n && columns >= micro[1] * lanes) || columns % (micro[1] * lanes) === 0);
      assert.ok(4 * (depth * (rows + columns) + rows * columns) <= 2 ** 20, "more than a core's cache");
    }
  }
});

test("small products have tiles on a CPU, which needs no barriers for them, and are plain sums on a GPU", () => {
  for (const [each, isTiledOnCpu] of [
    [shape(128, 128, 10), true],
    [shape(128, 10, 128), true],
    [shape(24, 24, 24), true],
    [shape(16, 16, 16), false],
    [shape(4, 4096, 64), false],
  ] as const) {
    assert.equal(planProduct(each, cpu(2)) !== null, isTiledOnCpu, JSON.stringify(each));
    assert.equal(planProduct(each, gpu), null, JSON.stringify(each));
  }
});

test("there are tiles for all threads of a CPU", () => {
  const { rows, columns } = planProduct(shape(256, 256, 256), cpu(8))!.tile;
  assert.ok(Math.ceil(256 / rows) * Math.ceil(256 / columns) >= 16);
});

test("threads share a long summation of few results, and their tiles stay large", () => {
  // The gradient of 64 kernels of 32·3·3 places over 128 images of 14·14.
  const kernels = shape(64, 128 * 14 * 14, 32 * 9);
  const { tile, length } = planProduct(kernels, cpu(2))!;
  assert.ok(tile.rows === 64 && tile.columns >= 96 && length <= kernels.k / 2, JSON.stringify({ tile, length }));
  assert.equal(kernels.k % length, 0);
  assert.equal(planProduct(kernels, cpu(1))!.length, kernels.k);
});

test("nine rows are three times three on a CPU", () => {
  const { rows, micro } = planProduct(shape(9, 4096, 64), cpu(1))!.tile as PanelTile;
  assert.deepEqual([rows, micro[0]], [9, 3]);
});

test("large squares are computed in large tiles, without splitting the summation", () => {
  for (const size of [2048, 4096, 8192]) {
    const plan = planProduct(shape(size, size, size), gpu)!;
    assert.deepEqual([plan.tile.rows, plan.tile.columns, plan.length], [128, 128, size]);
  }
});

test("the summation is split where there are few results and much to add, into parts of whole tiles", () => {
  for (const [m, k, n] of [
    [784, 4096, 256],
    [256, 4096, 128],
    [128, 4096, 10],
    [128, 784, 256],
    [64, 100_000, 64],
  ] as const) {
    const { tile, length } = planProduct(shape(m, k, n), gpu)!;
    const tiles = Math.ceil(m / tile.rows) * Math.ceil(n / tile.columns);
    assert.ok(length < k, `${m}×${k}×${n} in ${tile.rows}×${tile.columns}`);
    assert.ok(tiles * Math.ceil(k / length) >= 50, `${tiles} tiles of ${length}`);
    assert.equal(length % (tile as SharedTile).depth, 0);
  }
});

test("a long summation is split into two parts for each multiprocessor, which hide each other's waiting", () => {
  const { tile, length } = planProduct(shape(128, 262_144, 128), gpu)!;
  assert.deepEqual([tile.rows, tile.columns, 262_144 / length], [128, 128, 256]);
});

test("the table of a family holds for its devices alone, and every tiling in it is a candidate there", () => {
  const card: TileProfile = { ...gpu, family: "nvidia" };
  for (const [each, rows] of [
    [shape(100_003, 37, 53), 64],
    [shape(512, 512, 512, 64), 64],
  ] as const) {
    const plan = planProduct({ ...each, orders: "nn" }, card)!;
    assert.deepEqual([plan.reason, plan.tile.rows], ["table", rows]);
    assert.equal(planProduct({ ...each, orders: "nt" }, card)!.reason, "rule");
    assert.equal(planProduct(each, gpu)!.reason, "rule");
    assert.equal(planProduct(each, { ...card, tuned: { [shapeClass(each)]: "32×32×16 of 4×4" } })!.reason, "tuned");
    // A device without the lanes for the tile keeps to the rule.
    assert.equal(planProduct(each, { ...card, maxLanes: 64 })!.reason, "rule");
  }
});

test("small and skinny products are left to the sum of products", () => {
  for (const each of [
    shape(16, 16, 16),
    shape(1, 4096, 4096),
    shape(4096, 4096, 1),
    shape(512, 2, 512),
    shape(0, 5, 5),
  ]) {
    assert.equal(planProduct(each, gpu), null);
    assert.equal(planProduct(each, cpu(2)), null);
  }
});
