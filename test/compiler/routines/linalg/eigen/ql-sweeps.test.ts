/** Sweeps of rotations, interpreted: they leave a diagonal matrix, and its vectors belong to the tridiagonal one before. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { qlSweeps } from "../../../../../src/compiler/routines/linalg/eigen/ql-sweeps.js";
import { adjoint, assertNear, diagonal, identity, KINDS, product } from "../matrices.js";
import { solved, tridiagonalOf } from "./small-problems.js";

const ones = (n: number): number[] => new Array(n).fill(1);

/** Matrices by name: diagonal and what is beside it. */
const CASES: Readonly<Record<string, readonly [number[], number[]]>> = {
  "differences of second order": [ones(9).map(() => 2), ones(8).map(() => -1)],
  "graded from large to small": [[1, 1e-3, 1e-6, 1e-9, 1e-12], [1e-2, 1e-5, 1e-8, 1e-11]],
  "graded from small to large": [[1e-12, 1e-9, 1e-6, 1e-3, 1], [1e-11, 1e-8, 1e-5, 1e-2]],
  "Wilkinson's, with pairs that are nearly equal": [[3, 2, 1, 0, 1, 2, 3], ones(6)],
  "in two parts": [[1, 2, 3, 4, 5], [1, 1, 0, 1]],
  "without a diagonal": [[0, 0, 0, 0], [1, 1, 1]],
  "of equal values, coupled weakly": [[1, 1, 1, 1], [1e-8, 1e-8, 1e-8]],
}; // biome-ignore format: a table

for (const lanes of [1, 4, 16]) {
  test(`vectors belong to their values; ${lanes} lanes`, () => {
    for (const [name, [d, e]] of Object.entries(CASES)) {
      const t = tridiagonalOf(d, e);
      const made = solved(qlSweeps, t, KINDS.f64, lanes);
      assertNear(product(adjoint(made.z), made.z), identity(d.length), KINDS.f64, `${name}, Zᵀ Z`);
      assertNear(product(product(made.z, diagonal(made.diagonal)), adjoint(made.z)), t, KINDS.f64, name);
    }
  });
}

test("the eigenvalues of second differences are 2 - 2 cos(πk / (n + 1))", () => {
  const [d, e] = CASES["differences of second order"]!;
  const found = solved(qlSweeps, tridiagonalOf(d, e), KINDS.f64, 4).diagonal.sort((x, y) => x - y);
  found.forEach((value, k) => {
    assert.ok(Math.abs(value - (2 - 2 * Math.cos((Math.PI * (k + 1)) / 10))) < 1e-14, `${k}: ${value}`);
  });
});

test("sweeps of a matrix with NaN end", () => {
  assert.ok(solved(qlSweeps, tridiagonalOf([1, NaN, 2], [1, 1]), KINDS.f64, 4).diagonal.some(Number.isNaN));
});
