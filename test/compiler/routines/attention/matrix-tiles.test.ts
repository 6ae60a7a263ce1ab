/** Tiles of attention on matrix units: what they demand of a device, which is what they then take, and what each lane has. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { KernelBuilder } from "../../../../src/compiler/ir/kernel-builder.js";
import { MatrixTiles, matrixDemands } from "../../../../src/compiler/routines/attention/matrix-tiles.js";
import type { AttentionProblem } from "../../../../src/compiler/routines/attention/problem.js";
import type { MatrixAttentionTile } from "../../../../src/compiler/target/tile-profile.js";
import { dataOf } from "../../../../src/core/storage.js";
import { interpretKernel } from "../../../support/kernel-interpreter.js";

const problem = (depth: number, width = depth, dtype = "f16") => ({ depth, width, dtype }) as AttentionProblem;

const tileOf = (rows: number, columns: number, subgroupSize: number): MatrixAttentionTile => ({
  ...{ kind: "matrix", rows, columns, subgroupSize },
  fragment: { operand: "f16", rows: 16, columns: 16, depth: 16 },
});

const forms = [tileOf(64, 64, 32), tileOf(64, 32, 32), tileOf(32, 32, 8), tileOf(16, 32, 64), tileOf(32, 64, 16)];

test("a subgroup has the rows of a fragment", () => {
  assert.equal(matrixDemands(tileOf(64, 64, 32), problem(64), "back").lanes, 128);
  assert.equal(matrixDemands(tileOf(32, 32, 8), problem(64), "forward").lanes, 16);
});

test("the bytes it demands are those of the arrays it declares", () => {
  for (const tile of forms) {
    for (const [depth, width] of [
      [8, 8],
      [64, 64],
      [72, 24],
      [16, 128],
    ] as const) {
      const { lanes, bytes } = matrixDemands(tile, problem(depth, width), "forward");
      const k = new KernelBuilder("tiles", 1, lanes, tile.subgroupSize);
      new MatrixTiles(k, problem(depth, width), tile, "forward");
      const taken = k.finish().arrays.reduce((sum, { size }) => sum + 4 * size, 0);
      assert.equal(bytes, taken, `${tile.rows}×${tile.columns} of ${tile.subgroupSize}, ${depth} and ${width}`);
    }
  }
});

test("rows of whole units, columns that fragments and lanes divide, and the fragments' dtype", () => {
  const isDivided = (tile: MatrixAttentionTile, own: AttentionProblem) => matrixDemands(tile, own, "forward").isDivided;
  const tile = tileOf(64, 64, 32);
  assert.ok(isDivided(tile, problem(64)));
  assert.ok(isDivided(tile, problem(8)));
  assert.ok(!isDivided(tile, problem(60)));
  assert.ok(!isDivided(tile, problem(64, 12)));
  assert.ok(!isDivided(tile, problem(64, 64, "bf16")));
  assert.ok(!isDivided(tileOf(64, 24, 32), problem(64)), "fragments of 16 columns");
  assert.ok(!isDivided(tileOf(64, 16, 64), problem(64)), "four lanes share the 16 columns of a row");
});

test("lanes have every score of the tile between them, each once", () => {
  for (const tile of forms) {
    const { lanes } = matrixDemands(tile, problem(16), "back");
    const k = new KernelBuilder("tiles", 1, lanes, tile.subgroupSize);
    const out = k.buffer("i32", true);
    const tiles = new MatrixTiles(k, problem(16), tile, "back");
    const each = tiles.rows.flatMap((row) => tiles.columns().map((column) => [row, column] as const));
    const places = each.map(([row, column]) =>
      k.binary("add", k.binary("mul", row, k.constant("i32", tile.columns)), column),
    );
    places.forEach((place, at) => {
      const index = k.binary("add", k.binary("mul", k.lane, k.constant("i32", each.length)), k.constant("i32", at));
      k.store(out, index, place, false);
    });
    const bytes = new Uint8Array(4 * lanes * each.length);
    interpretKernel(k.finish(), [bytes]);
    const found = [...dataOf(bytes, "i32")].sort((a, b) => a - b);
    assert.deepEqual(
      found,
      Array.from({ length: tile.rows * tile.columns }, (_, at) => at),
      `${tile.rows}×${tile.columns} of ${tile.subgroupSize}`,
    );
  }
});
