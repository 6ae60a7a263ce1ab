/** Balancing and the reduction to Hessenberg form: similar matrices, checked by multiplying back. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { balanced, hessenberg } from "../../../../src/graph/primitives/linalg/hessenberg.js";
import { g } from "../../../../src/graph/vocabulary.js";
import { eye, Tensor, tensor } from "../../../../src/index.js";
import { adjoint, normals } from "../../../linalg/accuracy.js";

const largest = (x: Tensor): number => x.abs().max().itemSync() as number;

test("Q H Qᴴ is the matrix, Q is unitary, and H has nothing below the diagonal beside the main one", () => {
  for (const dtype of ["f64", "c128"] as const) {
    for (const n of [1, 2, 3, 7, 40]) {
      const a = normals([2, n, n], dtype, n);
      const { h, q } = hessenberg(g, a.node, true);
      const [H, Q] = [new Tensor(h), new Tensor(q!)];
      assert.ok(largest(Q.matmul(H).matmul(adjoint(Q)).sub(a)) < 1e-14 * n, `${dtype} ${n}`);
      assert.ok(largest(adjoint(Q).matmul(Q).sub(eye(n, { dtype }))) < 1e-14);
      assert.equal(largest(H.tril(-2)), 0);
      assert.deepEqual(new Tensor(hessenberg(g, a.node, false).h).arraySync(), H.arraySync());
    }
  }
});

test("balancing undoes a grading of rows and columns, by powers of two", () => {
  const n = 8;
  const grades = tensor(
    Array.from({ length: n }, (_, i) => 2 ** (4 * i)),
    { dtype: "f64" },
  );
  const even = normals([n, n], "f64", 1);
  const a = even.mul(grades.expandDims(1)).div(grades);
  const { matrix, factors } = balanced(g, a.reshape([1, n, n]).node);
  const [B, d] = [new Tensor(matrix).reshape([n, n]), new Tensor(factors).reshape([n])];
  assert.ok((d.log2().sub(d.log2().round()).abs().max().itemSync() as number) === 0);
  // Exactly: powers of two do not round.
  assert.deepEqual(B.mul(d.expandDims(1)).div(d).arraySync(), a.arraySync());
  assert.ok(largest(B) < 8 * largest(even), `${largest(B)}`);
});

test("pairs of rows settle, and rows or columns of zeros are left alone", () => {
  const a = tensor([[0, 2 ** 30, 0], [2 ** -30, 0, 0], [5, 0, 0]], { dtype: "f64" }); // biome-ignore format: a matrix
  const { matrix, factors } = balanced(g, a.reshape([1, 3, 3]).node);
  assert.ok(largest(new Tensor(matrix)) < 2 ** 6);
  assert.ok([...new Tensor(factors).dataSync()].every((d) => d > 0 && Number.isFinite(d)));
});
