/** Tiles of attention on a CPU: what a thread's vectors compute. */
import { test } from "node:test";
import type { KernelBuilder } from "../../../../src/compiler/ir/kernel-builder.js";
import { VECTOR_LANES, VECTOR_ROWS } from "../../../../src/compiler/routines/attention/vector-tiles.js";
import { checkTiles, WaitingTiles } from "./tile-checks.js";

const tiles = (k: KernelBuilder) => new WaitingTiles(k);

test("products, rows and sums where vectors divide the rows", () => {
  checkTiles(VECTOR_LANES, tiles, { counts: [40, 40], first: [16, 8], widths: [8, 16] });
});

test("rows that end inside a vector, and fewer numbers than a vector has", () => {
  checkTiles(VECTOR_LANES, tiles, { counts: [40, 40], first: [0, 0], widths: [7, 13] });
  checkTiles(VECTOR_LANES, tiles, { counts: [40, 40], first: [0, 0], widths: [3, 1] });
  checkTiles(VECTOR_LANES, tiles, { counts: [40, 40], first: [0, 0], widths: [4, 20] });
});

test("a tile that reaches beyond the last rows has the last one again", () => {
  checkTiles(VECTOR_LANES, tiles, { counts: [VECTOR_ROWS + 3, 5], first: [VECTOR_ROWS, 2], widths: [6, 9] });
});
