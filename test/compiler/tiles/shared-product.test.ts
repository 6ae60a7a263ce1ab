/** Products in shared memory: barriers, buffers and vectors of the kernel, without a device. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { innerLists, type Kernel, type Statement, walkStatements } from "../../../src/compiler/ir/ir.js";
import type { SharedTile } from "../../../src/compiler/target/tile-profile.js";
import { SEARCHED_VARIANTS } from "../../../src/compiler/tiles/shared-candidates.js";
import type { Node } from "../../../src/graph/node.js";
import { permute } from "../../../src/graph/primitives/movement.js";
import { g } from "../../../src/graph/vocabulary.js";
import { make } from "../../support/nodes.js";
import { interpreted, lowered, matrix, product, sample } from "./product-kernels.js";

const tile: SharedTile = {
  kind: "shared",
  rows: 32,
  columns: 32,
  depth: 16,
  perLane: [4, 4],
  buffers: 1,
  unrolled: 16,
};

const kernelOf = (m: number, k: number, n: number, changes: Partial<SharedTile> = {}): Kernel =>
  lowered({ ...tile, ...changes }, matrix("f32", 1, m, k), matrix("f32", 1, k, n)).kernel;

const barriersIn = (statements: readonly Statement[]): number =>
  statements.filter(({ kind }) => kind === "barrier").length;

test("a workgroup has a lane per part of its tile, and a row of the kernel per tile", () => {
  const kernel = kernelOf(64, 64, 96);
  assert.deepEqual([kernel.lanes, kernel.rows], [64, 2 * 3]);
});

test("with one buffer lanes wait before and after they replace it; with two, once per step", () => {
  for (const [buffers, perStep] of [
    [1, 2],
    [2, 1],
  ] as const) {
    const { body } = kernelOf(64, 64, 64, { buffers });
    assert.equal(barriersIn(body), 1, "the first tile is complete before anyone reads it");
    const steps = body.filter(({ kind }) => kind === "loop").map((loop) => barriersIn(innerLists(loop).flat()));
    assert.deepEqual(steps, [perStep]);
  }
});

test("a summation of a single step loads nothing ahead and needs no further barrier", () => {
  const { body } = kernelOf(64, 16, 64);
  let barriers = 0;
  walkStatements(body, ({ kind }) => {
    if (kind === "barrier") barriers++;
  });
  assert.equal(barriers, 1);
});

test("shared memory holds both operands, with rows that begin in different banks", () => {
  for (const buffers of [1, 2] as const) {
    const sizes = kernelOf(64, 64, 64, { buffers }).arrays.map(({ size }) => size);
    assert.deepEqual(sizes, [buffers * 16 * (32 + 4), buffers * 16 * (32 + 4)]);
  }
});

test("operands are written to shared memory in vectors where the axis is a multiple of one", () => {
  const widths = (n: number) => {
    const found = new Set<number>();
    walkStatements(kernelOf(64, 64, n).body, (statement) => {
      if (statement.kind === "write" && statement.array === 1) found.add(statement.values.length);
    });
    return [...found];
  };
  assert.deepEqual(widths(64), [4]);
  assert.deepEqual(widths(61), [1]);
});

test("loads and stores are gated only where the matrices are no multiple of the tile", () => {
  const gates = (m: number, k: number, n: number) => {
    let count = 0;
    walkStatements(kernelOf(m, k, n).body, (statement) => {
      if ("gate" in statement && statement.gate) count++;
    });
    return count;
  };
  assert.equal(gates(64, 64, 64), 0);
  assert.ok(gates(60, 64, 64) > 0);
  assert.ok(gates(64, 64, 61) > 0);
});

test("every tile that only a search tries computes the product", () => {
  const [m, k, n] = [67, 17, 53];
  const [x, y] = [sample(m * k, 1), sample(k * n, 2)];
  const expected = product(m, k, n, x, y);
  const whole = { kind: "shared", rows: 64, columns: 56, depth: k, perLane: [8, 7], buffers: 1, unrolled: k } as const;
  const slim = [whole, { ...whole, unrolled: 4 }].map((each) => ({ ...each, isSpread: true }));
  for (const tile of [...SEARCHED_VARIANTS.map((each) => each.tile), ...slim]) {
    const [a, b] = [matrix("f32", 1, m, k), matrix("f32", 1, k, n)];
    const kernel = lowered(tile, a, b);
    assert.deepEqual(
      interpreted(
        kernel,
        new Map([
          [a, x],
          [b, y],
        ]),
      ),
      expected,
      JSON.stringify(tile),
    );
  }
});

test("a symmetric product by half has both halves, and an epilogue that is not symmetric", () => {
  const transposed = (x: Node): Node => make(permute, [x], { axes: [0, 2, 1] });
  for (const [size, k] of [
    [32, 9],
    [64, 20],
    [37, 5],
    [68, 3],
    [96, 17],
  ] as const) {
    const [x, c] = [matrix("f32", 2, k, size), matrix("f32", 2, size, size)];
    const [numbers, others] = [sample(2 * k * size, 3), sample(2 * size * size, 4)];
    const gram = [0, 1].flatMap((batch) => {
      const part = numbers.slice(batch * k * size, (batch + 1) * k * size);
      const across = Array.from({ length: k * size }, (_, i) => part[(i % k) * size + Math.floor(i / k)]!);
      return product(size, k, size, across, part);
    });
    const kernel = lowered({ ...tile, isHalf: true }, transposed(x), x, (each) => g.add(each, c));
    const count = Math.ceil(size / tile.rows);
    assert.equal(kernel.kernel.rows, count * (count + 1));
    const values = new Map([
      [x, numbers],
      [c, others],
    ]);
    const expected = gram.map((each, i) => each + others[i]!);
    assert.deepEqual(interpreted(kernel, values), expected, `${size}`);
  }
});
