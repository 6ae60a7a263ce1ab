/** The functions that rules of primitives are written in, by the interpreter. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Node } from "../../src/graph/node.js";
import { g } from "../../src/graph/vocabulary.js";
import { stored, storedAs } from "../support/nodes.js";
import { plainValues } from "../support/plain-graph.js";
import { sizeOf } from "../support/plain-views.js";

/** The values of what is made of 0, 1, 2 … in a shape. */
function counted(
  shape: readonly number[],
  f: (x: Node) => Node,
): { shape: readonly number[]; values: readonly unknown[] } {
  const x = stored(...shape);
  const node = f(x);
  const values = Array.from({ length: sizeOf(shape) }, (_, i) => i);
  return { shape: node.shape, values: plainValues([node], new Map([[x, values]]))[0]! };
}

test("sums go back to the shape that broadcasting stretched", () => {
  assert.deepEqual(
    counted([2, 3], (x) => g.sumTo(x, [3])),
    { shape: [3], values: [3, 5, 7] },
  );
  assert.deepEqual(
    counted([2, 3], (x) => g.sumTo(x, [2, 1])),
    { shape: [2, 1], values: [3, 12] },
  );
  assert.deepEqual(
    counted([2, 3], (x) => g.sumTo(x, [])),
    { shape: [], values: [15] },
  );
  const x = stored(2, 3);
  assert.equal(g.sumTo(x, [2, 3]), x);
});

test("what was reduced is stretched along the axes it was reduced over", () => {
  assert.deepEqual(counted([2], (x) => g.unreduce(x, [2, 3], [1])).values, [0, 0, 0, 1, 1, 1]);
  assert.deepEqual(counted([3], (x) => g.unreduce(x, [2, 3], [0])).values, [0, 1, 2, 0, 1, 2]);
});

test("an axis brought to the front goes back to its place", () => {
  assert.deepEqual(
    counted([2, 3], (x) => g.axisFirst(x, 1)),
    { shape: [3, 2], values: [0, 3, 1, 4, 2, 5] },
  );
  for (const axis of [0, 1, 2]) {
    const there = counted([2, 3, 4], (x) => g.firstToAxis(g.axisFirst(x, axis), axis));
    assert.deepEqual(
      there,
      counted([2, 3, 4], (x) => x),
    );
  }
});

test("flips, transposes, counts and triangles", () => {
  assert.deepEqual(counted([2, 3], (x) => g.flip(x, [1])).values, [2, 1, 0, 5, 4, 3]);
  assert.deepEqual(counted([2, 3], (x) => g.flip(x, [0, 1])).values, [5, 4, 3, 2, 1, 0]);
  assert.deepEqual(counted([1, 2, 3], g.transposed), { shape: [1, 3, 2], values: [0, 3, 1, 4, 2, 5] });
  assert.deepEqual(counted([2, 3], (x) => g.counting(x.shape, 1, x)).values, [0, 1, 2, 0, 1, 2]);
  assert.deepEqual(counted([3, 3], (x) => g.lowerPart(x)).values, [0, 0, 0, 3, 4, 0, 6, 7, 8]);
  assert.deepEqual(counted([3, 3], (x) => g.lowerPart(x, 0.5)).values, [0, 0, 0, 3, 2, 0, 6, 7, 4]);
  assert.deepEqual(counted([3, 3], (x) => g.lowerPart(x, 0)).values, [0, 0, 0, 3, 0, 0, 6, 7, 0]);
});

test("products of matrices go over equal leading axes", () => {
  const [a, b] = [stored(2, 1, 2), stored(2, 2, 1)];
  const node = g.matmul(a, b);
  assert.deepEqual(node.shape, [2, 1, 1]);
  assert.deepEqual(
    plainValues(
      [node],
      new Map([
        [a, [1, 2, 3, 4]],
        [b, [5, 6, 7, 8]],
      ]),
    )[0],
    [17, 53],
  );
});

test("rows are added at positions; those outside are left out; halves are added as f32", () => {
  for (const dtype of ["f32", "f16"] as const) {
    const [x, positions, updates] = [storedAs(dtype, 3, 2), storedAs("i32", 4), storedAs(dtype, 4, 2)];
    const node = g.scatterAdd(x, positions, updates);
    assert.deepEqual([node.dtype, node.shape], [dtype, [3, 2]]);
    const given = new Map([
      [x, [0, 0, 10, 10, 20, 20]],
      [positions, [1, 1, -1, 3]],
      [updates, [1, 2, 3, 4, 5, 6, 7, 8]],
    ]);
    assert.deepEqual(plainValues([node], given)[0], [0, 0, 14, 16, 20, 20]);
  }
  const x = stored(0, 2);
  assert.equal(g.scatterAdd(x, storedAs("i32", 1), stored(1, 2)), x);
});

test("what would change nothing is not made", () => {
  const x = stored(2, 3);
  assert.equal(g.sum(x, []), x);
  assert.equal(g.pad(x, [0, 0], [0, 0]), x);
  assert.equal(g.concat([x], 0), x);
  assert.deepEqual(g.sum(x, [1, 0]).params.axes, [0, 1]);
});
