/** Powers and exponentials of matrices: closed forms. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { linalg, tensor } from "../../src/index.js";
import { describeOnTensorDevices } from "../support/tensors.js";

describeOnTensorDevices("matrixExp and matrixPower", () => {
  test("the exponential of a rotation's generator is the rotation, for small and large angles", () => {
    for (const angle of [1e-9, 0.5, 3, 20]) {
      const found = linalg.matrixExp(tensor([[0, angle], [-angle, 0]], { dtype: "f64" })).dataSync(); // biome-ignore format: a matrix
      const expected = [Math.cos(angle), Math.sin(angle), -Math.sin(angle), Math.cos(angle)];
      found.forEach((x, i) => {
        assert.ok(Math.abs((x as number) - expected[i]!) < 1e-13, `${angle}: ${x}`);
      });
    }
  });

  test("members of a batch are scaled by themselves; what overflows does not spoil the others", () => {
    const found = linalg.matrixExp(tensor([[[0]], [[1]], [[80]], [[Number.NaN]], [[1e9]]])).dataSync() as Float32Array;
    assert.equal(found[0], 1);
    assert.ok(Math.abs(found[1]! / Math.E - 1) < 1e-6);
    assert.ok(Math.abs(found[2]! / Math.exp(80) - 1) < 1e-4);
    assert.ok(Number.isNaN(found[3]) && Number.isNaN(found[4]));
  });

  test("powers: Fibonacci's numbers, the identity, and inverses", () => {
    const a = tensor([[1, 1], [1, 0]], { dtype: "f64" }); // biome-ignore format: a matrix
    assert.deepEqual([...linalg.matrixPower(a, 30).dataSync()], [1346269, 832040, 832040, 514229]);
    assert.deepEqual([...linalg.matrixPower(a, 0).dataSync()], [1, 0, 0, 1]);
    assert.deepEqual([...linalg.matrixPower(a, -1).dataSync()], [0, 1, 1, -1]);
    assert.throws(() => linalg.matrixPower(a, 0.5), /linalg\.matrixPower: the exponent is a whole number/);
  });
});
