/** Householder reflections as graphs: panels and stages against products, the compact form against reflections one by one. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  identity,
  isComplexNode,
  orthogonal,
  rowsApplied,
  triangularized,
  upperPart,
} from "../../../../src/graph/primitives/linalg/householder.js";
import { g } from "../../../../src/graph/vocabulary.js";
import { given, input, numbers, valuesOf } from "../../../support/node-rules.js";
import { storedAs } from "../../../support/nodes.js";
import { assertNear, assertOrthonormal, rowsOf, times } from "./plain-matrices.js";

const PANEL = 32;

test("the reflections turn the triangle back into the matrix: one panel, and stages of several", () => {
  for (const [m, n] of [
    [6, 4],
    [4, 6],
    [70, 66],
    // 5 panels: two stages
    [140, 5 * PANEL],
  ] as const) {
    const a = input([1, m, n]);
    const columns = Math.min(m, n);
    const [q, r] = valuesOf(
      (x) => {
        const { stages, r } = triangularized(g, x);
        return [orthogonal(g, stages, x, columns), r];
      },
      [a],
    );
    assertOrthonormal(rowsOf(q!, columns), 1e-11);
    assertNear(times(rowsOf(q!, columns), rowsOf(r!, n)), rowsOf(a.values, n), 1e-11);
  }
});

test("a matrix of up to 64 columns is one stage; of a wider one a quarter, or four panels", () => {
  const firsts = (m: number, n: number) =>
    triangularized(g, storedAs("f64", 1, m, n)).stages.map(({ first, vectors }) => [first, vectors.shape[0]]);
  assert.deepEqual(firsts(100, 64), [[0, 1]]);
  assert.deepEqual(firsts(100, 65), [[0, 3]]);
  assert.deepEqual(firsts(400, 8 * PANEL), [
    [0, 4],
    [4 * PANEL, 4],
  ]);
  assert.deepEqual(firsts(800, 18 * PANEL), [
    [0, 5],
    [5 * PANEL, 5],
    [10 * PANEL, 5],
    [15 * PANEL, 3],
  ]);
});

test("reflections whose vectors are rows: one panel, stages of several, and a last panel that is not full", () => {
  for (const [count, n] of [
    [1, 3],
    [5, 6],
    [2 * PANEL + 3, 2 * PANEL + 4],
    [5 * PANEL + 7, 5 * PANEL + 8],
  ] as const) {
    const x = input([1, n, 2]);
    // Row j begins at column j or later, with a one.
    const shift = n - count;
    const v = Array.from({ length: count }, (_, j) =>
      Array.from({ length: n }, (__, i) => (i < j + shift ? 0 : i === j + shift ? 1 : Math.sin(7 * i + 3 * j) / 4)),
    );
    const tau = v.map((row) => 2 / row.reduce((sum, each) => sum + each * each, 0));
    const [got] = valuesOf(
      (rows, factors, right) => [rowsApplied(g, rows, factors, right)],
      [input([1, count, n], v.flat()), input([1, count], tau), x],
    );
    const expected = rowsOf(x.values, 2).map((row) => [...row]);
    for (let j = count - 1; j >= 0; j--) {
      for (const column of [0, 1]) {
        const along = tau[j]! * expected.reduce((sum, row, i) => sum + v[j]![i]! * row[column]!, 0);
        expected.forEach((row, i) => {
          row[column]! -= along * v[j]![i]!;
        });
      }
    }
    assertNear(rowsOf(got!, 2), expected, 1e-12);
  }
});

test("identities of any shape, upper triangles, and dtypes with two parts", () => {
  const like = given(input([1]));
  assert.deepEqual(numbers(identity(g, like, 2, 2, 3)), [1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0]);
  assert.deepEqual(numbers(upperPart(g, given(input([3, 2], [1, 2, 3, 4, 5, 6])))), [1, 2, 0, 4, 0, 0]);
  assert.deepEqual(
    (["f32", "f64", "c64", "c128"] as const).map((dtype) => isComplexNode(storedAs(dtype, 1))),
    [false, false, true, true],
  );
});
