/** Tiles of rows to sort: where elements and counts lie, which elements are inside, and the bits of keys. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { DIGITS, type TiledRows, TileKernel, tileOf } from "../../../src/compiler/routines/radix-tile.js";
import { runKernel } from "../../support/kernels.js";

const shape: TiledRows = { type: "u32", rows: 2, extent: 10, lanes: 1, perLane: 4, tiles: 3 };

test("elements of each tile: their place in the row and in memory, and whether the row has them", () => {
  assert.equal(tileOf({ ...shape, lanes: 8 }), 32);
  for (const neighbours of [1, 2]) {
    const kernel = new TileKernel("places", shape);
    const { k } = kernel;
    const out = k.buffer("i32", true);
    const offsets = [0, 1, 2, 3].map((offset) => kernel.i(offset));
    kernel.elements(offsets, neighbours).forEach(({ at, index, isInside }, j) => {
      const inside = isInside ? k.select(isInside, kernel.i(1), kernel.i(0)) : kernel.i(1);
      [at, index, inside].forEach((value, which) => {
        const place = kernel.add(k.binary("mul", k.row, kernel.i(12)), kernel.i(3 * j + which));
        k.store(out, place, value);
      });
    });
    const [found] = runKernel("cpu", k.finish(), [new Int32Array(6 * 12)]);
    for (let tile = 0; tile < 6; tile++) {
      for (let j = 0; j < 4; j++) {
        const at = (tile % 3) * 4 + j;
        const isInside = at < 10;
        const want = [at, isInside ? Math.floor(tile / 3) * 10 + at : 0, isInside ? 1 : 0];
        assert.deepEqual(
          [...found.slice(12 * tile + 3 * j, 12 * tile + 3 * j + 3)],
          want,
          `tile ${tile}, element ${j}`,
        );
      }
    }
  }
});

test("where tiles fill their rows, nothing is asked", () => {
  const kernel = new TileKernel("full", { ...shape, extent: 12 });
  assert.ok(kernel.elements([kernel.i(0), kernel.i(3)], 1).every(({ isInside }) => isInside === null));
});

test("digits of a key, from the lowest to the highest bits", () => {
  const kernel = new TileKernel("bits", { ...shape, rows: 1, extent: 4, tiles: 1 });
  const { k } = kernel;
  const [keys, out] = [k.buffer("u32", false), k.buffer("i32", true)];
  const key = k.load(keys, kernel.i(0), "u32");
  [0, 8, 24].forEach((shift, i) => {
    k.store(out, kernel.i(i), kernel.bits(key, shift, 8));
  });
  const [, digits] = runKernel("cpu", k.finish(), [Uint32Array.of(0xfedcba98), new Int32Array(3)]);
  assert.deepEqual([...digits], [0x98, 0xba, 0xfe]);
});

test("counts lie row by row, digit by digit, tile by tile; a digit's total is behind its last tile", () => {
  const kernel = new TileKernel("counts", shape);
  const { k } = kernel;
  const [counts, offsets, out] = [k.buffer("i32", false), k.buffer("i32", false), k.buffer("i32", true)];
  const digit = kernel.i(5);
  k.store(out, k.binary("mul", k.row, kernel.i(2)), kernel.inTable(digit, kernel.tile));
  k.store(out, kernel.add(k.binary("mul", k.row, kernel.i(2)), kernel.i(1)), kernel.total(counts, offsets, digit));
  const size = 2 * DIGITS * 3;
  const [, , found] = runKernel("cpu", k.finish(), [
    Int32Array.from({ length: size }, (_, i) => i),
    Int32Array.from({ length: size }, (_, i) => 10_000 * i),
    new Int32Array(12),
  ]);
  for (let tile = 0; tile < 6; tile++) {
    const row = (Math.floor(tile / 3) * DIGITS + 5) * 3;
    assert.deepEqual([...found.slice(2 * tile, 2 * tile + 2)], [row + (tile % 3), 10_001 * (row + 2)]);
  }
});

test("every digit is visited once: by a loop of one lane, by lanes of their own, the rest behind a gate", () => {
  for (const lanes of [256, 512]) {
    const gates: boolean[] = [];
    new TileKernel("lanes", { ...shape, lanes }).eachDigit((_digit, gate) => gates.push(gate !== null));
    assert.deepEqual(gates, [lanes > DIGITS]);
  }
  const kernel = new TileKernel("loop", { ...shape, rows: 1, extent: 4, tiles: 1 });
  const out = kernel.k.buffer("i32", true);
  kernel.eachDigit((digit) => kernel.k.store(out, digit, digit));
  const [seen] = runKernel("cpu", kernel.k.finish(), [new Int32Array(DIGITS).fill(-1)]);
  assert.deepEqual([...seen], [...Array(DIGITS).keys()]);
});
