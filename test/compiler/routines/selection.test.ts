/** Elements by their rank without sorting, against a stable sort in JavaScript. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { KernelBuilder } from "../../../src/compiler/ir/kernel-builder.js";
import { type Keyed, LAST_KEY, NOWHERE, SelectionOps } from "../../../src/compiler/routines/selection.js";
import { laneValues } from "../../support/lane-values.js";
import { randomFrom } from "../../support/random.js";

const LANES = 8;

/** The elements of a lane: `each` of them, a row of lanes apart; places beyond the last have no element. */
function itemsOf(k: KernelBuilder, count: number, each: number): Keyed[] {
  return Array.from({ length: each }, (_, j) => {
    const at = k.binary("add", k.lane, k.constant("i32", j * LANES));
    const isThere = k.compare("lt", at, k.constant("i32", count));
    const key = k.load(0, k.select(isThere, at, k.constant("i32", 0)), "u32");
    return {
      key: k.select(isThere, key, k.constant("u32", LAST_KEY)),
      at: k.select(isThere, at, k.constant("i32", NOWHERE)),
    };
  });
}

/** What all lanes agree on, of a row with these keys. */
function selected(keys: readonly number[], find: (s: SelectionOps, items: readonly Keyed[]) => Keyed) {
  const lists = laneValues({ lanes: LANES, inputs: [{ dtype: "u32", values: keys }] }, (k) => {
    const { key, at } = find(new SelectionOps(k), itemsOf(k, keys.length, Math.ceil(keys.length / LANES)));
    return [key, at];
  });
  return lists.map((list) => {
    assert.equal(new Set(list).size, 1, "lanes agree");
    return list[0];
  });
}

const sorted = (keys: readonly number[]) =>
  keys.map((key, at) => [key, at] as const).sort((a, b) => a[0] - b[0] || a[1] - b[1]);

const random = randomFrom(3);
const rows = {
  "keys that differ": Array.from({ length: 21 }, () => random.below(2 ** 32)),
  "many equal keys": Array.from({ length: 21 }, () => random.below(3)),
  "one key only": new Array(16).fill(7),
  "the first and the last key": [LAST_KEY, 0, LAST_KEY, 0, 2 ** 31, LAST_KEY, LAST_KEY - 1, 2 ** 31 - 1, LAST_KEY],
};

for (const [title, keys] of Object.entries(rows)) {
  test(`${title}: the element of every rank is that of a stable sort`, () => {
    sorted(keys).forEach((want, rank) => {
      assert.deepEqual(
        selected(keys, (s, items) => s.ofRank(items, s.i(rank), 5)),
        [...want],
        `rank ${rank}`,
      );
    });
  });
}

test("the first and the last element with a property; equal keys by their positions", () => {
  const keys = [5, 2, 9, 2, 9, 4, 2, 9, 3];
  const isOver = (bound: number) => (s: SelectionOps) => (item: Keyed) => s.k.compare("gt", item.key, s.u(bound));
  const isUnder = (s: SelectionOps) => (item: Keyed) => s.k.compare("lt", item.key, s.u(5));
  assert.deepEqual(
    selected(keys, (s, items) => s.extreme("min", items, isOver(2)(s))),
    [3, 8],
  );
  assert.deepEqual(
    selected(keys, (s, items) => s.extreme("min", items, isUnder(s))),
    [2, 1],
  );
  assert.deepEqual(
    selected(keys, (s, items) => s.extreme("max", items, isUnder(s))),
    [4, 5],
  );
});

test("counts are those of all lanes, or of the lane's own elements", () => {
  const keys = Array.from({ length: 12 }, (_, i) => i);
  const [all, own] = laneValues({ lanes: LANES, inputs: [{ dtype: "u32", values: keys }] }, (k) => {
    const s = new SelectionOps(k);
    const isOdd = ({ key }: Keyed) => k.compare("eq", s.and(key, s.u(1)), s.u(1));
    const isThere = (item: Keyed) => s.and(isOdd(item), k.compare("lt", item.at, s.i(NOWHERE)));
    return [s.count(itemsOf(k, 12, 2), isThere), s.ownCount(itemsOf(k, 12, 2), isThere)];
  });
  assert.deepEqual(all, new Array(LANES).fill(6));
  assert.deepEqual(own, [0, 2, 0, 2, 0, 1, 0, 1]);
});

test("an element stands before another by its key, then by its position", () => {
  const pairs = [
    [1, 5, 2, 0],
    [2, 0, 1, 5],
    [3, 1, 3, 2],
    [3, 2, 3, 2],
    [3, 2, 3, 1],
  ] as const;
  for (const [key, at, otherKey, otherAt] of pairs) {
    const [[isBefore], [orSame]] = laneValues({ inputs: [{ dtype: "u32", values: [key, otherKey] }] }, (k) => {
      const s = new SelectionOps(k);
      const [a, b] = [0, 1].map((place) => k.load(0, s.i(place), "u32"));
      const both = [
        { key: a!, at: s.i(at) },
        { key: b!, at: s.i(otherAt) },
      ] as const;
      return [s.isBefore(...both), s.isBefore(...both, true)];
    }) as [number[], number[]];
    const order = key - otherKey || at - otherAt;
    assert.deepEqual([isBefore, orSame], [Number(order < 0), Number(order <= 0)], `${[key, at, otherKey, otherAt]}`);
  }
});
