/** Single trees against scikit-learn's: structure, thresholds, values, impurities and importances. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Tensor } from "../../../src/index.js";
import { decisionTreeClassifier, decisionTreeRegressor } from "../../../src/learn/index.js";
import { forestCases, forestData } from "../../support/forest-cases.js";
import { of } from "../../support/learn-cases.js";
import { assertSameTree } from "../../support/same-tree.js";
import { describeOnTensorDevices, devicesWithDoubles, numbersOf } from "../../support/tensors.js";

describeOnTensorDevices("decision trees", (device) => {
  const { trees } = forestCases();
  // The software driver takes long to compile: it gets a part of the cases.
  const wanted = trees.filter(
    ({ data, options }, i) => device === "cpu" || data === "several" || "criterion" in options || i < 2,
  );
  const dtypes =
    devicesWithDoubles().includes(device) && device === "cpu" ? (["f64", "f32"] as const) : (["f32"] as const);
  for (const tree of wanted) {
    for (const dtype of dtypes) {
      test(`${tree.kind}, ${tree.data}, ${JSON.stringify(tree.options)}, ${dtype}: scikit-learn's tree`, async () => {
        await assertSameTree(tree, dtype);
      });
    }
  }
});

const cpu = { device: "cpu" };

test("a tree without limits knows its samples; the first of equally good features is taken", async () => {
  const { x, y } = forestData("cancer");
  const model = await decisionTreeClassifier().fit(x, y, cpu);
  assert.equal(await model.score(x, y), 1);
  const twice = x.map((row) => [row[3]!, row[3]!]);
  const same = await decisionTreeClassifier({ maxDepth: 3 }).fit(twice, y, cpu);
  assert.ok(numbersOf(same.learned.trees.feature).every((feature) => feature === 0));
  assert.deepEqual(numbersOf(same.featureImportances()), [1, 0]);
});

test("thresholds lie in the middle between values, or on the lower one where rounding leaves no middle", async () => {
  const next = 1 + 2 ** -23;
  const model = await decisionTreeRegressor().fit([[1], [next], [3]], [0, 1, 5], cpu);
  const thresholds = numbersOf(model.learned.trees.threshold).filter((value) => value !== 0);
  assert.deepEqual(thresholds.sort(), [1, Math.fround(next / 2 + 1.5)].sort());
  assert.deepEqual(numbersOf(model.predict([[1], [next], [3]])), [0, 1, 5]);
});

test("many equal values, and more rows than are sorted by insertion: a brute force search finds the same split", async () => {
  const x = Array.from({ length: 3000 }, (_, i) => [(i * 7919) % 61, ((i * 104729) % 3001) / 7]);
  const y = x.map(([a, b], i) => Math.sin(a! / 9) + (b! > 200 ? 2 : 0) + ((i * 31) % 17) / 20);
  const model = await decisionTreeRegressor({ maxDepth: 1, minSamplesLeaf: 30 }).fit(of(x, "f64"), y, cpu);
  const best = { gain: -1, feature: -1, threshold: 0 };
  const spread = (list: readonly number[]): number => {
    const mean = list.reduce((a, b) => a + b, 0) / list.length;
    return list.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  };
  const sorted = [0, 1].map((f) => [...new Set(x.map((row) => row[f]!))].sort((a, b) => a - b));
  sorted.forEach((values, feature) => {
    for (let i = 0; i + 1 < values.length; i += feature === 1 ? 40 : 1) {
      const threshold = (values[i]! + values[i + 1]!) / 2;
      const [left, right] = [
        y.filter((_, r) => x[r]![feature]! <= threshold),
        y.filter((_, r) => x[r]![feature]! > threshold),
      ];
      if (Math.min(left.length, right.length) < 30) continue;
      const gain = spread(y) - spread(left) - spread(right);
      if (gain > best.gain) Object.assign(best, { gain, feature, threshold });
    }
  });
  const { feature, threshold, gain } = model.learned.trees;
  assert.equal(numbersOf(feature)[0], best.feature);
  // Every fortieth threshold was tried: the best of all is as good at least.
  assert.ok(numbersOf(gain)[0]! * 3000 >= best.gain - 1e-6, `${numbersOf(gain)[0]! * 3000} and ${best.gain}`);
  assert.ok(Math.abs(numbersOf(threshold)[0]! - best.threshold) < 6);
});

test("samples of weight zero are left out, and several targets are predicted together", async () => {
  const { x, y } = forestData("diabetes");
  const weights = y.map((_, i) => (i < 200 ? 1 : 0));
  const weighted = await decisionTreeRegressor({ maxDepth: 5 }).fit(x, y, { ...cpu, weights });
  const fewer = await decisionTreeRegressor({ maxDepth: 5 }).fit(x.slice(0, 200), y.slice(0, 200), cpu);
  assert.deepEqual(numbersOf(weighted.predict(x)), numbersOf(fewer.predict(x)));
  const several = forestData("several").y as unknown as number[][];
  const model = await decisionTreeRegressor().fit(x, several, cpu);
  assert.deepEqual(model.predict(x.slice(0, 7)).shape, [7, 2]);
  assert.ok(Math.abs((await model.score(x, several).item()) - 1) < 1e-6);
  const none = async () => decisionTreeRegressor().fit(x, y, { ...cpu, weights: y.map(() => 0) });
  await assert.rejects(none, /all weights are 0; no sample would count/);
});

test("random thresholds lie between the values of their node", async () => {
  const { x, y } = forestData("diabetes");
  const model = await decisionTreeRegressor({ splitter: "random", seed: 3 }).fit(x, y, cpu);
  assert.ok((await model.score(x, y).item()) > 0.999);
  const best = await decisionTreeRegressor().fit(x, y, cpu);
  assert.notDeepEqual(numbersOf(model.learned.trees.threshold), numbersOf(best.learned.trees.threshold));
});

test("probabilities are shares of leaves; a tree is text", async () => {
  const { x, y } = forestData("iris");
  const model = await decisionTreeClassifier({ maxDepth: 1 }).fit(x, y, cpu);
  const shares = numbersOf(model.predictProbability(x) as Tensor);
  assert.ok(shares.every((share, i) => i % 3 > 0 || Math.abs(share + shares[i + 1]! + shares[i + 2]! - 1) < 1e-6));
  const logs = numbersOf(model.predictLogProbability(x));
  assert.ok(logs.every((log, i) => Math.abs(Math.exp(log) - shares[i]!) < 1e-6));
  assert.match(
    await model.toText(),
    /^\|--- feature 2 <= 2\.\d+\n\| {3}\|--- 1, 0, 0\n\|--- feature 2 > 2\.\d+\n\| {3}\|--- 0, 0\.5, 0\.5$/,
  );
});

test("wrong options are refused by name", async () => {
  assert.throws(
    () => decisionTreeClassifier({ criterion: "mse" as never }),
    /criterion is "mse"; it is "gini" or "entropy" or "logLoss"/,
  );
  assert.throws(() => decisionTreeRegressor({ splitter: "worst" as never }), /splitter is "worst"/);
  assert.throws(() => decisionTreeRegressor({ maxFeatures: 0 }), /maxFeatures is 0; it is a whole number from 1 on/);
  assert.throws(
    () => decisionTreeRegressor({ minSamplesSplit: 1 }),
    /minSamplesSplit is 1; it is a whole number from 2 on, or a share/,
  );
  assert.throws(() => decisionTreeRegressor({ ccpAlpha: -1 }), /ccpAlpha is -1/);
  assert.throws(() => decisionTreeClassifier({ classWeight: [-1] }), /classWeight is/);
  const fit = async () => decisionTreeRegressor({ criterion: "poisson" }).fit([[1], [2]], [-1, 2], cpu);
  await assert.rejects(fit, /smallest target is -1/);
});
