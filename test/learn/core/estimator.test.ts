/** Estimators: the checks that all must pass, on those that stand in no family of their own, and their runs. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { random, type Tensor } from "../../../src/index.js";
import {
  baggingRegressor,
  columnTransformer,
  type FitProgress,
  gaussianNaiveBayes,
  metrics,
  pca,
  pipeline,
  ridge,
  standardScaler,
} from "../../../src/learn/index.js";
import { sweepEstimators } from "../../support/learn-sweep.js";

const device = "cpu";

sweepEstimators([{ make: () => pipeline(standardScaler(), ridge()), targets: "numbers", method: "predict" }]);

test("a run of a pipeline tells its steps to those who watch", async () => {
  const seen: number[] = [];
  for await (const { step } of pipeline(standardScaler(), ridge()).fit([[1], [2], [4]], [1, 2, 3], { device }))
    seen.push(step);
  assert.deepEqual(seen, [1, 2]);
});

test("a run of a pipeline tells the progress of the step under way", async () => {
  const x = Array.from({ length: 30 }, (_, i) => [Math.sin(i), Math.cos(i)]);
  const bag = baggingRegressor({ estimator: ridge(), nEstimators: 2 });
  const inner = columnTransformer([{ columns: [0], use: standardScaler() }], { remainder: standardScaler() });
  const y = x.map(([a]) => a!);
  const seen: unknown[] = [];
  for await (const { step, steps, within, secondsLeft } of pipeline(inner, bag).fit(x, y, { device })) {
    seen.push([step, steps, within && [within.kind, within.step, within.steps]]);
    if (within) assert.ok(secondsLeft! >= 0);
  }
  assert.deepEqual(seen, [
    [0, 2, ["columnTransformer", 1, 2]],
    [0, 2, ["columnTransformer", 2, 2]],
    [1, 2, undefined],
    [1, 2, ["baggingRegressor", 1, 2]],
    [1, 2, ["baggingRegressor", 2, 2]],
    [2, 2, undefined],
  ]);
});

test("samples that are an expression are computed before anything is learned: a second fit has the same bits", async () => {
  const x = random.normal(random.key(1, { device }), [13, 4]) as Tensor;
  const y = Array.from({ length: 13 }, (_, i) => Math.sin(i));
  const make = baggingRegressor({ estimator: ridge(), nEstimators: 3 });
  const [first, second] = [await make.fit(x, y, { device }), await make.fit(x, y, { device })];
  assert.deepEqual(await first.predict(x).array(), await second.predict(x).array());
});

test("refused values are told though learning them begins at once, and fails by them", async () => {
  const x = [[1, 2], [3, 4], [Number.NaN, 5]]; // biome-ignore format: short
  const failing = pipeline(standardScaler(), ridge());
  await assert.rejects(failing.fit(x, [1, 2, 3], { device }), /ridge.fit: the sample in row 2, column "x0" is NaN/);
  const count = pca({ nComponents: 7 });
  await assert.rejects(count.fit(x, undefined, { device }), /pca.fit: the sample in row 2, column 0 is NaN/);
  const whole = x.slice(0, 2);
  await assert.rejects(count.fit(whole, undefined, { device }), /nComponents/);
});

test("progress tells how long is left: nothing at the end, the share of what went before until then", async () => {
  const x = Array.from({ length: 30 }, (_, i) => [Math.sin(i), Math.cos(i)]);
  const members = baggingRegressor({ estimator: ridge(), nEstimators: 4 });
  const seen: FitProgress[] = [];
  const began = performance.now();
  for await (const progress of members.fit(
    x,
    x.map(([a]) => a!),
    { device },
  ))
    seen.push(progress);
  const seconds = (performance.now() - began) / 1000;
  assert.deepEqual(seen.map(({ step, steps }) => [step, steps]), [1, 2, 3, 4].map((step) => [step, 4])); // biome-ignore format: short
  assert.ok(seen.slice(0, -1).every(({ secondsLeft }) => secondsLeft! > 0 && secondsLeft! < 4 * seconds));
  assert.equal(seen.at(-1)!.secondsLeft, 0);
});

test("scores take weights: those of metrics, with the same weights", async () => {
  const x = Array.from({ length: 20 }, (_, i) => [Math.sin(7 * i), Math.cos(3 * i)]);
  const weights = x.map((_, i) => (i % 4) / 2);
  const two = x.map(([a, b], i) => [a! + Math.sin(i), b! * i]);
  for (const y of [two.map(([a]) => a!), two]) {
    const model = await ridge().fit(x, y, { device, dtype: "f64" });
    const want = await metrics.r2(model.predict(x), y, { weights, dtype: "f64" }).item();
    assert.ok(Math.abs(Number(await model.score(x, y, { weights }).item()) - Number(want)) < 1e-12);
  }
  const labels = x.map(([a], i) => (a! + Math.sin(i) > 0 ? "up" : "down"));
  const model = await gaussianNaiveBayes().fit(x, labels, { device });
  const accuracy = await metrics.accuracy(await model.predictLabels(x), labels, { weights }).item();
  assert.ok(Math.abs((await model.score(x, labels, { weights })) - Number(accuracy)) < 1e-6);
  await assert.rejects(model.score(x, labels, { weights: [1] }), /20 samples and 1 weights/);
});
