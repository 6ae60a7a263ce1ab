/**
 * Tiles of the radix sort on a GPU: how many elements a lane has, and the shared memory they take; whole rows and tiles of
 * rows, interpreted, against a stable sort.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { keyWords } from "../../../src/compiler/routines/element-words.js";
import { LEAST_LANES } from "../../../src/compiler/routines/lane-sums.js";
import { DIGITS } from "../../../src/compiler/routines/radix-tile.js";
import { perLaneFor, sortRowsKernel, sortTilesKernel } from "../../../src/compiler/routines/radix-tile-sort.js";
import { DTYPES } from "../../../src/core/dtype.js";
import { dataOf, encodeValues } from "../../../src/core/storage.js";
import { undefinedBytes } from "../../support/interpreted-routine.js";
import { interpretKernel } from "../../support/kernel-interpreter.js";
import { randomFrom } from "../../support/random.js";

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

const listOf = (bytes: Uint8Array, dtype: "u32" | "i32") => [...dataOf(bytes, dtype)].map(Number);

/** Keys below a bound: few of them are many equal ones. */
function keysOf(count: number, bound: number): number[] {
  const random = randomFrom(count + bound);
  return Array.from({ length: count }, () => random.below(bound));
}

test("a row that is one tile: positions of a stable sort by all bits, in rows that fill the tile or do not", () => {
  for (const lanes of [LEAST_LANES, 2 * LEAST_LANES]) {
    for (const extent of lanes === LEAST_LANES ? [4 * lanes, 5] : [4 * lanes - 3]) {
      for (const bound of [4, 2 ** 32]) {
        const keys = keysOf(2 * extent, bound);
        const shape = { type: "u32", rows: 2, extent, lanes, perLane: 4, tiles: 1 } as const;
        const out = undefinedBytes(8 * extent);
        interpretKernel(sortRowsKernel(shape, keyWords("u32")), [encodeValues(keys, "u32", "keys"), out]);
        const want = [0, 1].flatMap((row) => {
          const own = keys.slice(row * extent, (row + 1) * extent);
          return own.map((_, at) => at).sort((a, b) => own[a]! - own[b]! || a - b);
        });
        assert.deepEqual(listOf(out, "i32"), want, `${extent} keys below ${bound}, ${lanes} lanes`);
      }
    }
  }
});

test("a pass over tiles moves keys and positions to the places of a stable sort by its digit", () => {
  const [lanes, perLane, extent] = [DIGITS, 4, 1800];
  const tiles = Math.ceil(extent / (lanes * perLane));
  const shape = { type: "u32", rows: 2, extent, lanes, perLane, tiles } as const;
  for (const [isFirst, isLast, bound] of [
    [true, false, 2 ** 32],
    [false, true, 2 ** 11],
  ] as const) {
    // biome-ignore format: one line
    const shift = 8;
    const keys = keysOf(2 * extent, bound);
    const given = keys.map((_, at) => extent - 1 - (at % extent));
    const digitOf = (key: number) => Math.floor(key / 2 ** shift) % DIGITS;
    const counts = new Array<number>(2 * DIGITS * tiles).fill(0);
    keys.forEach((key, at) => {
      const [row, tile] = [Math.floor(at / extent), Math.floor((at % extent) / (lanes * perLane))];
      counts[(row * DIGITS + digitOf(key)) * tiles + tile]!++;
    });
    const offsets = counts.map((_, at) => counts.slice(at - (at % tiles), at).reduce((a, b) => a + b, 0));
    const inputs = [
      encodeValues(keys, "u32", "keys"),
      ...(isFirst ? [] : [encodeValues(given, "i32", "positions")]),
      ...[counts, offsets].map((table) => encodeValues(table, "i32", "table")),
    ];
    const results = Array.from({ length: isLast ? 1 : 2 }, () => undefinedBytes(8 * extent));
    interpretKernel(sortTilesKernel(shape, { shift, isFirst, isLast }), [...inputs, ...results]);
    const order = [0, 1].flatMap((row) => {
      const own = keys.slice(row * extent, (row + 1) * extent).map(digitOf);
      return own.map((_, at) => at).sort((a, b) => own[a]! - own[b]! || a - b);
    });
    const start = (at: number) => at - (at % extent);
    const positions = order.map((from, at) => (isFirst ? from : given[start(at) + from]!));
    assert.deepEqual(listOf(results.at(-1)!, "i32"), positions, `positions, ${bound}`);
    if (!isLast) assert.deepEqual(listOf(results[0]!, "u32"), order.map((from, at) => keys[start(at) + from]!)); // biome-ignore format: one line
  }
});
