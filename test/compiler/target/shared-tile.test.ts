/** Lanes and bytes of a workgroup's tile, counted by hand. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  lanesOf,
  partPitch,
  pitchOf,
  rowResultBytes,
  sharedBytesOf,
  wideBytes,
} from "../../../src/compiler/target/shared-tile.js";
import type { SharedTile } from "../../../src/compiler/target/tile-profile.js";
import { dot } from "../../../src/graph/primitives/dot.js";
import { make, storedAs } from "../../support/nodes.js";

const tile: SharedTile = {
  kind: "shared",
  rows: 64,
  columns: 32,
  depth: 16,
  perLane: [4, 8],
  buffers: 1,
  unrolled: 16,
};

test("a lane has its part of the tile", () => {
  assert.equal(lanesOf(tile), 16 * 4);
  assert.equal(partPitch(tile), 5);
});

test("rows begin four elements behind the last one's end, and two buffers take twice the bytes", () => {
  assert.equal(pitchOf(64), 68);
  assert.equal(sharedBytesOf(tile, 4), 16 * (68 + 36) * 4);
  assert.equal(sharedBytesOf({ ...tile, buffers: 2 }, 8), 2 * 16 * (68 + 36) * 8);
});

test("narrow numbers are computed in four bytes", () => {
  assert.deepEqual((["u8", "f16", "f32", "i64", "f64"] as const).map(wideBytes), [4, 4, 4, 8, 8]);
});

test("rows are reduced where a tile holds them whole and has a lane for each", () => {
  const product = (own: SharedTile) =>
    make(dot, [storedAs("f32", 1, 100, 50), storedAs("f32", 1, 50, 32)], { tile: own });
  // 64 rows of 4 parts, padded by one, and one total, of a number and a position each.
  assert.equal(rowResultBytes(product(tile), 32), 16 * (68 + 36) * 4 + 64 * 6 * 8);
  assert.equal(rowResultBytes(product(tile), 33), null);
  assert.equal(rowResultBytes(product({ ...tile, perLane: [8, 8] }), 32), null);
});
