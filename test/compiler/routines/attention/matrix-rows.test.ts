/** Rows on their way to matrix units: what lies where in shared memory, and which words a fragment reads. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { KernelBuilder } from "../../../../src/compiler/ir/kernel-builder.js";
import { MatrixRows, UNIT, wordPitch } from "../../../../src/compiler/routines/attention/matrix-rows.js";
import { dataOf, encodeValues } from "../../../../src/core/storage.js";
import { interpretKernel } from "../../../support/kernel-interpreter.js";

test("rows begin at units, and neighbours in other banks", () => {
  for (const width of [16, 32, 64, 128, 256]) {
    const pitch = wordPitch(width);
    assert.ok(pitch >= width / 2);
    assert.equal(pitch % 4, 0);
    assert.notEqual(pitch % 32, 0);
  }
});

interface Case {
  readonly lanes: number;
  readonly count: number;
  readonly width: number;
  readonly padded: number;
  readonly first: number;
}

/** Row-major numbers 0, 1, … of a tensor of 2 heads with 10 rows each; the second head's rows are kept. */
function kept({ lanes, count, width, padded, first }: Case) {
  const k = new KernelBuilder("rows", 1, lanes);
  const [from, to] = [k.buffer("f16", false), k.buffer("u32", true)];
  const place = 8;
  const size = place + count * wordPitch(padded);
  const array = k.array("u32", size);
  const rows = new MatrixRows(k, array, place, { buffer: from, count: 10, width }, count, padded);
  const words = rows.load(k.constant("i32", 10), k.constant("i32", first));
  assert.equal(words.length, rows.wordCount);
  rows.keep(words);
  k.barrier();
  for (let row = 0; row < count; row++) {
    for (let word = 0; word < padded / 2; word++) {
      const at = k.constant("i32", place + row * wordPitch(padded) + word);
      k.store(to, k.constant("i32", (row * padded) / 2 + word), k.get(array, at), false);
    }
  }
  const given = Array.from({ length: 20 * width }, (_, at) => at);
  const bytes = new Uint8Array(2 * count * padded);
  interpretKernel(k.finish(), [encodeValues(given, "f16", "test"), bytes]);
  return [...dataOf(bytes, "f16")].map(Number);
}

const cases: Case[] = [
  { lanes: 4, count: 4, width: 16, padded: 16, first: 2 },
  // Units that lanes do not divide, numbers behind the row, rows beyond the last.
  { lanes: 8, count: 3, width: 8, padded: 16, first: 8 },
  { lanes: 32, count: 5, width: 24, padded: 32, first: 0 },
];

for (const each of cases) {
  const { lanes, count, width, padded, first } = each;
  test(`${count} rows of ${width}, padded to ${padded}, by ${lanes} lanes: as in memory, zeros behind, the last again`, () => {
    const want = Array.from({ length: count * padded }, (_, at) => {
      const [row, column] = [Math.floor(at / padded), at % padded];
      return column < width ? (10 + Math.min(first + row, 9)) * width + column : 0;
    });
    const bits = (values: readonly number[]) =>
      [...dataOf(encodeValues([...values], "f16", "test"), "f16")].map(Number);
    assert.deepEqual(kept(each), bits(want));
  });
}

test("fragments lie a pitch from row to row, from their row and column on", () => {
  const k = new KernelBuilder("rows", 1, 32);
  const array = k.array("u32", 1000);
  const rows = new MatrixRows(k, array, 100, { buffer: k.buffer("f16", false), count: 10, width: 32 }, 16, 32);
  const place = rows.fragment(k.constant("i32", 3), 16, true);
  assert.deepEqual(
    { ...place, index: place.index.attribute },
    { array, index: 100 + 3 * 20 + UNIT, pitch: 20, isByColumns: true },
  );
  assert.equal(rows.fragment(k.constant("i32", 0), 0, false).isByColumns, false);
});
