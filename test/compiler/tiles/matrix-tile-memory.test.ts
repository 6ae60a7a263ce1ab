/** The layout of shared memory of a product on matrix units: what must not overlap, where lines begin, and how much it is. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { MatrixTile } from "../../../src/compiler/target/tile-profile.js";
import {
  matrixLanesOf,
  matrixTileMemory,
  operandWords,
  pitchOfLine,
  stagedPitch,
  unitOf,
} from "../../../src/compiler/tiles/matrix-tile-memory.js";

const tile: MatrixTile = {
  ...{ kind: "matrix", rows: 64, columns: 128, depth: 32, subgroups: [2, 4], subgroupSize: 32, parts: 1, promoted: 0 },
  fragment: { operand: "f16", rows: 16, columns: 16, depth: 16 },
};
const bytes: MatrixTile = { ...tile, fragment: { operand: "i8", rows: 16, columns: 16, depth: 32 } };

test("lanes are those of all subgroups, units are 16 bytes", () => {
  assert.equal(matrixLanesOf(tile), 256);
  assert.equal(unitOf(tile), 8);
  assert.equal(unitOf(bytes), 16);
});

test("lines hold their elements, begin at 16 bytes, and neighbours begin in other banks", () => {
  for (const extent of [16, 32, 64, 128, 256]) {
    for (const each of [tile, bytes]) {
      const pitch = pitchOfLine(each, extent);
      const elementBytes = 16 / unitOf(each);
      assert.ok(4 * pitch >= extent * elementBytes);
      assert.equal(pitch % 4, 0, "16 bytes");
      // Eight lines of 16 bytes at one place fill the 32 banks, where lines of 128 bytes and more would meet in four.
      if (extent * elementBytes < 128) continue;
      const banks = Array.from({ length: 8 }, (_, line) => (line * pitch) % 32);
      assert.equal(new Set(banks).size, 8, `${extent} of ${each.fragment.operand}`);
    }
  }
});

test("an operand's part has room for lines along the summation and across it", () => {
  for (const [rows, depth] of [
    [64, 32],
    [16, 64],
    [256, 16],
  ] as const) {
    const words = operandWords({ ...tile, depth }, rows);
    const along = (rows * (depth + 8)) / 2;
    const across = (depth * (rows + 8)) / 2;
    assert.equal(words, Math.max(along, across));
  }
});

test("the right operand begins behind all parts of the left one", () => {
  assert.equal(matrixTileMemory(tile).right, operandWords(tile, 64));
  const split: MatrixTile = { ...tile, parts: 2 };
  const { right, words } = matrixTileMemory(split);
  assert.equal(right, 2 * operandWords(tile, 64));
  assert.ok(words >= right + 2 * operandWords(tile, 128));
});

test("sums are staged as many columns at a time as fit where operands lie, and divide a subgroup's", () => {
  const tiles: MatrixTile[] = [];
  for (const depth of [16, 32, 64]) {
    for (const columns of [32, 64, 96, 128]) {
      for (const subgroups of [
        [1, 1],
        [2, 1],
        [2, 2],
      ] as const) {
        tiles.push({ ...tile, depth, columns, subgroups });
      }
    }
  }
  const found = new Set<number>();
  for (const each of tiles) {
    const { words, right, stagedColumns } = matrixTileMemory(each);
    const operands = right + operandWords(each, each.columns);
    const fragments = each.columns / each.subgroups[1] / 16;
    const staged = (count: number) => each.subgroups[0] * each.subgroups[1] * 16 * stagedPitch(count * 16);
    assert.equal(fragments % stagedColumns, 0);
    assert.equal(words, Math.max(operands, staged(stagedColumns)));
    if (stagedColumns > 1) assert.equal(words, operands, "staging more takes no more memory");
    const isMost = fragments % (2 * stagedColumns) !== 0 || staged(2 * stagedColumns) > operands;
    assert.ok(isMost, `${JSON.stringify(each)}: ${stagedColumns}`);
    found.add(stagedColumns);
  }
  assert.ok(found.size > 1, "several answers occur");
});

test("rows of staged sums begin in other banks, at whole vectors", () => {
  for (const width of [16, 32, 64]) {
    const pitch = stagedPitch(width);
    assert.ok(pitch >= width);
    assert.equal(pitch % 4, 0);
    assert.notEqual(pitch % 32, 0);
  }
});
