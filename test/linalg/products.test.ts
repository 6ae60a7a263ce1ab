/** Vector products, chains of products, norms. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { explain, linalg, ones, tensor, zeros } from "../../src/index.js";
import { describeOnTensorDevices } from "../support/tensors.js";

describeOnTensorDevices("products and norms", () => {
  test("the vector product is at right angles to both, along any axis", () => {
    const [a, b] = [tensor([[1, 2, 3], [4, 5, 6]]), tensor([7, -1, 2])]; // biome-ignore format: a matrix
    assert.deepEqual([...linalg.cross(a, b).dataSync()], [7, 19, -15, 16, 34, -39]);
    const turned = linalg.cross(a.mT, b.expandDims(1), { axis: 0 });
    assert.deepEqual([...turned.mT.dataSync()], [7, 19, -15, 16, 34, -39]);
    assert.throws(
      () => linalg.cross(tensor([1, 2]), tensor([1, 2])),
      /linalg\.cross: \[2\] has 2 elements along axis -1/,
    );
  });

  test("a chain is multiplied in the cheapest order; vectors at its ends leave no axes", () => {
    const [a, b, c] = [ones([10, 100]), ones([100, 5]), ones([5, 50])];
    const product = linalg.multiDot([a, b, c]);
    assert.deepEqual(product.shape, [10, 50]);
    assert.ok(product.equal(500).all().itemSync());
    // (a·b)·c takes 7,500 multiplications, a·(b·c) 75,000.
    assert.match(explain(product), /\[10×5\]|\[1×10×5\]|10×5/);
    assert.equal(linalg.multiDot([ones([3]), ones([3, 3]), ones([3])]).itemSync(), 9);
    assert.throws(() => linalg.multiDot([a, c]), /number 0 has 100 columns and number 1 has 5 rows/);
  });

  test("adjoint conjugates, norms are what they say", () => {
    const z = tensor([[{ re: 1, im: 2 }, { re: 3, im: -4 }]]); // biome-ignore format: a matrix
    assert.deepEqual([...linalg.adjoint(z).dataSync()], [1, -2, 3, 4]);
    assert.equal(linalg.vectorNorm(tensor([3, -4])).itemSync(), 5);
    assert.deepEqual([...linalg.vectorNorm(tensor([[3, -4], [1, 2]]), { axis: 1, order: Infinity }).dataSync()], [4, 2]); // biome-ignore format: one line
    assert.deepEqual(linalg.matrixNorm(ones([2, 3, 4]), { order: 1, keepDims: true }).shape, [2, 1, 1]);
    assert.throws(() => linalg.matrixNorm(ones([2, 2]), { order: 7 as 1 }), /linalg\.matrixNorm: the order is 7/);
    assert.throws(() => linalg.matrixNorm(ones([2])), /no matrix/);
    for (const order of ["fro", "nuc", 1, 2, Infinity] as const) {
      assert.deepEqual(linalg.matrixNorm(zeros([2, 0, 3]), { order }).arraySync(), [0, 0], `${order}`);
    }
    for (const order of [-1, -2, -Infinity] as const) {
      assert.throws(
        () => linalg.matrixNorm(zeros([0, 0]), { order }),
        /linalg\.matrixNorm: matrices of \[0, 0\] have no/,
      );
    }
  });
});
