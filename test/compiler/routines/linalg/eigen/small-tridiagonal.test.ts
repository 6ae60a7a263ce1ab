/** Small matrices in tridiagonal form, interpreted: Z T Zᴴ is the matrix, Z is unitary, T is real. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { smallTridiagonal } from "../../../../../src/compiler/routines/linalg/eigen/small-tridiagonal.js";
import { adjoint, assertNear, type C, diagonal, hermitian, identity, KINDS, product } from "../matrices.js";
import { solved, tridiagonalOf } from "./small-problems.js";

for (const lanes of [1, 4, 32]) {
  test(`Z T Zᴴ is the matrix; ${lanes} lanes`, () => {
    for (const kind of [KINDS.f64, KINDS.c128, KINDS.f32]) {
      for (const n of [1, 2, 3, 7, 9]) {
        const a = hermitian(n, kind, 4);
        const { z, ...t } = solved(smallTridiagonal, a, kind, lanes);
        const what = `${kind.type} ${n}`;
        assertNear(product(adjoint(z), z), identity(n), kind, `${what}, Zᴴ Z`);
        assertNear(product(product(z, tridiagonalOf(t.diagonal, t.beside)), adjoint(z)), a, kind, what);
        assert.equal(t.beside[n - 1], 0, what);
      }
    }
  });
}

test("a matrix that is tridiagonal already stays as it is", () => {
  const a = tridiagonalOf([1, 2, 3, 4], [5, 6, 7]);
  const { diagonal: d, beside, z } = solved(smallTridiagonal, a, KINDS.f64, 4);
  assert.deepEqual([d, beside], [[1, 2, 3, 4], [5, 6, 7, 0]]); // biome-ignore format: one line
  assert.deepEqual(z, identity(4));
});

test("columns that are lost in rounding are not reflected", () => {
  const a = diagonal([1, 2, 3, 4]).map((row, i) => row.map((x, j) => (i === j ? x : ([1e-19, 0] as const))));
  assert.deepEqual(solved(smallTridiagonal, a, KINDS.f64, 4).z, identity(4));
});

test("beside a complex head they are left out of the vector, which stays unitary", () => {
  const a = diagonal([1, 2, 3, 4]).map((row, i) =>
    row.map((x, j): C => (i === j ? x : [1e-19, i > j ? 1e-21 : -1e-21])),
  );
  const { z } = solved(smallTridiagonal, a, KINDS.c128, 4);
  assertNear(product(adjoint(z), z), identity(4), KINDS.c128, "Zᴴ Z");
});
