/** Pipelines against scikit-learn's, and what goes through their steps. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { jit, stack, type Tensor, tensor, vmap } from "../../../src/index.js";
import {
  type Fitted,
  linearRegression,
  maxAbsScaler,
  minMaxScaler,
  pca,
  pipeline,
  polynomialFeatures,
  ridge,
  standardScaler,
  table,
} from "../../../src/learn/index.js";
import { closeTo, learnCases, of } from "../../support/learn-cases.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";

describeOnTensorDevices("pipelines", () => {
  test("scaling and ridge predict what scikit-learn's pipeline predicts", async () => {
    const { x, y, alpha, predicted } = learnCases().pipelines;
    const model = await pipeline(standardScaler(), ridge({ alpha })).fit(of(x, "f32"), of(y, "f32"));
    await closeTo(model.predict(of(x, "f32")), predicted, 1e-5, "predictions");
  });

  test("a pipeline is fitted inside jit and vmap", async () => {
    const { x, y } = learnCases().pipelines;
    const [samples, targets] = [of(x, "f32"), of(y, "f32")];
    const fit = (alpha: Tensor) =>
      pipeline(standardScaler(), ridge({ alpha })).fitTensors(samples, targets).predict(samples);
    const many = jit(vmap(fit))(tensor([1, 50]) as Tensor);
    const one = await pipeline(standardScaler(), ridge({ alpha: 50 })).fit(samples, targets);
    await closeTo(many.at(1) as Tensor, numbersOf(one.predict(samples)), 1e-5, "predictions");
  });
});

test("scalers one after the other are undone in reverse", async () => {
  const x = of(
    [
      [1, 5],
      [2, 4],
      [4, 9],
    ],
    "f64",
  );
  const model = await pipeline(standardScaler(), minMaxScaler({ range: [-1, 3] })).fit(x, undefined);
  const changed = model.transform(x);
  await closeTo(stack([changed.min(), changed.max()]), [-1, 3], 1e-14, "the range");
  await closeTo(model.inverseTransform(changed), numbersOf(x), 1e-14, "back");
});

test("options of steps are changed by the step's place", async () => {
  const changed = pipeline(standardScaler(), ridge()).with({ 1: { alpha: 7 } });
  assert.deepEqual(changed.options[1], { alpha: 7 });
  assert.match(String(await changed.fit([[1], [2]], [1, 2])), /pipeline of standardScaler.* → ridge\(\{ alpha: 7 \}\)/);
});

test("names of columns go through the steps to the last model, in fit and in fitTensors", async () => {
  const steps = pipeline(polynomialFeatures({ includeBias: false }), standardScaler(), ridge());
  const names = ["a", "b", "a^2", "a b", "b^2"];
  const columns = table({ a: [1, 2, 4], b: [3, 1, 2] });
  const namesIn = (model: { readonly steps: readonly unknown[] }) => (model.steps.at(-1) as Fitted).features.names;
  const model = await steps.fit(columns, [1, 2, 3]);
  assert.deepEqual([namesIn(model), model.features.names], [names, ["a", "b"]]);
  const x = of([[1, 3], [2, 1], [4, 2]], "f64"); // biome-ignore format: a matrix
  const traced = steps.fitTensors(x, of([1, 2, 3], "f64"), { featureNames: ["a", "b"] });
  assert.deepEqual(namesIn(traced), names);
  assert.deepEqual(namesIn(await pipeline(pca({ nComponents: 1 }), ridge()).fit(x, [1, 2, 3])), ["pca0"]);
  await assert.rejects(async () => ridge().fit(x, [1, 2, 3], { featureNames: ["a"] }), /1 featureNames.* have 2/);
});

test("methods without samples, and pipelines as last steps", async () => {
  const inner = pipeline(standardScaler(), minMaxScaler());
  const x = of([[1, 5], [2, 4], [4, 9]], "f64"); // biome-ignore format: a matrix
  const model = await pipeline(maxAbsScaler(), inner).fit(x);
  assert.deepEqual(model.featureNames(), ["x0", "x1"]);
  await closeTo(model.inverseTransform(model.transform(x)), numbersOf(x), 1e-14, "back");
  const predicting = await pipeline(maxAbsScaler(), pipeline(standardScaler(), ridge())).fit(x, [1, 2, 3]);
  const flat = await pipeline(maxAbsScaler(), standardScaler(), ridge()).fit(x, [1, 2, 3]);
  assert.deepEqual(numbersOf(predicting.predict(x)), numbersOf(flat.predict(x)));
});

test("a step before the last must transform, and steps are estimators", async () => {
  const wrong = pipeline(linearRegression(), ridge());
  await assert.rejects(
    async () => wrong.fit([[1], [2]], [1, 2]),
    /step 0, linearRegression, does not transform samples/,
  );
  assert.throws(() => pipeline(standardScaler(), {} as never), /step 1 is .*steps are estimators/);
});
