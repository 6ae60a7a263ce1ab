/** Each kind of tile has its kernel, named after the tile. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Tile } from "../../../src/compiler/target/tile-profile.js";
import { lowered, matrix } from "./product-kernels.js";

const tiles: readonly Tile[] = [
  { kind: "registers", rows: 4, columns: 4 },
  { kind: "panels", rows: 8, columns: 16, depth: 12, micro: [4, 2], lanes: 4 },
  { kind: "shared", rows: 64, columns: 32, depth: 16, perLane: [4, 4], buffers: 1, unrolled: 16 },
];

test("kernels carry the extents of their tile, and have the lanes of its kind", () => {
  const kernels = tiles.map((tile) => lowered(tile, matrix("f32", 1, 64, 40), matrix("f32", 1, 40, 64)).kernel);
  assert.deepEqual(
    kernels.map(({ name }) => name),
    ["product in 4×4", "product in 8×16", "product in 64×32"],
  );
  assert.deepEqual(
    kernels.map(({ lanes }) => lanes),
    [1, 4, 128],
  );
});
