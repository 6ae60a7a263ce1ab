/** Products in registers: one loop over the summation, no memory of the workgroup, and edges that are gated. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { walkStatements } from "../../../src/compiler/ir/ir.js";
import { lowered, matrix, product, run, sample } from "./product-kernels.js";

const tile = { kind: "registers", rows: 4, columns: 2 } as const;

test("a thread has a tile; there are no arrays, no barriers, and one loop", () => {
  const { kernel } = lowered(tile, matrix("f32", 3, 8, 20), matrix("f32", 3, 20, 6));
  assert.deepEqual([kernel.rows, kernel.lanes, kernel.arrays.length], [3 * 2 * 3, 1, 0]);
  const kinds: string[] = [];
  walkStatements(kernel.body, ({ kind }) => kinds.push(kind));
  assert.equal(kinds.filter((kind) => kind === "loop").length, 1);
  assert.equal(kinds.filter((kind) => kind === "store").length, 8);
  assert.ok(!kinds.includes("barrier"));
});

test("stores are gated where tiles reach beyond the result, and only there", () => {
  const gates = (m: number, n: number) => {
    const { kernel } = lowered(tile, matrix("f32", 1, m, 5), matrix("f32", 1, 5, n));
    let count = 0;
    walkStatements(kernel.body, (statement) => {
      if (statement.kind === "store" && statement.gate) count++;
    });
    return count;
  };
  assert.equal(gates(8, 6), 0);
  assert.equal(gates(7, 6), 8);
});

test("edges are right", () => {
  const [m, k, n] = [7, 5, 3];
  const [a, b] = [matrix("f32", 1, m, k), matrix("f32", 1, k, n)];
  const [x, y] = [sample(m * k, 1), sample(k * n, 2)];
  assert.deepEqual(
    run(
      lowered(tile, a, b),
      new Map([
        [a, x],
        [b, y],
      ]),
    ),
    product(m, k, n, x, y),
  );
});
