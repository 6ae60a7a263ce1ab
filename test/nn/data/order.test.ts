/** Orders of epochs: permutations, each as likely, and the same for the same seed. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Seed } from "../../../src/core/seeded-order.js";
import { type Order, shuffled, shuffledByBlocks } from "../../../src/nn/data/order.js";
import { expectFrequencies } from "../../support/goodness-of-fit.js";

const list = (order: Order, count: number): number[] => Array.from({ length: count }, (_, i) => order(i));
const isPermutation = (rows: readonly number[]): boolean =>
  new Set(rows).size === rows.length && rows.every((row) => row >= 0 && row < rows.length);

describe("shuffled", () => {
  for (const [title, longest] of [
    ["kept as a list", 1e6],
    ["computed place by place", 0],
  ] as const) {
    test(`${title}: is a permutation for every count, by the seed alone`, () => {
      for (const count of [1, 2, 3, 5, 16, 17, 100, 1000, 4097]) {
        const rows = list(shuffled(count, [1, 2], longest), count);
        assert.ok(isPermutation(rows), `${count}`);
        assert.deepEqual(rows, list(shuffled(count, [1, 2], longest), count));
      }
      assert.notDeepEqual(list(shuffled(100, [1, 2], longest), 100), list(shuffled(100, [1, 3], longest), 100));
      assert.notDeepEqual(list(shuffled(100, [1, 2], longest), 100), list(shuffled(100, [2, 2], longest), 100));
    });

    test(`${title}: every row is at every place as often, and neighbours are independent`, () => {
      const [count, draws] = [12, 6000];
      const places = new Array<number>(count * count).fill(0);
      const pairs = new Array<number>(count * count).fill(0);
      for (let draw = 0; draw < draws; draw++) {
        const rows = list(shuffled(count, [7, draw] as Seed, longest), count);
        for (const [place, row] of rows.entries()) places[place * count + row]!++;
        pairs[rows[0]! * count + rows[1]!]!++;
      }
      for (let place = 0; place < count; place++) {
        const cells = places.slice(place * count, (place + 1) * count);
        expectFrequencies(cells, new Array(count).fill(1 / count), `place ${place}`);
      }
      const probabilities = pairs.map((_, i) => (Math.floor(i / count) === i % count ? 0 : 1 / (count * (count - 1))));
      const off = (values: readonly number[]) => values.filter((_, i) => Math.floor(i / count) !== i % count);
      expectFrequencies(off(pairs), off(probabilities), "the first two rows");
    });
  }

  test("all 24 orders of four rows are as likely", () => {
    const seen = new Map<string, number>();
    for (let draw = 0; draw < 4800; draw++) {
      const text = list(shuffled(4, [3, draw]), 4).join("");
      seen.set(text, (seen.get(text) ?? 0) + 1);
    }
    assert.equal(seen.size, 24);
    expectFrequencies([...seen.values()], new Array(24).fill(1 / 24), "orders");
  });

  test("a hundred million rows need no list", () => {
    const order = shuffled(100_000_000, [1, 1]);
    const rows = Array.from({ length: 5000 }, (_, i) => order(99_995_000 + i));
    assert.ok(rows.every((row) => Number.isInteger(row) && row >= 0 && row < 100_000_000));
    assert.equal(new Set(rows).size, rows.length);
    const tenths = new Array<number>(10).fill(0);
    for (const row of rows) tenths[Math.floor(row / 10_000_000)]!++;
    expectFrequencies(tenths, new Array(10).fill(0.1), "tenths");
  });
});

test("shuffledByBlocks takes blocks in a shuffled order, and the rows of each, too; a short one stays last", () => {
  for (const [count, block] of [
    [20, 4],
    [23, 4],
    [3, 4],
    [8, 1],
  ] as const) {
    const rows = list(shuffledByBlocks(count, block, [5, 6]), count);
    assert.ok(isPermutation(rows), `${count} by ${block}`);
    for (let from = 0; from < count; from += block) {
      assert.equal(new Set(rows.slice(from, from + block).map((row) => Math.floor(row / block))).size, 1);
    }
    if (count % block > 0) assert.ok(rows.slice(-(count % block)).every((row) => row >= count - (count % block)));
  }
  const order = shuffledByBlocks(23, 4, [5, 6]);
  // Places may be asked for in any order.
  const forwards = list(order, 23);
  const backwards = Array.from({ length: 23 }, (_, i) => order(22 - i)).reverse();
  assert.deepEqual(backwards, forwards);
  assert.notDeepEqual(
    forwards.slice(0, 4),
    [...forwards.slice(0, 4)].sort((a, b) => a - b),
  );
});
