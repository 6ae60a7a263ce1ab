/** Sums over the tiles before a tile, by look-back: in order, and in orders that leave workgroups without the sums they want. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Kernel } from "../../../src/compiler/ir/ir.js";
import { KernelBuilder } from "../../../src/compiler/ir/kernel-builder.js";
import { publishSums, SUM_BITS, sumsBefore } from "../../../src/compiler/routines/look-back.js";
import { interpretKernel } from "../../support/kernel-interpreter.js";
import { runKernel } from "../../support/kernels.js";
import { testDevices } from "../../support/tensors.js";

const [LANES, TILES] = [64, 9];

/** Each lane has two sums of its tile, which are given; it stores those of the tiles before. */
function kernelWith(looks: number, rows = TILES): Kernel {
  const k = new KernelBuilder("look back", rows, LANES);
  const i = (value: number) => k.constant("i32", value);
  const [tickets, published] = [k.buffer("u32", true), k.buffer("u32", true)];
  const [given, out, counted] = [k.buffer("u32", false), k.buffer("u32", true), k.buffer("u32", true)];
  const tile = k.ticket(tickets, i(0));
  const places = (of: typeof tile) =>
    [0, 1].map((which) =>
      k.binary("add", k.binary("mul", of, i(2 * LANES)), k.binary("add", k.lane, i(which * LANES))),
    );
  const sumsOf = (of: typeof tile) => places(of).map((place) => k.load(given, place, "u32"));
  const recount = (of: typeof tile) => {
    k.atomic("add", counted, of, k.constant("u32", 1), k.compare("eq", k.lane, i(0)));
    return sumsOf(of);
  };
  const task = { k, published, tile, tiles: TILES, places, recount, looks };
  const sums = sumsOf(tile);
  publishSums(task, sums);
  const before = sumsBefore(task, sums);
  places(tile).forEach((place, which) => {
    k.store(out, place, before[which]!, false);
  });
  return k.finish();
}

const given = Uint32Array.from({ length: TILES * 2 * LANES }, (_, i) => (i * 7919) % 1000);
const want = given.map((_, i) =>
  given.filter((_, j) => j < i && (i - j) % (2 * LANES) === 0).reduce((a, b) => a + b, 0),
);

/** Runs the tiles in an order; the sums found, and how often tiles were counted again. */
function inOrder(order: readonly number[], looks: number): { sums: Uint32Array; counted: number } {
  const buffers = [1, given.length, given.length, given.length, TILES].map((size) => new Uint32Array(size));
  buffers[2]!.set(given);
  const bytes = buffers.map(({ buffer }) => new Uint8Array(buffer));
  for (const tile of order) {
    buffers[0]![0] = tile;
    interpretKernel(kernelWith(looks, 1), bytes);
  }
  return { sums: buffers[3]!, counted: buffers[4]!.reduce((a, b) => a + b, 0) };
}

test("in order, every tile finds the sums of the one before, and counts nothing", () => {
  const { sums, counted } = inOrder([...Array(TILES).keys()], 3);
  assert.deepEqual([...sums], [...want]);
  assert.equal(counted, 0);
});

test("in any other order the missing tiles are counted, each once for all", () => {
  const { sums, counted } = inOrder([5, 2, 8, 0, 7, 1, 6, 4, 3], 3);
  assert.deepEqual([...sums], [...want]);
  // Tile 5 counts those before it and tells the others; tile 8 has 6 and 7 to count.
  assert.equal(counted, 7);
});

test("a walk passes over tiles that have published their own sums alone, in one look or several", () => {
  for (const [tile, looks] of [
    [3, 1],
    [8, 1],
    [9, 1],
    [9, 2],
  ] as const) {
    const buffers = [1, 1280, 1280, 1280, 10].map((size) => new Uint32Array(size));
    buffers[2]!.forEach((_, i, all) => {
      all[i] = (i * 7919) % 1000;
    });
    // All tiles before have published their own sums, and only the first those of all up to it.
    for (let i = 0; i < tile * 2 * LANES; i++)
      buffers[1]![i] = buffers[2]![i]! + (i < 2 * LANES ? 2 : 1) * 2 ** SUM_BITS;
    buffers[0]![0] = tile;
    interpretKernel(
      kernelWith(looks, 1),
      buffers.map(({ buffer }) => new Uint8Array(buffer)),
    );
    for (let i = 0; i < 2 * LANES; i++) {
      const before = Array.from({ length: tile }, (_, t) => buffers[2]![t * 2 * LANES + i]!).reduce((a, b) => a + b);
      assert.equal(buffers[3]![tile * 2 * LANES + i], before);
    }
    assert.equal(buffers[1]![tile * 2 * LANES]! >>> SUM_BITS, 2, "it publishes the sums of all up to it");
    assert.ok(
      buffers[4]!.every((count) => count === 0),
      "nothing is counted again",
    );
  }
});

for (const device of testDevices().filter((name) => name !== "cpu")) {
  test(`workgroups that run as they please agree, ${device}`, () => {
    for (const looks of [1, 4096]) {
      const empty = () => new Uint32Array(given.length);
      const [tickets, , , sums] = runKernel(device, kernelWith(looks), [
        new Uint32Array(1),
        empty(),
        given,
        empty(),
        new Uint32Array(TILES),
      ]);
      assert.equal(tickets[0], TILES);
      assert.deepEqual([...sums], [...want]);
    }
  });
}
