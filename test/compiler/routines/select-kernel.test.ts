/** The kernels of order statistics, interpreted: elements of given ranks and the first elements, against a stable sort. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Kernel } from "../../../src/compiler/ir/ir.js";
import { LEAST_LANES } from "../../../src/compiler/routines/lane-sums.js";
import {
  firstsKernel,
  KEYS,
  type KeySource,
  mostFirsts,
  ranksKernel,
} from "../../../src/compiler/routines/select-kernel.js";
import { dataOf, encodeValues } from "../../../src/core/storage.js";
import { interpretKernel } from "../../support/kernel-interpreter.js";
import { randomFrom } from "../../support/random.js";

const ROWS = 2;

/** Two rows of keys below a bound: few of them are many equal ones. */
function keysOf(extent: number, bound: number): number[] {
  const random = randomFrom(extent + bound);
  return Array.from({ length: ROWS * extent }, () => random.below(bound));
}

/** Positions of a row's keys in the order of a stable sort. */
const orderOf = (keys: readonly number[]) => keys.map((_, at) => at).sort((a, b) => keys[a]! - keys[b]! || a - b);

function positions(kernel: Kernel, keys: readonly number[], each: number): number[][] {
  const bytes = new Uint8Array(4 * ROWS * each);
  interpretKernel(kernel, [encodeValues([...keys], kernel.buffers[0]!.dtype, "test"), bytes]);
  const found = [...dataOf(bytes, "i32")];
  return Array.from({ length: ROWS }, (_, row) => found.slice(row * each, (row + 1) * each));
}

const ordersOf = (keys: readonly number[], extent: number) =>
  Array.from({ length: ROWS }, (_, row) => orderOf(keys.slice(row * extent, (row + 1) * extent)));

test("ranks: the position of each, with different keys and equal ones, in rows that fill the lanes or do not", () => {
  for (const [extent, lanes, perLane] of [
    [16, 4, 4],
    [29, 8, 4],
    [5, 2, 4],
  ] as const) {
    for (const bound of [3, 2 ** 32]) {
      const keys = keysOf(extent, bound);
      const ranks = [0, extent - 1, extent >> 1];
      const found = positions(ranksKernel({ rows: ROWS, extent, lanes, perLane }, ranks), keys, ranks.length);
      const want = ordersOf(keys, extent).map((order) => ranks.map((rank) => order[rank]!));
      assert.deepEqual(found, want, `${extent} keys below ${bound}`);
    }
  }
});

test("keys are made of what is loaded: the largest come first where keys are turned round", () => {
  const turned: KeySource = { dtype: "u32", keyOf: (k, x) => k.unary("not", x) };
  const keys = keysOf(16, 1000);
  const shape = { rows: ROWS, extent: 16, lanes: 4, perLane: 4 };
  const [down, up] = [turned, KEYS].map((source) => positions(ranksKernel(shape, [0], source), keys, 1).flat());
  for (let row = 0; row < ROWS; row++) {
    const own = keys.slice(16 * row, 16 * (row + 1));
    assert.equal(own[down![row]!], Math.max(...own));
    assert.equal(own[up![row]!], Math.min(...own));
  }
});

test("the first elements in their order, over several chunks of a row", () => {
  const lanes = LEAST_LANES;
  for (const [extent, count] of [
    [700, 7],
    [256, 1],
    [300, mostFirsts(lanes)],
  ] as const) {
    for (const bound of [4, 2 ** 32]) {
      const keys = keysOf(extent, bound);
      const found = positions(firstsKernel({ rows: ROWS, extent, lanes, perLane: 4 }, count), keys, count);
      const want = ordersOf(keys, extent).map((order) => order.slice(0, count));
      assert.deepEqual(found, want, `${count} of ${extent} below ${bound}`);
    }
  }
});
