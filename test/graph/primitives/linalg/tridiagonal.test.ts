/** Divide and conquer for tridiagonal matrices: leaves, joins, sizes that are no power of two, couplings of either sign. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { tridiagonalEigen } from "../../../../src/graph/primitives/linalg/tridiagonal.js";
import { g } from "../../../../src/graph/vocabulary.js";
import { input, valuesOf } from "../../../support/node-rules.js";
import { assertNear, assertOrthonormal, diagonalOf, rowsOf, times, turned } from "./plain-matrices.js";

const eigen = (diagonal: readonly number[], beside: readonly number[], batch = 1, wanted = diagonal.length / batch) => {
  const shape = [batch, diagonal.length / batch];
  return valuesOf((d, e) => tridiagonalEigen(g, d, e, wanted), [input(shape, diagonal), input(shape, beside)]);
};

test("rows are eigenvectors: one leaf, one join, several joins, rows that fill up", () => {
  for (const n of [1, 5, 16, 17, 40, 64]) {
    const diagonal = [...input([n]).values];
    const beside = diagonal.map((x, i) => (i === n - 1 ? 0 : Math.sin(3 * i) + x / 2));
    const [values, rows] = eigen(diagonal, beside);
    const a = diagonal.map((x, i) =>
      diagonal.map((_, j) => (i === j ? x : j === i + 1 ? beside[i]! : i === j + 1 ? beside[j]! : 0)),
    );
    const vectors = turned(rowsOf(rows!, n));
    assertOrthonormal(vectors, 1e-12);
    assertNear(times(a, vectors), times(vectors, diagonalOf(values!)), 1e-12);
    assert.ok(values!.every((x, i) => i === 0 || values![i - 1]! <= x));
  }
});

test("the second difference has the values 2 - 2 cos(kπ/(n + 1))", () => {
  const n = 33;
  const [values] = eigen(new Array(n).fill(2), [...new Array(n - 1).fill(-1), 0]);
  assertNear([values!], [Array.from({ length: n }, (_, k) => 2 - 2 * Math.cos(((k + 1) * Math.PI) / (n + 1)))], 1e-13);
});

test("each matrix of a batch by itself, also where nothing couples the leaves", () => {
  const n = 20;
  const [values] = eigen(
    [...new Array(n).fill(1), ...Array.from({ length: n }, (_, i) => n - i)],
    new Array(2 * n).fill(0),
    2,
  );
  assertNear([values!], [[...new Array(n).fill(1), ...Array.from({ length: n }, (_, i) => i + 1)]]);
});

test("some of the largest: the last rows of all, also where rows are filled up", () => {
  for (const n of [5, 17, 40]) {
    const diagonal = [...input([n]).values, ...input([n]).values.map((x) => 3 - x)];
    const beside = diagonal.map((x, i) => ((i + 1) % n === 0 ? 0 : Math.cos(2 * i) + x / 3));
    const [values, rows] = eigen(diagonal, beside, 2);
    const [some, someRows] = eigen(diagonal, beside, 2, 3);
    const last = <T>(of: readonly T[]) => [...of.slice(n - 3, n), ...of.slice(2 * n - 3)];
    assertNear([some!], [last(values!)], 1e-12);
    assertNear(rowsOf(someRows!, n), last(rowsOf(rows!, n)), 1e-12);
  }
});
