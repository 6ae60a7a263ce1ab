/** Products in panels: packed operands, tiles that overlap at the edges, and sums that wait between blocks. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { walkStatements } from "../../../src/compiler/ir/ir.js";
import type { PanelTile } from "../../../src/compiler/target/tile-profile.js";
import type { Node } from "../../../src/graph/node.js";
import { permute } from "../../../src/graph/primitives/movement.js";
import { g } from "../../../src/graph/vocabulary.js";
import { make } from "../../support/nodes.js";
import { interpreted, lowered, matrix, product, run, sample } from "./product-kernels.js";

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

describe("panels that do not divide the tile", () => {
  const ragged: PanelTile = { ...tile, rows: 10, columns: 21 };

  test("overlap at its end, as tiles do at the end of the matrix", () => {
    for (const [m, k, n] of [
      [10, 12, 21],
      [10, 30, 21],
      [23, 17, 50],
    ] as const) {
      const [a, b] = [matrix("f32", 1, m, k), matrix("f32", 1, k, n)];
      const values = new Map([
        [a, sample(m * k, 1)],
        [b, sample(k * n, 2)],
      ]);
      const expected = product(m, k, n, values.get(a)!, values.get(b)!);
      for (const lanes of [1, 4] as const) {
        const kernel = lowered({ ...ragged, micro: lanes === 1 ? [4, 8] : [4, 2], lanes }, a, b);
        assert.deepEqual(run(kernel, values), expected, `${m}×${k}×${n}, ${lanes} lanes`);
        // Lanes of a vector need no barriers, which the interpreter asks for.
        if (lanes === 1) assert.deepEqual(interpreted(kernel, values), expected);
      }
    }
  });
});

describe("a product by half", () => {
  const half: PanelTile = { ...tile, rows: 16, columns: 16, isHalf: true };
  const transposed = (x: Node): Node => make(permute, [x], { axes: [0, 2, 1] });

  test("has both halves, in one tile or several, of an even number or an odd one", () => {
    for (const [size, k] of [
      [16, 9],
      [21, 12],
      [32, 30],
      [37, 5],
      [50, 3],
      [66, 13],
    ] as const) {
      const x = matrix("f32", 2, k, size);
      const numbers = sample(2 * k * size, 3);
      const expected = [0, 1].flatMap((batch) => {
        const part = numbers.slice(batch * k * size, (batch + 1) * k * size);
        const across = Array.from({ length: k * size }, (_, i) => part[(i % k) * size + Math.floor(i / k)]!);
        return product(size, k, size, across, part);
      });
      const kernel = lowered(half, transposed(x), x);
      const count = Math.ceil(size / 16);
      assert.equal(kernel.kernel.rows, 2 * ((count * (count + 1)) / 2));
      assert.deepEqual(run(kernel, new Map([[x, numbers]])), expected, `${size}`);
    }
  });

  test("is followed by an epilogue that is not symmetric, and need not keep the axes", () => {
    const [x, c] = [matrix("f32", 1, 7, 21), matrix("f32", 1, 21, 21)];
    const [numbers, others] = [sample(7 * 21, 3), sample(21 * 21, 4)];
    const kernel = lowered(half, transposed(x), x, (each) => transposed(g.add(each, c)));
    const gram = product(
      21,
      7,
      21,
      Array.from({ length: 147 }, (_, i) => numbers[(i % 7) * 21 + Math.floor(i / 7)]!),
      numbers,
    );
    const expected = Array.from({ length: 441 }, (_, i) => {
      const from = (i % 21) * 21 + Math.floor(i / 21);
      return gram[from]! + others[from]!;
    });
    const values = new Map([
      [x, numbers],
      [c, others],
    ]);
    assert.deepEqual(run(kernel, values), expected);
  });
});
