/** Products in panels: packed operands, tiles that overlap at the edges, and sums that wait between blocks. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { walkStatements } from "../../../src/compiler/ir/ir.js";
import type { PanelTile } from "../../../src/compiler/target/tile-profile.js";
import { lowered, matrix, product, run, sample } from "./product-kernels.js";

const tile: PanelTile = { kind: "panels", rows: 8, columns: 16, depth: 12, micro: [4, 2], lanes: 4 };

const kernelOf = (m: number, k: number, n: number) =>
  lowered(tile, matrix("f32", 1, m, k), matrix("f32", 1, k, n)).kernel;

describe("the kernel", () => {
  test("a summation that fits one block needs two arrays; a longer one a third, for the sums", () => {
    assert.equal(kernelOf(16, 12, 32).arrays.length, 2);
    const [, , sums] = kernelOf(16, 13, 32).arrays;
    assert.equal(sums!.size, 8 * 16);
  });

  test("panels are a cache line apart beyond their length", () => {
    const [left, right] = kernelOf(16, 12, 32).arrays;
    assert.equal(left!.size, (8 / 4) * (4 * 12 + 16));
    assert.equal(right!.size, (16 / 8) * (8 * 12 + 16));
  });

  test("nothing is gated: rows of the kernel that overlap store the same elements", () => {
    const kernel = kernelOf(9, 5, 17);
    assert.ok(kernel.isRepeating);
    assert.equal(kernel.rows, 4);
    walkStatements(kernel.body, (statement) => {
      if (statement.kind === "store") assert.equal(statement.gate, null);
    });
  });
});

describe("the result", () => {
  for (const [m, k, n] of [
    [8, 12, 16],
    [9, 5, 17],
    [20, 37, 33],
    [8, 25, 16],
  ] as const) {
    test(`${m}×${k} times ${k}×${n}`, () => {
      const [a, b] = [matrix("f32", 1, m, k), matrix("f32", 1, k, n)];
      const [x, y] = [sample(m * k, 1), sample(k * n, 2)];
      const values = new Map([
        [a, x],
        [b, y],
      ]);
      assert.deepEqual(run(lowered(tile, a, b), values), product(m, k, n, x, y));
    });
  }
});
