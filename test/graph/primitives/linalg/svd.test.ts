/** The singular value decomposition: every way to compute it, by multiplying back, with derivatives and batches. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Node } from "../../../../src/graph/node.js";
import { FEW_ROWS } from "../../../../src/graph/primitives/linalg/eigh.js";
import { svdNodes } from "../../../../src/graph/primitives/linalg/svd.js";
import { g } from "../../../../src/graph/vocabulary.js";
import { checkBatches, checkDerivatives, input, valuesOf } from "../../../support/node-rules.js";
import { assertNear, assertOrthonormal, diagonalOf, rowsOf, times, turned } from "./plain-matrices.js";

const svd = (isFull: boolean) => (a: Node) => svdNodes(g, a, isFull);

test("U diag(s) Vᵀ is the matrix: square, tall, very tall, wide, large; reduced and full", () => {
  for (const [m, n] of [
    [1, 1],
    [4, 4],
    [5, 4],
    [9, 3],
    [3, 5],
    [FEW_ROWS + 2, FEW_ROWS + 1],
  ] as const) {
    for (const isFull of [false, true]) {
      const a = input([m, n]);
      const k = Math.min(m, n);
      const [u, s, vh] = valuesOf(svd(isFull), [a]);
      const left = rowsOf(u!, isFull ? m : k);
      const right = rowsOf(vh!, n);
      assertOrthonormal(left, 1e-11);
      assertOrthonormal(turned(right), 1e-11);
      const scaled = times(
        left.map((row) => row.slice(0, k)),
        diagonalOf(s!),
      );
      assertNear(times(scaled, right.slice(0, k)), rowsOf(a.values, n), 1e-11);
      assert.ok(s!.every((x, i) => x >= 0 && (i === 0 || s![i - 1]! >= x)));
    }
  }
});

test("a matrix of less than full rank has complete bases", () => {
  const [u, s, vh] = valuesOf(svd(true), [input([3, 3], [1, 2, 3, 2, 4, 6, 0, 0, 0])]);
  assertOrthonormal(rowsOf(u!, 3));
  assertOrthonormal(rowsOf(vh!, 3));
  assertNear([s!], [[Math.sqrt(70), 0, 0]], 1e-14);
});

test("large matrices have orthonormal vectors: of full rank, with small values, of rank 2, and one of each in a batch", () => {
  const n = FEW_ROWS + 2;
  const full = Array.from(input([n, n]).values);
  // Singular values down to 1e-6 of the largest: rounding mixes the vectors of the small ones.
  const small = full.map((x, i) => (i % n < 4 ? x * 1e-6 : x));
  const low = full.map((_, i) => full[Math.floor(i / n)]! * full[i % n]! + (i % n) * full[n + Math.floor(i / n)]!);
  for (const matrices of [[full], [small], [low], [full, low], [small, small]]) {
    const count = matrices.length;
    const [u, s, vh] = valuesOf(svd(false), [input([count, n, n], matrices.flat())]);
    for (const [b, matrix] of matrices.entries()) {
      const part = (x: readonly number[], size: number) => x.slice(b * size, (b + 1) * size);
      const [left, right] = [u!, vh!].map((x) => rowsOf(part(x, n * n), n));
      const values = part(s!, n);
      assertOrthonormal(left!, 1e-13 * n);
      assertOrthonormal(turned(right!), 1e-13 * n);
      assertNear(times(times(left!, diagonalOf(values)), right!), rowsOf(matrix, n), 1e-14 * n * values[0]!);
      assert.ok(values.every((x, i) => x >= 0 && (i === 0 || values[i - 1]! >= x)));
    }
  }
});

test("nothing has empty values, and the identity for full bases", () => {
  assert.deepEqual(valuesOf(svd(false), [input([2, 0])]), [[], [], []]);
  assert.deepEqual(valuesOf(svd(true), [input([2, 0])]), [[1, 0, 0, 1], [], []]);
});

test("derivatives of values and of both bases, up to the sign of a vector", () => {
  for (const shape of [
    [3, 3],
    [4, 2],
    [2, 4],
  ]) {
    checkDerivatives((a) => svd(false)(a)[1], [input(shape)]);
    const bases = (a: Node) => {
      const [u, , vh] = svd(false)(a);
      return [g.square(u), g.square(vh)];
    };
    checkDerivatives(bases, [input(shape)]);
  }
  // The one vector that completes a basis.
  checkDerivatives((a) => g.square(svd(true)(a)[0]), [input([3, 2])]);
});

test("batches", () => checkBatches(svd(false), [input([3, 2])]));
