/** Gaussian naive Bayes against scikit-learn, with labels of every kind. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { jit, type Tensor, tensor } from "../../../src/index.js";
import { gaussianNaiveBayes } from "../../../src/learn/index.js";
import { closeTo, learnCases, of } from "../../support/learn-cases.js";
import { describeOnTensorDevices, devicesWithDoubles } from "../../support/tensors.js";

describeOnTensorDevices("gaussian naive Bayes", (device) => {
  for (const each of learnCases().bayeses) {
    for (const dtype of devicesWithDoubles().includes(device) ? (["f64", "f32"] as const) : (["f32"] as const)) {
      test(`${each.name}, ${dtype}: scikit-learn's means, variances, probabilities and classes`, async () => {
        const x = of(each.x, dtype);
        const given = each.weights ? { weights: each.weights } : {};
        const model = await gaussianNaiveBayes(each.options).fit(x, [...each.y], given);
        const within = dtype === "f64" ? 1e-12 : 1e-4;
        await closeTo(model.learned.means, each.means, within, "means");
        await closeTo(model.learned.variances, each.variances, within, "variances");
        await closeTo(model.predictLogProbability(x), each.logs, within, "logarithms of probabilities");
        assert.deepEqual(Array.from((await model.predict(x).data()) as Int32Array), each.predicted);
        assert.ok(Math.abs((await model.score(x, [...each.y])) - each.score) < 1e-6);
        const sums = model.predictProbability(x).sum({ axis: 1 });
        await closeTo(
          sums,
          each.y.map(() => 1),
          1e-5,
          "sums of probabilities",
        );
      });
    }
  }

  test("labels may be texts, booleans or a tensor of numbers", async () => {
    const x = [[0], [0.1], [5], [5.1]];
    const texts = await gaussianNaiveBayes().fit(x, ["low", "low", "high", "high"]);
    assert.deepEqual(texts.classes, ["high", "low"]);
    assert.deepEqual(await texts.predictLabels([[0.2], [4]]), ["low", "high"]);
    assert.deepEqual(Array.from((await texts.predict([[0.2], [4]]).data()) as Int32Array), [1, 0]);
    const flags = await gaussianNaiveBayes().fit(x, [false, false, true, true]);
    assert.equal(flags.predict([[4]]).dtype, "bool");
    assert.deepEqual(await flags.predictLabels([[4]]), [true]);
    const numbers = await gaussianNaiveBayes().fit(x, tensor([7, 7, 3, 3], { dtype: "i32" }));
    assert.deepEqual(numbers.classes, [3, 7]);
    assert.deepEqual(Array.from((await numbers.predict([[4], [0]]).data()) as Int32Array), [3, 7]);
  });

  test("a feature that is the same in all samples changes nothing, whatever it is in others", async () => {
    const spread = (row: number, column: number) => Math.sin(7 * row + 3 * column * column) + (row % 3) * column;
    const x = Array.from({ length: 90 }, (_, row) => [spread(row, 1), spread(row, 2), spread(row, 3)]);
    const y = x.map((_, row) => row % 3);
    const plain = await gaussianNaiveBayes().fit(x, y);
    const wide = await gaussianNaiveBayes().fit(
      x.map((row) => [...row, 0.1]),
      y,
    );
    const batches = await gaussianNaiveBayes().fit(
      x.slice(0, 31).map((row) => [...row, 0.1]),
      y.slice(0, 31),
    );
    const grown = batches.partialFit(
      x.slice(31).map((row) => [...row, 0.1]),
      y.slice(31),
    );
    const want = await plain.predictProbability(x).array();
    const others = x.map((row, i) => [...row, 5 + i]);
    await closeTo(wide.predictProbability(others), want, 2e-4, "probabilities");
    await closeTo(grown.predictProbability(others), want, 2e-4, "probabilities of a model that went on");
  });

  test("a jitted fit is told its classes, and gives the same model", async () => {
    const { x, y } = learnCases().bayeses[0]!;
    const [samples, labels] = [of(x, "f32"), tensor([...y], { dtype: "i32" }) as Tensor];
    const fit = jit((a: Tensor, b: Tensor) => gaussianNaiveBayes().fitTensors(a, b, { classes: [0, 1, 2] }));
    const plain = await gaussianNaiveBayes().fit(samples, labels);
    await closeTo(fit(samples, labels).learned.means, await plain.learned.means.array(), 1e-5, "means");
    assert.throws(
      () => gaussianNaiveBayes().fitTensors(samples, labels),
      /give the labels as a tensor, and the classes/,
    );
  });
});

test("wrong priors and smoothing are refused", async () => {
  assert.throws(() => gaussianNaiveBayes({ priors: [0.5, 0.6] }), /priors are \[0.5, 0.6\]/);
  assert.throws(() => gaussianNaiveBayes({ varSmoothing: -1 }), /varSmoothing is -1/);
  await assert.rejects(
    async () => gaussianNaiveBayes({ priors: [1] }).fit([[0], [1]], [0, 1]),
    /1 priors and 2 classes/,
  );
});
