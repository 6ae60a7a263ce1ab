/** Errors after reading: which minor, which pivot, which matrix. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { eye, linalg, stack, tensor } from "../../src/index.js";
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
});
