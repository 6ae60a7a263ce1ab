/** Counts of decisions and the shares made of them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { tensor } from "../../../src/index.js";
import { metrics } from "../../../src/nn/index.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";

describeOnTensorDevices("counts", () => {
  // 3 true positives, 1 false positive, 2 true negatives, 4 false negatives.
  const p = () => tensor([0.9, 0.8, 0.7, 0.6, 0.1, 0.5, 0.2, 0.3, 0.4, 0.05]);
  const t = () => tensor([1, 1, 1, 0, 0, 0, 1, 1, 1, 1]);

  test("are those of the table, in i32", () => {
    const counts = [metrics.truePositives, metrics.falsePositives, metrics.trueNegatives, metrics.falseNegatives];
    assert.deepEqual(
      counts.flatMap((f) => numbersOf(f(p(), t()))),
      [3, 1, 2, 4],
    );
    assert.equal(metrics.truePositives(p(), t()).dtype, "i32");
    assert.deepEqual(numbersOf(metrics.truePositives(p(), t(), { threshold: 0.25 })), [5]);
  });

  test("make precision, recall, specificity and F1", () => {
    const { precision, recall, sensitivity, specificity, f1 } = metrics;
    const want = [3 / 4, 3 / 7, 3 / 7, 2 / 3, 6 / 11];
    [precision, recall, sensitivity, specificity, f1].forEach((f, i) => {
      assert.ok(Math.abs(numbersOf(f(p(), t()))[0]! - want[i]!) < 1e-6, f.name);
    });
    const none = tensor([0, 0]);
    for (const f of [precision, recall, f1]) assert.deepEqual(numbersOf(f(none, none)), [0], f.name);
    assert.deepEqual(numbersOf(specificity(none, none)), [1]);
  });
});

test("an empty batch has counts of zero and no shares", () => {
  const none = tensor([], { shape: [0], device: "cpu" });
  assert.deepEqual(numbersOf(metrics.truePositives(none, none)), [0]);
  assert.throws(() => metrics.precision(none, none), { name: "ShapeError", message: /^precision: the batch is empty/ });
});
