/** Confusion matrices. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { tensor } from "../../../src/index.js";
import { metrics } from "../../../src/nn/index.js";
import { describeOnTensorDevices } from "../../support/tensors.js";

const { confusionMatrix } = metrics;

describeOnTensorDevices("confusionMatrix", () => {
  test("counts by right class and predicted class, from numbers and from scores", async () => {
    const whole = (values: number[]) => tensor(values, { dtype: "i32" });
    const want = [[1, 1, 0], [0, 1, 0], [1, 0, 2]]; // biome-ignore format: a matrix
    const right = whole([0, 0, 1, 2, 2, 2, 7, -1]);
    assert.deepEqual(await confusionMatrix(whole([0, 1, 1, 0, 2, 2, 0, 1]), right, { classes: 3 }).array(), want);
    const scores = tensor([[2, 1, 0], [0, 5, 1], [0, 1, 0], [3, 3, 1], [0, 0, 1], [1, 1, 2]]); // biome-ignore format: rows
    assert.deepEqual(await confusionMatrix(scores, right.at("0:6")).array(), want);
  });
});

test("numbers without a count of classes, and shapes that do not fit, are refused", () => {
  const labels = tensor([0, 1], { dtype: "i32", device: "cpu" });
  assert.throws(() => confusionMatrix(labels, labels), { name: "ArgumentError", message: /\{ classes: 10 \}/ });
  assert.throws(() => confusionMatrix(tensor([[1]], { device: "cpu" }), labels), { name: "ShapeError" });
});
