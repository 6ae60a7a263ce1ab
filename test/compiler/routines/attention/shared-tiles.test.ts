/** Tiles of attention in shared memory: what they compute, and the memory that plans count with. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { KernelBuilder } from "../../../../src/compiler/ir/kernel-builder.js";
import { SharedTiles, sharedNumbers } from "../../../../src/compiler/routines/attention/shared-tiles.js";
import type { SharedAttentionTile } from "../../../../src/compiler/target/tile-profile.js";
import { checkTiles } from "./tile-checks.js";

const shared = (rows: number, columns: number, down: number, aside: number): SharedAttentionTile => ({
  ...{ kind: "shared", rows, columns, lanes: [down, aside] },
});

const loose = [shared(8, 8, 4, 4), shared(4, 4, 4, 4), shared(8, 16, 4, 8), shared(4, 8, 2, 2)];
/** Weights take the place of keys: in kernels, lanes wait in between (shared-forward.test.ts). */
const forms = [...loose, { ...shared(16, 32, 8, 8), isTight: true }, { ...shared(64, 32, 16, 8), isTight: true }];

for (const tile of loose) {
  const { rows, columns, lanes } = tile;
  test(`${rows}×${columns} on ${lanes.join("×")} lanes: products, rows and sums`, () => {
    const tiles = (k: KernelBuilder) => new SharedTiles(k, tile, "f32");
    const count = lanes[0] * lanes[1];
    checkTiles(count, tiles, { counts: [32, 32], first: [0, 16], widths: [8, 16] });
    checkTiles(count, tiles, { counts: [rows - 1, columns + 3], first: [0, columns], widths: [5, 3] });
    checkTiles(count, tiles, { counts: [rows + 5, columns + 5], first: [rows, 2], widths: [4, 70] });
  });
}

test("plans count with all shared memory that the tiles and their operands take", () => {
  for (const tile of forms) {
    for (const width of [3, 4, 8, 12, 64]) {
      const k = new KernelBuilder("tile", 1, tile.lanes[0] * tile.lanes[1]);
      const tiles = new SharedTiles(k, tile, "f32");
      const buffer = k.buffer("f32", false);
      tiles.resident({ buffer, count: 9, width });
      tiles.streamed({ buffer, count: 9, width }, false);
      tiles.streamed({ buffer, count: 9, width: width + 1 }, true);
      const taken = k.finish().arrays.reduce((sum, { size }) => sum + size, 0);
      const counted = sharedNumbers(tile, [
        [tile.rows, width, false],
        [tile.columns, width, false],
        [tile.columns, width + 1, true],
      ]);
      assert.equal(counted, taken);
    }
  }
});
