/** Cross-validation against scikit-learn's scores. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Tensor } from "../../../src/index.js";
import {
  crossValidate,
  gaussianNaiveBayes,
  kFold,
  pipeline,
  ridge,
  type Samples,
  standardScaler,
  table,
} from "../../../src/learn/index.js";
import { learnCases, of } from "../../support/learn-cases.js";
import { describeOnTensorDevices } from "../../support/tensors.js";

describeOnTensorDevices("cross-validation", () => {
  test("a pipeline has scikit-learn's scores: nothing of the tested samples is in its steps", async () => {
    const { x, y, alpha, scores } = learnCases().pipelines;
    const found = await crossValidate(pipeline(standardScaler(), ridge({ alpha })), of(x, "f32"), of(y, "f32"));
    const off = found.scores.score!.map((score, k) => Math.abs(score - scores[k]!));
    assert.ok(Math.max(...off) < 1e-4, `off by ${off}`);
    assert.equal(found.fitMilliseconds.length, 5);
  });
});

test("arrays are split as tensors are, by any rule, with scores of one's own", async () => {
  const { x, y } = learnCases().pipelines;
  const worst = async (model: { predict(x: unknown): Tensor }, a: Samples, b: number[]) => {
    const found = (await model.predict(a).data()) as Float32Array;
    return -Math.max(...found.map((value, i) => Math.abs(value - b[i]!)));
  };
  const { scores } = await crossValidate(ridge(), x, [...y], { splits: kFold(3, { seed: 1 }), scores: { worst } });
  assert.equal(scores.worst!.length, 3);
  assert.ok(scores.worst!.every((score) => score < 0 && score > -300));
});

test("labels are stratified unless told", async () => {
  // In order of class: folds in order would leave a class out of each fit, which then cannot score.
  const { x, y } = learnCases().bayeses[0]!;
  const { scores, splits } = await crossValidate(gaussianNaiveBayes(), x, [...y], { splits: 3 });
  for (const { test } of splits) assert.equal(new Set([...test].map((i) => y[i])).size, 3);
  assert.ok(scores.score!.every((score) => score > 0.8));
});

test("labels of a table's column are stratified, too", async () => {
  const people = table({ size: [1, 1.1, 1.2, 1.3, 5, 5.1, 5.2, 5.3], kind: [..."aaaabbbb"] });
  const { splits, scores } = await crossValidate(gaussianNaiveBayes(), people.drop(["kind"]), people.column("kind"), {
    splits: 4,
  });
  for (const { test } of splits)
    assert.deepEqual(
      [...test].map((i) => (i < 4 ? "a" : "b")),
      ["a", "b"],
    );
  assert.deepEqual(scores.score, [1, 1, 1, 1]);
});

test("an estimator without a score of its own needs one", async () => {
  await assert.rejects(
    crossValidate(standardScaler(), [[1], [2], [3], [4], [5]], undefined),
    /has no score of its own/,
  );
  const signal = AbortSignal.abort(new Error("enough"));
  await assert.rejects(crossValidate(ridge(), [[1], [2], [3], [4], [5]], [1, 2, 3, 4, 5], { signal }), /enough/);
});

test("scores are named", async () => {
  const { x, y } = learnCases().bayeses[0]!;
  const { scores } = await crossValidate(gaussianNaiveBayes(), x, [...y], {
    splits: 3,
    scoring: ["accuracy", "rocAucOvr", "negLogLoss"],
  });
  const own = await crossValidate(gaussianNaiveBayes(), x, [...y], { splits: 3 });
  assert.deepEqual(scores.accuracy, own.scores.score);
  assert.ok(scores.rocAucOvr!.every((area) => area > 0.9 && area <= 1));
  assert.ok(scores.negLogLoss!.every((loss) => loss < 0 && Number.isFinite(loss)));
  const words = [...y].map((label) => (label === 0 ? "none" : "some"));
  const binary = await crossValidate(gaussianNaiveBayes(), x, words, { splits: 3, scoring: "f1" });
  assert.ok(binary.scores.f1!.every((f1) => f1 > 0.8));
  const data = learnCases().pipelines;
  const numbers = await crossValidate(ridge(), data.x, [...data.y], { scoring: ["r2", "negMeanSquaredError"] });
  const plain = await crossValidate(ridge(), data.x, [...data.y]);
  assert.ok(numbers.scores.r2!.every((r2, k) => Math.abs(r2 - plain.scores.score![k]!) < 1e-6));
  assert.ok(numbers.scores.negMeanSquaredError!.every((score) => score < 0));
  await assert.rejects(crossValidate(ridge(), data.x, [...data.y], { scoring: "f1" }), /ridge has no predictLabels/);
  await assert.rejects(crossValidate(ridge(), data.x, [...data.y], { scoring: "best" }), /no score "best"/);
});

test("weights go to the fits: samples of weight zero might as well not be there", async () => {
  const { x, y } = learnCases().pipelines;
  const weights = y.map((_, i) => (i % 5 === 0 ? 0 : 1 + (i % 3)));
  const noisy = y.map((each, i) => (i % 5 === 0 ? 1e4 : each));
  const scores = async (targets: readonly number[]) => {
    const shown = {
      score: async (model: { learned: { coefficients: Tensor } }) =>
        Number(await model.learned.coefficients.norm().item()),
    };
    return (await crossValidate(ridge(), of(x, "f64"), of(targets, "f64"), { weights, scores: shown as never })).scores
      .score!;
  };
  const [found, want] = [await scores(noisy), await scores(y)];
  found.forEach((each, k) => {
    assert.ok(Math.abs(each / want[k]! - 1) < 1e-9);
  });
});
