/** The elements of fragments that lanes hold: each is held once, and rows are combined whatever the device's choice is. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { KernelBuilder } from "../../../../src/compiler/ir/kernel-builder.js";
import { FragmentLanes, laneWords, sumFragment } from "../../../../src/compiler/routines/attention/fragment-lanes.js";
import { dataOf } from "../../../../src/core/storage.js";
import { interpretKernel } from "../../../support/kernel-interpreter.js";

const EXTENT = 16;

/** Stores, for each element of each lane, its place, its row's largest and total, and for each row what storedRows says. */
function run(subgroupSize: number, pairs: boolean, subgroups = 2) {
  const fragment = { operand: "f16", rows: EXTENT, columns: EXTENT, depth: EXTENT, pairs } as const;
  const k = new KernelBuilder("lanes", 1, subgroups * subgroupSize, subgroupSize);
  const [places, largest, totals, stored] = [0, 1, 2, 3].map(() => k.buffer("f32", true)) as [
    number,
    number,
    number,
    number,
  ];
  const i = (value: number) => k.constant("i32", value);
  const words = laneWords(fragment);
  const array = k.array("u32", subgroups * words);
  const subgroup = k.binary("idiv", k.lane, i(subgroupSize));
  const lanes = new FragmentLanes(k, fragment, array, k.binary("mul", subgroup, i(words)));
  const held = sumFragment(k, fragment);
  k.fillFragment(held, 0);
  const place = lanes.columns.map((column, at) =>
    k.binary("add", k.binary("mul", lanes.rows[lanes.rowOf(at)]!, i(EXTENT)), column),
  );
  const size = place.length;
  const index = (at: number) => k.binary("add", k.binary("mul", k.lane, i(size)), i(at));
  place.forEach((at, e) => {
    k.store(places, index(e), k.convert("f32", at), false);
  });
  // The number of an element is its place; of a pair, that of the first.
  const own = lanes.rows.map((_, row) => k.convert("f32", place[row * lanes.perRow]!));
  for (const [op, buffer] of [
    ["max", largest],
    ["add", totals],
  ] as const) {
    lanes.overRows(op, own).forEach((x, row) => {
      for (let part = 0; part < lanes.perRow; part++) k.store(buffer, index(row * lanes.perRow + part), x, false);
    });
  }
  const first = k.binary("mul", subgroup, i(EXTENT));
  for (const { row, value } of lanes.storedRows(lanes.rows.map((each) => k.convert("f32", each)))) {
    k.store(stored, k.binary("add", first, row), value, false, lanes.isFirst);
  }
  // Once more, after what lanes have just read: the memory is written again.
  lanes.overRows("add", own).forEach((x, row) => {
    for (let part = 0; part < lanes.perRow; part++) k.store(totals, index(row * lanes.perRow + part), x, false);
  });
  const elements = subgroups * EXTENT * EXTENT;
  const buffers = [elements, elements, elements, subgroups * EXTENT].map((count) => new Uint8Array(4 * count));
  interpretKernel(k.finish(), buffers);
  return buffers.map((bytes) => [...dataOf(bytes, "f32")]) as [number[], number[], number[], number[]];
}

for (const subgroupSize of [8, 16, 32, 64]) {
  for (const pairs of [false, true]) {
    test(`subgroups of ${subgroupSize}${pairs ? ", pairs of neighbours" : ", scattered elements"}`, () => {
      const [places, largest, totals, stored] = run(subgroupSize, pairs);
      const step = pairs ? 2 : 1;
      for (const subgroup of [0, 1]) {
        const own = places.slice(subgroup * EXTENT ** 2, (subgroup + 1) * EXTENT ** 2);
        assert.deepEqual(
          own.toSorted((a, b) => a - b),
          Array.from({ length: EXTENT ** 2 }, (_, at) => at),
        );
      }
      places.forEach((place, at) => {
        const row = Math.floor(place / EXTENT);
        const numbers = Array.from({ length: EXTENT / step }, (_, c) => row * EXTENT + step * c);
        assert.equal(largest[at], Math.max(...numbers));
        assert.equal(
          totals[at],
          numbers.reduce((a, b) => a + b),
        );
      });
      assert.deepEqual(
        stored,
        Array.from({ length: 2 * EXTENT }, (_, at) => at % EXTENT),
      );
    });
  }
}
