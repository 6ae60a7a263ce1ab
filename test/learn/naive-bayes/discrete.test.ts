/** Naive Bayes of counts, answers and categories against scikit-learn; misuse; fits through transforms. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";
import { type Tensor, tensor, vmap } from "../../../src/index.js";
import {
  bernoulliNaiveBayes,
  categoricalNaiveBayes,
  complementNaiveBayes,
  multinomialNaiveBayes,
} from "../../../src/learn/index.js";
import { closeTo, of } from "../../support/learn-cases.js";
import { describeOnTensorDevices, devicesWithDoubles } from "../../support/tensors.js";

interface Case {
  readonly kind: string;
  readonly name: string;
  readonly options: object;
  readonly x: number[][];
  readonly y: number[];
  readonly weights: number[] | null;
  readonly logs: number[][];
  readonly predicted: number[];
}

const CASES: readonly Case[] = JSON.parse(
  readFileSync(resolve("test/learn/naive-bayes/naive-bayes-cases.json"), "utf8"),
);
const MAKERS = { multinomialNaiveBayes, complementNaiveBayes, bernoulliNaiveBayes, categoricalNaiveBayes };

describeOnTensorDevices("naive Bayes of discrete features", (device) => {
  for (const { kind, name, options, x, y, weights, logs, predicted } of CASES) {
    for (const dtype of devicesWithDoubles().includes(device) ? (["f64", "f32"] as const) : (["f32"] as const)) {
      test(`${kind}, ${name}, ${dtype}: scikit-learn's probabilities and classes`, async () => {
        const samples = of(x, dtype);
        const estimator = MAKERS[kind as "multinomialNaiveBayes"](options);
        const model = await estimator.fit(samples, y, weights ? { weights } : {});
        await closeTo(model.predictLogProbability(samples), logs, dtype === "f64" ? 1e-12 : 1e-5, "logarithms");
        assert.deepEqual(Array.from((await model.predict(samples).data()) as Int32Array), predicted);
      });
    }
  }

  test("smoothing can be mapped over: each fit is that of its alpha", async () => {
    const { x, y } = CASES[0] as Case;
    const [samples, labels] = [of(x, "f32"), tensor(y, { dtype: "i32" }) as Tensor];
    for (const make of [multinomialNaiveBayes, complementNaiveBayes, bernoulliNaiveBayes]) {
      const all = vmap((alpha: Tensor) => make({ alpha }).fitTensors(samples, labels, { classes: [0, 1, 2, 3] }))(
        tensor([0.5, 2, 8]),
      );
      const one = await make({ alpha: 2 }).fit(samples, labels);
      const wanted = await one.learned.featureLogs.array();
      await closeTo(all.learned.featureLogs.at(1) as Tensor, wanted, 1e-5, "logarithms");
    }
  });

  test("a category that was never seen says nothing", async () => {
    const model = await categoricalNaiveBayes().fit([[0], [0], [1], [1]], [0, 0, 0, 1]);
    await closeTo(model.predictProbability([[7]]), [0.75, 0.25], 1e-6, "the shares of the classes");
  });
});

test("negative counts, parts of categories and wrong settings are refused by name", async () => {
  const y = [0, 1];
  await assert.rejects(async () => multinomialNaiveBayes().fit([[1, 2], [3, -4]], y), /count in row 1, column 1 is -4; counts are zero or more/); // biome-ignore format: one line
  await assert.rejects(async () => complementNaiveBayes().fit([[-1], [1]], y), /counts are zero or more/);
  await assert.rejects(async () => categoricalNaiveBayes().fit([[0.5], [1]], y), /numbers of categories/);
  await assert.rejects(async () => categoricalNaiveBayes({ nCategories: [2] }).fit([[0, 1], [1, 0]], y), /of 1 features, and samples have 2/); // biome-ignore format: one line
  assert.throws(() => categoricalNaiveBayes({ nCategories: 0 }), /nCategories is 0/);
  assert.throws(() => bernoulliNaiveBayes({ alpha: -1 }), /alpha is -1; it is a number, zero or more/);
  assert.throws(() => bernoulliNaiveBayes({ priors: [0.5, 0.4] }), /priors are \[0.5, 0.4\]/);
  await assert.rejects(async () => multinomialNaiveBayes({ priors: [1] }).fit([[1], [2]], y), /1 priors and 2 classes/);
});
