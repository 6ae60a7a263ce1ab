/** Where a kernel's tile of attention lies, and which tiles of columns it walks over, against plain loops. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { AttentionProblem } from "../../../../src/compiler/routines/attention/problem.js";
import {
  firstRowOf,
  keyHeadOf,
  mostColumns,
  overHeads,
  placeOf,
  walkOver,
} from "../../../../src/compiler/routines/attention/walk.js";
import { laneValues } from "../../../support/lane-values.js";

const grouped = { heads: 6, keyHeads: 2 } as AttentionProblem;

test("rows of a kernel go through tiles, then heads, then members; reversed, the last tile comes first", () => {
  const [tiles, rows, heads, batch] = [3, 16, 2, 2];
  for (const isReversed of [false, true]) {
    const want: number[][] = [];
    for (let member = 0; member < batch; member++) {
      for (let head = 0; head < heads; head++) {
        for (let tile = 0; tile < tiles; tile++) {
          want.push([member, head, (isReversed ? tiles - 1 - tile : tile) * rows]);
        }
      }
    }
    const found = laneValues({ rows: want.length }, (k) => {
      const { member, head, first } = placeOf(k, tiles, rows, heads, isReversed);
      return [member, head, first];
    });
    assert.deepEqual(
      want.map((_, at) => found.map((list) => list[at])),
      want,
    );
  }
});

test("the first row of a head, and the key head of a query head", () => {
  const found = laneValues({ rows: 12 }, (k) => {
    const [member, head] = [
      k.binary("idiv", k.row, k.constant("i32", 6)),
      k.binary("irem", k.row, k.constant("i32", 6)),
    ];
    return [firstRowOf(k, member, head, 6, 10), keyHeadOf(k, head, grouped)];
  });
  assert.deepEqual(found, [Array.from({ length: 12 }, (_, at) => 10 * at), [0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1]]);
});

test("the query heads of a key head are visited once each, in order", () => {
  // The digits of a number are the heads.
  const visited = (problem: AttentionProblem) =>
    laneValues({ rows: problem.keyHeads }, (k) =>
      overHeads(k, k.row, problem, [k.constant("i32", 0)], (head, [sum]) => [
        k.binary("add", k.binary("mul", sum!, k.constant("i32", 10)), head),
      ]),
    )[0];
  assert.deepEqual(visited(grouped), [12, 345]);
  assert.deepEqual(visited({ heads: 3, keyHeads: 3 } as AttentionProblem), [0, 1, 2]);
  assert.deepEqual(visited({ heads: 4, keyHeads: 1 } as AttentionProblem), [123]);
});

test("a walk visits the tiles of columns that meet its range, whatever the range", () => {
  const [columns, extent] = [8, 40];
  for (const [from, to] of [
    [0, 40],
    [0, 8],
    [3, 9],
    [7, 9],
    [8, 16],
    [15, 17],
    [33, 40],
  ] as const) {
    const most = mostColumns(to - from, 0, 0, extent);
    const [[visited], [rounds]] = laneValues({ inputs: [{ dtype: "i32", values: [from, to] }] }, (k) => {
      const [start, end] = [0, 1].map((at) => k.load(0, k.constant("i32", at), "i32"));
      const none = k.constant("i32", 0);
      // A bit for each column at which a tile began.
      return walkOver(k, { from: start!, to: end! }, columns, most, [none, none], (first, [seen, count]) => [
        k.binary(
          "or",
          seen!,
          k.binary("shl", k.constant("i32", 1), k.bitcast("u32", k.binary("idiv", first, k.constant("i32", columns)))),
        ),
        k.binary("add", count!, k.constant("i32", 1)),
      ]);
    }) as [number[], number[]];
    const tiles = [0, 1, 2, 3, 4].filter((tile) => tile * columns < to && (tile + 1) * columns > from);
    assert.equal(
      visited,
      tiles.reduce((bits, tile) => bits | (1 << tile), 0),
      `${from}…${to}`,
    );
    assert.equal(rounds, tiles.length, `rounds of ${from}…${to}`);
  }
});

test("an empty range is one round", () => {
  const [rounds] = laneValues({ inputs: [{ dtype: "i32", values: [16, 4] }] }, (k) => {
    const [from, to] = [0, 1].map((at) => k.load(0, k.constant("i32", at), "i32"));
    return walkOver(k, { from: from!, to: to! }, 8, 40, [k.constant("i32", 0)], (_, [count]) => [
      k.binary("add", count!, k.constant("i32", 1)),
    ]);
  });
  assert.deepEqual(rounds, [1]);
});

test("the most columns are those of the window of all rows, at most all", () => {
  assert.equal(mostColumns(16, 5, 0, 1000), 21);
  assert.equal(mostColumns(16, 5, 7, 1000), 28);
  assert.equal(mostColumns(16, Infinity, 0, 1000), 1000);
  assert.equal(mostColumns(16, 500, 500, 1000), 1000);
});
