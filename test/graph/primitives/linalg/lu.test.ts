/** LU factors and solutions: checked by multiplying back and by LAPACK's pivots, with derivatives and batches. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { DTypeError, ShapeError } from "../../../../src/core/errors.js";
import type { Node } from "../../../../src/graph/node.js";
import { luNodes, luSolve, rowsInOrder } from "../../../../src/graph/primitives/linalg/lu.js";
import { g } from "../../../../src/graph/vocabulary.js";
import { checkBatches, checkDerivatives, fixed, type Input, input, valuesOf } from "../../../support/node-rules.js";
import { make, stored, storedAs } from "../../../support/nodes.js";
import { assertNear, rowsOf, times, turned } from "./plain-matrices.js";

/** A pivot other than the first row in every column. */
const A = [
  [1, 2, 4],
  [2, 1, 3],
  [8, 4, 1],
];
const square = input([3, 3], A.flat());
const factorsOf = (a: Node) => luNodes(g, a)[0];
const solution = (isTransposed: boolean) => (a: Node, b: Node) => {
  const [factors, , order] = luNodes(g, a);
  return g.move(luSolve, [a, b, factors, order], { isTransposed });
};

/** L and U of the one matrix that holds both. */
function parts(factors: readonly number[], m: number, n: number) {
  const rows = rowsOf(factors, n);
  const least = Math.min(m, n);
  return {
    l: rows.map((row, i) => Array.from({ length: least }, (_, j) => (j < i ? row[j]! : Number(i === j)))),
    u: rows.slice(0, least).map((row, i) => row.map((x, j) => (j < i ? 0 : x))),
  };
}

test("L·U is the matrix with its rows in order, for square, tall and wide matrices", () => {
  for (const shape of [
    [3, 3],
    [5, 3],
    [3, 5],
    [1, 4],
    [4, 1],
  ] as const) {
    const a = input(shape);
    const [factors, pivots, order] = valuesOf((x) => luNodes(g, x), [a]);
    const { l, u } = parts(factors!, shape[0], shape[1]);
    const rows = rowsOf(a.values, shape[1]);
    assertNear(
      times(l, u),
      order!.map((i) => rows[i]!),
    );
    assert.ok(l.flat().every((x) => Math.abs(x) <= 1));
    assert.equal(pivots!.length, Math.min(...shape));
  }
});

test("pivots are LAPACK's, and lead to the order of rows", () => {
  const [factors, pivots, order] = valuesOf((x) => luNodes(g, x), [square]);
  assert.deepEqual(pivots, [2, 2, 2]);
  assert.deepEqual(order, [2, 0, 1]);
  assert.deepEqual(factors, [8, 4, 1, 0.125, 1.5, 3.875, 0.25, 0, 2.75]);
});

test("a column of zeros has a zero pivot, and the next column is eliminated", () => {
  const [factors] = valuesOf((x) => luNodes(g, x), [input([3, 3], [0, 2, 1, 0, 4, 3, 0, 2, 5])]);
  const { l, u } = parts(factors!, 3, 3);
  assert.equal(u[0]![0], 0);
  assert.ok([...l.flat(), ...u.flat()].every(Number.isFinite));
});

test("A·X = B, and with the transpose of A", () => {
  const b = input([3, 2]);
  for (const isTransposed of [false, true]) {
    const [x] = valuesOf(solution(isTransposed), [square, b]);
    assertNear(times(isTransposed ? turned(A) : A, rowsOf(x!, 2)), rowsOf(b.values, 2));
  }
});

test("rows in an order, of each member of a batch", () => {
  const [got] = valuesOf(
    (x, order) => rowsInOrder(g, x, order),
    [input([2, 2, 1], [10, 11, 20, 21]), fixed([2, 2], [1, 0, 0, 1])],
  );
  assert.deepEqual(got, [11, 10, 20, 21]);
});

test("derivatives of factors of every shape, and of solutions with respect to both sides", () => {
  for (const shape of [
    [3, 3],
    [4, 2],
    [2, 4],
  ]) {
    checkDerivatives(factorsOf, [input(shape)]);
  }
  for (const isTransposed of [false, true]) checkDerivatives(solution(isTransposed), [square, input([3, 2])]);
});

test("batches, in which every member has its own order of rows", () => {
  const rolled = (each: Input, m: number): Input => ({
    ...each,
    values: each.values.map((_, i) => each.values[(i + 3 * m) % each.values.length]!),
  });
  checkBatches((a) => luNodes(g, a), [square], rolled);
  checkBatches(solution(true), [square, input([3, 2])], rolled);
});

test("only matrices of floats with the device's arithmetic, and square ones for equations", () => {
  assert.throws(() => luNodes(g, stored(3)), ShapeError);
  assert.throws(() => luNodes(g, storedAs("f16", 3, 3)), DTypeError);
  const [factors, order] = [stored(2, 3), storedAs("i32", 2)];
  assert.throws(() => make(luSolve, [stored(2, 3), stored(2, 1), factors, order]), ShapeError);
});
