/** Tiles of the radix sort on a GPU: how many elements a lane has, and the shared memory they take. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { perLaneFor, sortTilesKernel } from "../../../src/compiler/routines/radix-tile-sort.js";
import { DTYPES } from "../../../src/core/dtype.js";

const sharedBytes = (type: "u32" | "u64", perLane: number, lanes: number): number => {
  const shape = { type, rows: 1, extent: 1 << 20, lanes, perLane, tiles: Math.ceil((1 << 20) / (lanes * perLane)) };
  const { arrays } = sortTilesKernel(shape, { shift: 0, isFirst: true, isLast: false });
  return arrays.reduce((bytes, { type: element, size }) => bytes + size * DTYPES[element].bytes, 0);
};

test("lanes have as many elements as shared memory holds, to the byte", () => {
  for (const type of ["u32", "u64"] as const) {
    for (const perLane of type === "u64" ? [4, 8] : [4, 8, 16]) {
      const needed = sharedBytes(type, perLane, 256);
      const chosen = (bytes: number) => perLaneFor(type, { digitsFrom: 0, lanes: 256, sharedBytes: bytes });
      assert.equal(chosen(needed), perLane);
      assert.ok(chosen(needed - 1) < perLane);
    }
  }
});

test("without enough shared memory there is no tile", () => {
  assert.equal(perLaneFor("u64", { digitsFrom: 0, lanes: 256, sharedBytes: 4096 }), 0);
});

test("the last pass writes positions alone, the first has none to read", () => {
  const shape = { type: "u32", rows: 1, extent: 4096, lanes: 256, perLane: 4, tiles: 4 } as const;
  const buffers = (isFirst: boolean, isLast: boolean) =>
    sortTilesKernel(shape, { shift: 8, isFirst, isLast }).buffers.map(({ isWritten }) => isWritten);
  assert.deepEqual(buffers(true, false), [false, false, false, true, true]);
  assert.deepEqual(buffers(false, false), [false, false, false, false, true, true]);
  assert.deepEqual(buffers(false, true), [false, false, false, false, true]);
});
