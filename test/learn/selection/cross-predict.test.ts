/** Predictions of a cross-validation against scikit-learn's. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Tensor } from "../../../src/index.js";
import {
  crossValPredict,
  gaussianNaiveBayes,
  kFold,
  metrics,
  pipeline,
  ridge,
  shuffleSplit,
  standardScaler,
  stratifiedKFold,
} from "../../../src/learn/index.js";
import { closeTo, learnCases, of } from "../../support/learn-cases.js";

test("a pipeline says of each sample what it says without it, as scikit-learn's does", async () => {
  const { x, y, alpha, crossPredicted } = learnCases().pipelines;
  const found = await crossValPredict(pipeline(standardScaler(), ridge({ alpha })), of(x, "f64"), of(y, "f64"), {
    splits: kFold(5),
  });
  await closeTo(found, crossPredicted, 1e-10, "predictions");
});

test("labels, their positions and probabilities are in the order of the samples, of all classes", async () => {
  const names = ["low", "middle", "high"];
  const y = Array.from({ length: 30 }, (_, i) => names[(7 * i) % 3]!);
  const x = y.map((name, i) => [names.indexOf(name) * 5 + Math.sin(i), Math.cos(i)]);
  const splits = stratifiedKFold(3, { seed: 2 });
  const labels = await crossValPredict(gaussianNaiveBayes(), x, y, { splits, method: "predictLabels" });
  assert.deepEqual(labels, y);
  assert.equal(await metrics.accuracy(labels, y).item(), 1);
  const probabilities = await crossValPredict(gaussianNaiveBayes(), x, y, { splits, method: "predictProbability" });
  const sorted = [...names].sort();
  assert.deepEqual(
    Array.from((await probabilities.argmax({ axis: 1 }).data()) as Int32Array, (k) => sorted[k]),
    y,
  );
  const positions = (await crossValPredict(gaussianNaiveBayes(), x, y, { splits })) as Tensor;
  assert.deepEqual(
    Array.from((await positions.data()) as Int32Array, (k) => sorted[k]),
    y,
  );
});

test("samples that are tested twice or never, unknown methods and an aborted validation are refused", async () => {
  const { x, y } = learnCases().pipelines;
  const predict = (options: object) => crossValPredict(ridge(), x, [...y], options);
  await assert.rejects(predict({ splits: shuffleSplit(3) }), /must test each sample once/);
  await assert.rejects(predict({ method: "transform" }), /models of ridge have no transform/);
  await assert.rejects(predict({ signal: AbortSignal.abort(new Error("enough")) }), /enough/);
});
