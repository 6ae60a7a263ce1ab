/** Discriminants, linear and quadratic, against scikit-learn; fits through transforms; misuse. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { jit, type Tensor, tensor, vmap } from "../../../src/index.js";
import { linearDiscriminantAnalysis, quadraticDiscriminantAnalysis } from "../../../src/learn/index.js";
import { discriminantCases } from "../../support/discriminant-cases.js";
import { closeTo, dtypesOf, of } from "../../support/learn-cases.js";
import { describeOnTensorDevices } from "../../support/tensors.js";

describeOnTensorDevices("discriminants", (device) => {
  for (const [place, each] of discriminantCases().discriminants.entries()) {
    const { kind, name, options, x, y, logs, decisions, transformed, ratio } = each;
    for (const dtype of dtypesOf(device, place === 0)) {
      const within = dtype === "f64" ? 1e-8 : 2e-3;
      test(`${kind}, ${name}, ${dtype}: scikit-learn's probabilities`, async () => {
        const samples = of(x, dtype);
        if (kind === "quadraticDiscriminantAnalysis") {
          const model = await quadraticDiscriminantAnalysis(options).fit(samples, y);
          await closeTo(model.decisionFunction(samples), decisions, within, "decisions");
          return closeTo(model.predictLogProbability(samples), logs, within, "logarithms");
        }
        const model = await linearDiscriminantAnalysis(options).fit(samples, y);
        await closeTo(model.predictLogProbability(samples), logs, within, "logarithms");
        await closeTo(model.decisionFunction(samples), decisions, within, "decisions");
        await closeTo(model.learned.explainedVarianceRatio, ratio, within, "shares of variance");
        // Directions have no sign.
        const wanted = transformed as number[][];
        const found = (await model.transform(samples).array()) as number[][];
        const signs = wanted[0]!.map((value, j) => Math.sign(value * found[0]![j]!));
        const turned = tensor(signs, { dtype });
        await closeTo(model.transform(samples).mul(turned) as Tensor, wanted, within, "transformed samples");
      });
    }
  }

  test("fits trace: jit, and a map over the regularisation", async () => {
    const { x, y } = discriminantCases().discriminants[0]!;
    const [samples, labels] = [of(x, "f32"), tensor(y, { dtype: "i32" }) as Tensor];
    const classes = { classes: [0, 1, 2] };
    const plain = await linearDiscriminantAnalysis().fit(samples, labels);
    const inside = jit((a: Tensor, b: Tensor) => linearDiscriminantAnalysis().fitTensors(a, b, classes))(
      samples,
      labels,
    );
    await closeTo(inside.predictProbability(samples), await plain.predictProbability(samples).array(), 1e-4, "linear");
    const all = vmap((regParam: Tensor) =>
      quadraticDiscriminantAnalysis({ regParam }).fitTensors(samples, labels, classes),
    )(tensor([0.1, 0.6]));
    const one = await quadraticDiscriminantAnalysis({ regParam: 0.6 }).fit(samples, labels);
    await closeTo(all.learned.variances.at(1) as Tensor, await one.learned.variances.array(), 1e-4, "quadratic");
  });

  test("whole weights count samples so often", async () => {
    const { x, y } = discriminantCases().discriminants[0]!;
    const weights = y.map((_, i) => 1 + (i % 3));
    const rows = weights.flatMap((count, i) => new Array<number>(count).fill(i));
    const [again, labels] = [rows.map((i) => x[i]!), rows.map((i) => y[i]!)];
    for (const make of [linearDiscriminantAnalysis, quadraticDiscriminantAnalysis]) {
      const a = await make().fit(x, y, { weights });
      const b = await make().fit(again, labels);
      await closeTo(a.predictProbability(x), await b.predictProbability(x).array(), 2e-3, "probabilities");
    }
  });
});

test("one class, too few samples and wrong settings are refused by name", async () => {
  const fit = async (x: number[][], y: number[], options = {}) => linearDiscriminantAnalysis(options).fit(x, y);
  await assert.rejects(fit([[1], [2]], [0, 0]), /one class alone/);
  await assert.rejects(fit([[1], [2]], [0, 1]), /2 samples of 2 classes; there must be more samples/);
  await assert.rejects(fit([[1], [2], [4]], [0, 1, 1], { nComponents: 2 }), /nComponents is 2; .* from 1 to 1/);
  await assert.rejects(async () => quadraticDiscriminantAnalysis().fit([[1], [2]], [0, 0]), /one class alone/);
  assert.throws(() => linearDiscriminantAnalysis({ shrinkage: 2 }), /shrinkage is 2; it is a number from 0 to 1/);
  assert.throws(() => quadraticDiscriminantAnalysis({ regParam: -1 }), /regParam is -1/);
});

test("a shrunk covariance that is singular is refused with the remedy", async () => {
  // Two samples of each class get no shrinkage by Ledoit and Wolf, and two directions do not span five features.
  const x = Array.from({ length: 4 }, (_, i) => Array.from({ length: 5 }, (__, j) => Math.sin(5 * i + j * j)));
  const fit = (shrinkage: "auto" | number) => linearDiscriminantAnalysis({ shrinkage }).fit(of(x, "f64"), [0, 0, 1, 1]);
  await assert.rejects(fit("auto"), /the shrunk covariance of the classes is singular.* give it as a number/);
  await fit(0.1);
});
