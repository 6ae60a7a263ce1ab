/** Weights in metrics: an example of weight 0 is not there, and one of weight 2 is there twice. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { random, type Tensor, tensor, where } from "../../../src/index.js";
import { metrics } from "../../../src/nn/index.js";
import { describeOnTensorDevices } from "../../support/tensors.js";

type Metric = (p: Tensor, y: Tensor, options: { weights?: Tensor }) => Tensor;

describeOnTensorDevices("weights of examples", (device) => {
  const counts = [1, 0, 2, 1, 3, 0, 1, 2];
  const rows = counts.flatMap((count, i) => Array.from({ length: count }, () => i));
  const n = counts.length;
  const weights = tensor(counts, { dtype: "f32", device });
  const taken = (x: Tensor) => x.take(tensor(rows, { dtype: "i32", device }), { axis: 0 });
  const scores = random.normal(random.key(1, { device }), [n, 3]).realize();
  const labels = random.randint(random.key(2, { device }), [n], 0, 3).realize();
  const numbers = random.uniform(random.key(3, { device }), [n]).realize();
  const truths = random.uniform(random.key(4, { device }), [n]).greater(0.5).cast("f32").realize();
  const options =
    (metric: (p: Tensor, y: Tensor, options: never) => Tensor, given: object): Metric =>
    (p, y, more) =>
      metric(p, y, { ...given, ...more } as never);

  const cases: Record<string, [Metric, Tensor, Tensor]> = {
    accuracy: [metrics.accuracy, scores, labels],
    topKAccuracy: [options(metrics.topKAccuracy, { k: 2 }), scores, labels],
    binaryAccuracy: [metrics.binaryAccuracy, numbers, truths],
    truePositives: [metrics.truePositives, numbers, truths],
    falsePositives: [metrics.falsePositives, numbers, truths],
    trueNegatives: [metrics.trueNegatives, numbers, truths],
    falseNegatives: [metrics.falseNegatives, numbers, truths],
    precision: [metrics.precision, numbers, truths],
    recall: [metrics.recall, numbers, truths],
    sensitivity: [metrics.sensitivity, numbers, truths],
    specificity: [metrics.specificity, numbers, truths],
    f1: [metrics.f1, numbers, truths],
    "f1 of classes": [options(metrics.f1, { average: "macro" }), scores, labels],
    "recall of classes": [options(metrics.recall, { average: "weighted" }), scores, labels],
    "precision of class numbers": [options(metrics.precision, { average: "micro", classes: 3 }), labels, labels],
    auc: [metrics.auc, numbers, truths],
    r2: [metrics.r2, numbers, truths],
    perplexity: [options(metrics.perplexity, { fromLogits: true }), scores, labels],
    rootMeanSquaredError: [metrics.rootMeanSquaredError, numbers, truths],
    meanSquaredError: [metrics.meanSquaredError, numbers, truths],
    meanAbsoluteError: [metrics.meanAbsoluteError, numbers, truths],
  };

  test("count examples as often as their weight says, in every metric that training reports", async () => {
    const notThere = Object.keys(metrics).filter(
      (name) => !["startMean", "runningMean", "confusionMatrix"].includes(name) && !(name in cases),
    );
    assert.deepEqual(notThere, []);
    for (const [name, [metric, p, y]] of Object.entries(cases)) {
      const [found, wanted] = [metric(p, y, { weights }), metric(taken(p), taken(y), {})];
      const [a, b] = [Number(await found.item()), Number(await wanted.item())];
      assert.ok(Math.abs(a - b) < 1e-5, `${name}: ${a} for ${b}`);
    }
  });

  test("of 0 leave out an example whose numbers are NaN or whose label is no class, in every metric", async () => {
    const absent = tensor(counts, { dtype: "f32", device }).equal(0);
    for (const [name, [metric, p, y]] of Object.entries(cases)) {
      const isRows = p.rank === 2;
      const spoilt =
        p.dtype === "i32" ? where(absent, -1, p) : where(isRows ? absent.expandDims(1) : absent, Number.NaN, p);
      const labelled = y.dtype === "i32" ? where(absent, -1, y).cast("i32") : y;
      const found = Number(await metric(spoilt.cast(p.dtype), labelled, { weights }).item());
      assert.ok(Math.abs(found - Number(await metric(p, y, { weights }).item())) < 1e-5, `${name}: ${found}`);
    }
  });

  test("fit the first axes of what is counted", async () => {
    const [p, y] = [numbers.reshape([4, 2]), truths.reshape([4, 2])];
    const byRow = tensor([1, 0, 0, 1], { dtype: "f32", device });
    const [kept, right] = [p, y].map((x) => x.take(tensor([0, 3], { dtype: "i32", device }), { axis: 0 })) as [Tensor, Tensor]; // biome-ignore format: a row
    const found = await metrics.binaryAccuracy(p, y, { weights: byRow }).item();
    assert.equal(found, await metrics.binaryAccuracy(kept, right).item());
    assert.throws(() => metrics.binaryAccuracy(p, y, { weights }), /weights \[8\] do not fit values \[4, 2\]/);
    assert.throws(() => metrics.accuracy(scores, labels, { weight: weights } as never), /there is no option "weight"/);
  });
});
