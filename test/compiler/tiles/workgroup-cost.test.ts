/** Estimated times of tiles: what a better device, a larger product and a split summation do to them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { SharedTile } from "../../../src/compiler/target/tile-profile.js";
import { familyOf } from "../../../src/compiler/tiles/families.js";
import type { ProductShape } from "../../../src/compiler/tiles/product-shape.js";
import { candidatesIn, type TileVariant } from "../../../src/compiler/tiles/workgroup-cost.js";

const tile: SharedTile = {
  kind: "shared",
  rows: 64,
  columns: 64,
  depth: 16,
  perLane: [4, 4],
  buffers: 1,
  unrolled: 16,
};
const variant: TileVariant<SharedTile> = { tile, efficiency: 0.5, resident: 4, isKnown: true };
const { costs } = familyOf("nvidia");
const context = { units: 132, perCycle: 128, bytes: 4, costs };
const product = (m: number, k: number, n: number, batch = 1): ProductShape => ({ batch, m, k, n, dtype: "f32" });
const best = (shape: ProductShape, change = {}, own = variant) =>
  candidatesIn(shape, own, { ...context, ...change }, false)[0]!;

test("without a search there is one candidate, the one of least time among the numbers of parts", () => {
  const shape = product(128, 100_000, 128);
  const found = candidatesIn(shape, variant, context, false);
  assert.equal(found.length, 1);
  const all = candidatesIn(shape, variant, context, true);
  assert.equal(found[0]!.estimate, Math.min(...all.map(({ estimate }) => estimate)));
});

test("a search also tries one part, and parts for one, two and four workgroups to each multiprocessor", () => {
  const k = 16 * 1000;
  // 4 tiles: 33, 66 and 132 parts give each of 132 multiprocessors one, two and four workgroups. Parts are whole steps of 16,
  // so 66 become 63, and 132 become 125.
  const parts = candidatesIn(product(128, k, 128), variant, context, true).map(({ length }) => Math.ceil(k / length));
  for (const wanted of [1, 33, 63, 125]) assert.ok(parts.includes(wanted), `${wanted} of ${parts}`);
  assert.equal(new Set(parts).size, parts.length);
});

test("parts are whole steps, of at least 48 elements, and cover the summation", () => {
  for (const k of [1, 47, 96, 100, 4097, 262_144]) {
    for (const { length } of candidatesIn(product(64, k, 64), variant, context, true)) {
      if (length === k) continue;
      assert.equal(length % tile.depth, 0);
      assert.ok(length >= 48 && length * Math.ceil(k / length) >= k);
    }
  }
});

test("a long summation with few tiles is split, one that fills the device is not", () => {
  assert.ok(best(product(64, 262_144, 64)).length < 262_144);
  assert.equal(best(product(4096, 4096, 4096)).length, 4096);
});

test("twice the work takes more time; more multiprocessors and a better tile take less", () => {
  const shape = product(2048, 2048, 2048);
  const { estimate } = best(shape);
  assert.ok(best(product(2048, 2048, 2048, 2)).estimate > 1.8 * estimate);
  assert.ok(best(shape, { units: 264 }).estimate < estimate);
  assert.ok(best(shape, {}, { ...variant, efficiency: 0.7 }).estimate < estimate);
});

test("a step takes at least the latency of memory, however small the product", () => {
  // One workgroup, one wave, and three steps: one of its own, two before and after.
  const small = { ...variant, tile: { ...tile, rows: 16, columns: 16 } };
  assert.equal(best(product(1, 16, 1), {}, small).estimate, 3 * costs.latency);
  assert.equal(best(product(1, 16, 1)).estimate, (3 * 64 * 64 * 16) / (128 * 0.5));
});
