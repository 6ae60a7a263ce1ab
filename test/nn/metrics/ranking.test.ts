/** The area under the ROC curve, against all pairs. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { random, tensor } from "../../../src/index.js";
import { metrics } from "../../../src/nn/index.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";

const { auc } = metrics;

describeOnTensorDevices("auc", () => {
  test("is the share of pairs in order, ties counted one half", () => {
    const scores = random.randint(random.key(1), [300], -20, 20).cast("f32").div(4).realize();
    const targets = random.bernoulli(random.key(2), 0.3, [300]).realize();
    const [s, t] = [numbersOf(scores), numbersOf(targets)];
    let [sum, pairs] = [0, 0];
    s.forEach((a, i) => {
      s.forEach((b, j) => {
        if (!t[i] || t[j]) return;
        pairs++;
        sum += a > b ? 1 : a === b ? 0.5 : 0;
      });
    });
    assert.ok(Math.abs(numbersOf(auc(scores, targets))[0]! - sum / pairs) < 1e-6);
  });

  test("is exact at its ends, also with infinities, and NaN where there is nothing to compare", () => {
    const of = (scores: number[], targets: number[]) => numbersOf(auc(tensor(scores), tensor(targets)))[0];
    assert.equal(of([-Infinity, 0, 1, Infinity], [0, 0, 1, 1]), 1);
    assert.equal(of([Infinity, 1, 0, -Infinity], [0, 0, 1, 1]), 0);
    assert.equal(of([2, 2, 2], [0, 1, 1]), 0.5);
    assert.equal(of([Infinity, Infinity], [0, 1]), 0.5);
    assert.deepEqual([of([1, 2], [1, 1]), of([1, 2], [0, 0]), of([Number.NaN, 2], [0, 1])], [NaN, NaN, NaN]);
  });
});

test("matrices and empty batches are refused", () => {
  const m = tensor([[1, 2]], { device: "cpu" });
  assert.throws(() => auc(m, m), { name: "ShapeError", message: /flatten them/ });
  const none = tensor([], { shape: [0], device: "cpu" });
  assert.throws(() => auc(none, none), { name: "ShapeError", message: /the batch is empty/ });
});
