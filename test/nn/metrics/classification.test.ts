/** Accuracies. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { random, tensor } from "../../../src/index.js";
import { dense, metrics, optimizers, train } from "../../../src/nn/index.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";

const { accuracy, binaryAccuracy, topKAccuracy } = metrics;

describeOnTensorDevices("accuracy", () => {
  test("is the share of rows whose label stands among the k best of a stable sort", () => {
    // Scores of few values: many ties.
    const scores = random.randint(random.key(3), [200, 7], 0, 4).cast("f32").realize();
    const labels = random.randint(random.key(4), [200], 0, 7).realize();
    const [rows, wanted] = [numbersOf(scores), numbersOf(labels)];
    for (const k of [1, 2, 5, 7]) {
      const right = wanted.filter((label, i) => {
        const row = rows.slice(7 * i, 7 * i + 7);
        const order = row.map((_, c) => c).sort((a, b) => row[b]! - row[a]! || a - b);
        return order.indexOf(label) < k;
      }).length;
      const got = numbersOf(topKAccuracy(scores, labels, { k }))[0]!;
      assert.ok(Math.abs(got - right / 200) < 1e-6, `k = ${k}: ${got}, not ${right / 200}`);
      if (k === 1) assert.deepEqual(numbersOf(accuracy(scores, labels)), [got]);
    }
  });

  test("takes shares as targets, and never counts NaN or labels that are no class", () => {
    const scores = tensor([[0.1, 0.9], [0.8, 0.2], [Number.NaN, 0.1], [0.5, 0.5]]); // biome-ignore format: rows
    const shares = tensor([[0, 1], [0.7, 0.3], [1, 0], [1, 0]]); // biome-ignore format: rows
    assert.deepEqual(numbersOf(accuracy(scores, shares)), [0.75]);
    assert.deepEqual(numbersOf(accuracy(scores, tensor([1, 0, 5, -1], { dtype: "i32" }))), [0.5]);
  });

  test("of binary labels looks at the threshold", () => {
    const logits = tensor([-3, 0.2, 4, -0.1]);
    const targets = tensor([0, 1, 0, 1]);
    assert.deepEqual(numbersOf(binaryAccuracy(logits, targets, { threshold: 0 })), [0.5]);
    assert.deepEqual(numbersOf(binaryAccuracy(logits, targets)), [0.25]);
    assert.deepEqual(numbersOf(binaryAccuracy(logits.greater(0), targets.cast("bool"))), [0.5]);
  });
});

test("predictions of one class are refused: they would always be right", () => {
  const p = tensor([[0.2], [-3]], { device: "cpu" });
  const message = /accuracy: predictions \[2, 1\] have one class.*binaryAccuracy.*threshold: 0/i;
  const numbers = tensor([1, 0], { dtype: "i32", device: "cpu" });
  for (const metric of [accuracy, topKAccuracy]) {
    for (const targets of [numbers, tensor([[1], [0]], { device: "cpu" })]) {
      assert.throws(() => metric(p, targets), { name: "ShapeError", message });
    }
  }
});

test("training with accuracy of one class is refused in the same words", async () => {
  const x = random.normal(random.key(0, { device: "cpu" }), [4, 3]);
  const data = { x, y: x.at(":", ":1").greater(0).cast("f32") };
  const run = async () =>
    await train(dense(1), { data, loss: "huber", optimizer: optimizers.sgd(0.1), epochs: 1, metrics: ["accuracy"] });
  await assert.rejects(run, { name: "ShapeError", message: /accuracy: predictions \[4, 1\] have one class/ });
});

test("shapes that do not fit and empty batches are refused", () => {
  const p = tensor([[1, 2]], { device: "cpu" });
  const labels = (values: number[]) => tensor(values, { dtype: "i32", device: "cpu", shape: [values.length] });
  assert.throws(() => accuracy(p, labels([1, 2])), {
    name: "ShapeError",
    message: /class numbers of shape \[1\], not \[2\]/,
  });
  assert.throws(() => accuracy(p, tensor([1], { device: "cpu" })), { name: "DTypeError", message: /^accuracy/ });
  const none = tensor([], { shape: [0, 2], device: "cpu" });
  assert.throws(() => accuracy(none, labels([])), { name: "ShapeError", message: /the batch is empty/ });
  assert.throws(() => topKAccuracy(p, labels([1]), { k: 0 }), { name: "ArgumentError", message: /from 1 on/ });
  assert.throws(() => binaryAccuracy(p, labels([1])), { name: "ShapeError", message: /^binaryAccuracy/ });
});
