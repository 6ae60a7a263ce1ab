/** The results that kernels of attention store for rows: places, sums times factors, inverses and logarithms. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { KernelBuilder } from "../../../../src/compiler/ir/kernel-builder.js";
import { inverses, laneRows, storeLogs, storeSums } from "../../../../src/compiler/routines/attention/row-results.js";
import type { Operand, Sums } from "../../../../src/compiler/routines/attention/tiles.js";
import { dataOf, encodeValues } from "../../../../src/core/storage.js";
import { interpretKernel } from "../../../support/kernel-interpreter.js";
import { laneValues } from "../../../support/lane-values.js";

const settings = { division: "native" } as const;

test("rows lie behind the head's first one; those beyond its last are not there", () => {
  const found = laneValues({ lanes: 8 }, (k) => {
    const { index, isThere } = laneRows(k, [k.lane], k.constant("i32", 100), 5);
    return [...index, ...isThere];
  });
  assert.deepEqual(found, [
    [100, 101, 102, 103, 104, 105, 106, 107],
    [1, 1, 1, 1, 1, 0, 0, 0],
  ]);
});

/** Stores sums of a lane's row, two neighbouring columns at a time, from each of some columns on. */
function storedSums(width: number, columns: readonly number[]): number[] {
  const rows = 3;
  const k = new KernelBuilder("sums", 1, 4);
  const buffer = k.buffer("f32", true);
  const i = (value: number) => k.constant("i32", value);
  const f = (value: number) => k.constant("f32", value);
  const sums: Sums<Operand> = {
    initial: [],
    add: () => [],
    each: (_, visit) => {
      for (const column of columns) visit(0, i(column), [f(10 + column), f(11 + column)]);
    },
  };
  const factors = [k.convert("f32", k.binary("add", k.lane, i(1)))];
  storeSums(k, sums, [], laneRows(k, [k.lane], i(1), rows), { buffer, width, factors });
  const bytes = encodeValues(new Array((rows + 2) * width).fill(-1), "f32", "test");
  interpretKernel(k.finish(), [bytes]);
  return [...dataOf(bytes, "f32")];
}

test("sums are stored times the factor of their row, inside the width and the rows alone", () => {
  const want = (width: number) =>
    Array.from({ length: 5 * width }, (_, at) => {
      const [row, column] = [Math.floor(at / width) - 1, at % width];
      return row >= 0 && row < 3 ? (10 + column) * (row + 1) : -1;
    });
  assert.deepEqual(storedSums(4, [0, 2, 4]), want(4), "vectors that end with the width");
  assert.deepEqual(storedSums(3, [0, 2, 4]), want(3), "a vector that the width cuts");
});

test("inverses are 1 / total, and what is asked for where a total is 0", () => {
  const values = [2, 0, 0.75, 3e5];
  for (const empty of [0, Number.NaN]) {
    const [found] = laneValues({ lanes: 4, inputs: [{ dtype: "f32", values }] }, (k) =>
      inverses(k, settings, [k.load(0, k.lane, "f32")], empty),
    );
    assert.deepEqual(
      found,
      values.map((x) => (x === 0 ? empty : Math.fround(1 / Math.fround(x)))),
    );
  }
});

test("logarithms are the largest score plus that of the total, stored by one lane of each row that is there", () => {
  const k = new KernelBuilder("logs", 1, 4);
  const [largest, totals, out] = [k.buffer("f32", false), k.buffer("f32", false), k.buffer("f32", true)];
  const i = (value: number) => k.constant("i32", value);
  const row = k.binary("idiv", k.lane, i(2));
  const isOne = k.compare("eq", k.binary("irem", k.lane, i(2)), i(0));
  // The other lane of a row has another total, which must not be stored.
  const place = k.select(isOne, row, i(2));
  const rows = laneRows(k, [row], i(1), 2);
  const values = { largest: [k.load(largest, row, "f32")], totals: [k.load(totals, place, "f32")], isOne };
  storeLogs(k, settings, out, rows, values);
  const encoded = (list: number[]) => encodeValues(list, "f32", "test");
  const bytes = encoded([9, 9, 9, 9]);
  interpretKernel(k.finish(), [encoded([3, -Infinity]), encoded([5, 0, 77]), bytes]);
  const [before, first, second, behind] = dataOf(bytes, "f32");
  assert.deepEqual([before, second, behind], [9, -Infinity, 9]);
  assert.ok(Math.abs(first! - (3 + Math.log(5))) < 1e-6, `${first}`);
});
