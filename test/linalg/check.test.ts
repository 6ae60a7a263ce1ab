/** Errors after reading: which minor, which pivot, which matrix. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { arange, eye, linalg, stack, type Tensor, tensor } from "../../src/index.js";
import { describeOnTensorDevices } from "../support/tensors.js";

describeOnTensorDevices("linalg.check", () => {
  test("gives back what is good, and names what is not", async () => {
    const good = linalg.cholesky(eye(3));
    assert.equal(await linalg.check(good, { as: "cholesky" }), good);
    const bad = stack([eye(2), tensor([[1, 2], [2, 1]])]); // biome-ignore format: a matrix
    await assert.rejects(linalg.check(linalg.cholesky(bad), { as: "cholesky" }), {
      name: "LinalgError",
      message: /matrix 1 of the batch is not positive definite: its leading minor of order 2/,
    });
    const singular = linalg.luFactor(tensor([[1, 2], [2, 4]])); // biome-ignore format: a matrix
    await assert.rejects(linalg.check(singular), {
      name: "LinalgError",
      message: /the matrix is singular: pivot 1 is zero/,
    });
    await assert.rejects(linalg.check(tensor([1, Number.NaN])), { name: "LinalgError", message: /NaN or infinities/ });
    const pairs = linalg.eig(tensor([[0, 1], [-1, 0]])); // biome-ignore format: a matrix
    assert.equal(await linalg.check(pairs), pairs);
    const factors = linalg.ldl(tensor([[0, 1], [1, 0]])); // biome-ignore format: a matrix
    assert.equal(await linalg.check(factors), factors);
    const none = linalg.eig(tensor([[Number.NaN, 1], [-1, 0]])); // biome-ignore format: a matrix
    await assert.rejects(linalg.check(none), { name: "LinalgError", message: /did not converge/ });
    await assert.rejects(linalg.check({ u: 3 } as never), { name: "ArgumentError", message: /object of tensors/ });
    await assert.rejects(linalg.check(3 as never), { name: "ArgumentError" });
  });

  test("a singular matrix is not positive definite: small, in blocks, in steps; real and complex", async () => {
    for (const dtype of ["f32", "c64"] as const) {
      for (const n of dtype === "f32" ? [1, 3, 9, 70, 150] : [3, 70]) {
        const at = Math.floor((2 * n) / 3);
        const gap = arange(n).equal(at).cast(dtype).diagonalMatrix();
        const l = linalg.cholesky(eye(n, { dtype }).sub(gap));
        await assert.rejects(linalg.check(l, { as: "cholesky" }), {
          name: "LinalgError",
          message: new RegExp(`not positive definite: its leading minor of order ${at + 1} `),
        });
        const isNumber = l.isFinite().all({ axis: 0 });
        assert.equal(await isNumber.cast("i32").sum().item(), at, `${dtype}, ${n}: the columns before are numbers`);
      }
    }
    const dependent = linalg.cholesky(tensor([[1, 2], [2, 4]])); // biome-ignore format: a matrix
    assert.deepEqual(await dependent.array(), [[1, 0], [2, Number.NaN]]); // biome-ignore format: a matrix
  });

  test("lu of a singular matrix: the factors are right, check names the pivot", async () => {
    const factors = linalg.lu(tensor([[1, 2], [2, 4]])); // biome-ignore format: a matrix
    await assert.rejects(linalg.check(factors), { name: "LinalgError", message: /singular: pivot 1 is zero/ });
    const fine = linalg.lu(tensor([[1, 2], [2, 1]])); // biome-ignore format: a matrix
    assert.equal(await linalg.check(fine), fine);
  });

  test("an iteration that did not converge is found by its equation", async () => {
    const apply = (a: Tensor, v: Tensor) => a.matmul(v);
    const a = tensor([[2, 1, 0], [1, 3, 1], [0, 1, 4]]); // biome-ignore format: a matrix
    const b = tensor([1, 2, 3]);
    for (const x of [linalg.cg(apply, a, b), linalg.gmres(apply, a, b)]) {
      assert.equal(await linalg.check(x, { solves: [apply(a, x), b] }), x);
    }
    const singular = tensor([[1, 0, 0], [0, 1, 0], [0, 0, 0]]); // biome-ignore format: a matrix
    const early = linalg.cg(apply, a, b, { maxRounds: 1 });
    const none = linalg.gmres(apply, singular, b);
    for (const [matrix, x] of [
      [a, early],
      [singular, none],
    ] as const) {
      // biome-ignore format: one line
      await assert.rejects(linalg.check(x, { solves: [apply(matrix, x), b] }), {
        name: "LinalgError",
        message: /the equation does not hold: its sides differ by 0\.\d+ of the right one, more than 0\.0001\. .* did not converge/,
      });
    }
    assert.equal(await linalg.check(early, { solves: [apply(a, early), b], tolerance: 0.9 }), early);
    await assert.rejects(linalg.check(early, { tolerance: 1 }), { name: "ArgumentError", message: /give its sides/ });
    await assert.rejects(linalg.check(early, { solves: [b] as never }), {
      name: "ArgumentError",
      message: /two tensors/,
    });
    await assert.rejects(linalg.check(early, { solves: [b, a] }), { name: "ShapeError", message: /they are alike/ });
  });
});
