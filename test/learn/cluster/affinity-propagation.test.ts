/** Affinity propagation against scikit-learn, and its own laws. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Tensor } from "../../../src/index.js";
import { affinityPropagation } from "../../../src/learn/index.js";
import { of } from "../../support/learn-cases.js";
import { describeOnTensorDevices, devicesWithDoubles, numbersOf } from "../../support/tensors.js";
import { graphCases } from "./graph-cases.js";

const { sets, propagation } = graphCases();

describeOnTensorDevices("affinityPropagation", (device) => {
  const dtype = devicesWithDoubles().includes(device) ? "f64" : "f32";
  propagation.forEach(({ set, options, labels, centers, iterations, new: fresh, predicted }, i) => {
    if (device !== "cpu" && i > 1) return;
    test(`${set}, ${JSON.stringify(options)}: scikit-learn's exemplars, labels, rounds and predictions`, async () => {
      const model = await affinityPropagation(options).fit(of(sets[set], dtype));
      assert.deepEqual(numbersOf(model.learned.centerIndices), centers);
      assert.deepEqual(numbersOf(model.learned.labels), labels);
      assert.deepEqual(numbersOf(model.predict(of(fresh, dtype))), predicted);
      assert.equal(Number(await model.learned.converged.cast("i32").item()), 1);
      assert.equal(Number(await model.learned.iterations.item()), iterations);
    });
  });

  test("blobs in f32 have the same exemplars", async () => {
    const { options, centers, labels } = propagation[1]!;
    const { learned } = await affinityPropagation(options).fit(of(sets.blobs, "f32"));
    assert.deepEqual(numbersOf(learned.centerIndices), centers);
    assert.deepEqual(numbersOf(learned.labels), labels);
  });
});

test("similarities that are given are those of samples; such a model predicts nothing", async () => {
  const x = of(sets.blobs, "f64");
  const similarities = x.expandDims(1).sub(x).square().sum({ axis: 2 }).neg() as Tensor;
  const model = await affinityPropagation({ affinity: "precomputed", preference: -30 }).fit(similarities);
  const plain = await affinityPropagation({ preference: -30 }).fit(x);
  assert.deepEqual(numbersOf(model.learned.labels), numbersOf(plain.learned.labels));
  assert.throws(() => model.predict(similarities), /the model knows similarities alone/);
});

test("a high preference makes every sample an exemplar, and a list of them favours some", async () => {
  const x = [[0], [1], [2], [10], [11], [12]];
  const all = await affinityPropagation({ preference: 1 }).fit(x);
  assert.deepEqual(numbersOf(all.learned.labels), [0, 1, 2, 3, 4, 5]);
  const middle = await affinityPropagation({ preference: -20 }).fit(x);
  assert.deepEqual(numbersOf(middle.learned.centerIndices), [1, 4]);
  assert.deepEqual(numbersOf(middle.learned.centers), [1, 11]);
  // The last round chooses the middle again, whoever was favoured; who is alone in wanting to be one has all.
  const one = await affinityPropagation({ preference: [-500, -1, -500, -500, -500, -500] }).fit(x);
  assert.deepEqual(numbersOf(one.learned.labels), [0, 0, 0, 0, 0, 0]);
});

test("one sample, samples that are all the same, and rounds that end too early", async () => {
  const one = await affinityPropagation().fit([[3, 3]]);
  assert.deepEqual(numbersOf(one.learned.labels), [0]);
  const same = Array(5).fill([2, 2]);
  assert.deepEqual(numbersOf((await affinityPropagation().fit(same)).learned.labels), [0, 1, 2, 3, 4]);
  const low = await affinityPropagation({ preference: -1 }).fit(same);
  assert.deepEqual(numbersOf(low.learned.labels), [0, 0, 0, 0, 0]);
  assert.deepEqual(numbersOf(low.predict([[9, 9]])), [0]);
  const early = await affinityPropagation({ maxIter: 1 }).fit(of(sets.blobs, "f64"));
  assert.equal(Number(await early.learned.converged.cast("i32").item()), 0);
  assert.ok(numbersOf(early.learned.labels).every((label) => label === -1));
  assert.deepEqual(numbersOf(early.predict([[1, 2]])), [-1]);
});

test("wrong options are refused by name", async () => {
  assert.throws(() => affinityPropagation({ damping: 0.4 }), /damping is 0.4; it is at least 0.5 and below 1/);
  assert.throws(() => affinityPropagation({ affinity: "rbf" as never }), /affinity is "rbf"; it is "euclidean" or/);
  await assert.rejects(affinityPropagation({ preference: [1] }).fit([[1], [2]]), /1 preferences and 2 samples/);
});
