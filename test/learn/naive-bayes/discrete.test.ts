/** Naive Bayes of counts, answers and categories against scikit-learn; misuse; fits through transforms. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";
import { jit, type Tensor, tensor, vmap } from "../../../src/index.js";
import {
  bernoulliNaiveBayes,
  categoricalNaiveBayes,
  complementNaiveBayes,
  gaussianNaiveBayes,
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

/** A fit batch by batch, of which the first has not all classes. */
interface BatchCase extends Omit<Case, "name" | "predicted"> {
  readonly batches: readonly (readonly [number, number])[];
}

const { whole: CASES, batches: BATCHES }: { whole: readonly Case[]; batches: readonly BatchCase[] } = JSON.parse(
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

  for (const { kind, options, x, y, weights, batches, logs } of BATCHES) {
    const dtype = devicesWithDoubles().includes(device) ? "f64" : "f32";
    test(`${kind} batch by batch: scikit-learn's probabilities, and those of a fit to all samples`, async () => {
      const samples = of(x, dtype);
      const estimator = { ...MAKERS, gaussianNaiveBayes }[kind as "multinomialNaiveBayes"](options);
      const part = (from: number, to: number) =>
        [of(x.slice(from, to), dtype), y.slice(from, to), weights ? { weights: weights.slice(from, to) } : {}] as const;
      const [[first, end], ...rest] = batches as [[number, number], ...[number, number][]];
      const [own, labels, given] = part(first, end);
      let model = await estimator.fit(own, labels, { ...given, classes: [0, 1, 2, 3] });
      for (const [from, to] of rest) model = model.partialFit(...part(from, to));
      const within = dtype === "f64" ? 1e-10 : 1e-4;
      await closeTo(model.predictLogProbability(samples), logs, within, "logarithms");
      const whole = await estimator.fit(samples, y, { ...(weights ? { weights } : {}), classes: [0, 1, 2, 3] });
      await closeTo(
        model.predictLogProbability(samples),
        await whole.predictLogProbability(samples).array(),
        within,
        "a fit",
      );
    });
  }

  test("a class without samples is never likely, and has what it needs when they come", async () => {
    const classes = [0, 1, 2];
    for (const make of [gaussianNaiveBayes, multinomialNaiveBayes, bernoulliNaiveBayes]) {
      const model = await make().fit([[1, 2], [3, 1], [2, 2], [4, 0]], [0, 2, 0, 2], { classes }); // biome-ignore format: a matrix
      const [row] = (await model.predictProbability([[2, 1.5]]).array()) as [number[]];
      assert.ok(row[1] === 0 && Math.abs(row[0]! + row[2]! - 1) < 1e-6, `${model.kind}: ${row}`);
      const more = model.partialFit([[20, 30], [21, 29]], [1, 1]); // biome-ignore format: a matrix
      assert.ok(
        (await more
          .predictProbability([[20.5, 30]])
          .at(0, 1)
          .item()) > 0,
        model.kind,
      );
      assert.ok(Number(await more.learned.counts.at(1).item()) === 2);
    }
  });

  test("batches go through jit, labels are those of the first fit, and others are refused", async () => {
    const [x, y] = [tensor([[1, 2], [3, 1], [0, 4]]), ["b", "a", "b"]] as const; // biome-ignore format: a matrix
    const model = await multinomialNaiveBayes().fit(x, y);
    assert.throws(() => model.partialFit(x, ["a", "b", "c"]), /label 2 is "c", not one of the classes .*; name those/);
    assert.throws(() => model.partialFit(x, ["a"]), /there are 3 samples and 1 labels/);
    const places = tensor([1, 0, 1], { dtype: "i32" }) as Tensor;
    const inside = jit((a: typeof model, b: Tensor, c: Tensor) => a.partialFit(b, c))(model, x, places);
    const plain = model.partialFit(x, [...y]);
    await closeTo(inside.predictProbability(x), await plain.predictProbability(x).array(), 1e-6, "probabilities");
    assert.equal(Number(await plain.learned.counts.sum().item()), 6);
  });

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
