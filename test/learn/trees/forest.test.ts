/** Forests against scikit-learn's over seeds, within the error of so many seeds; isolation forests sample by sample. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  extraTreesClassifier,
  extraTreesRegressor,
  isolationForest,
  randomForestClassifier,
  randomForestRegressor,
} from "../../../src/learn/index.js";
import { forestCases, forestData } from "../../support/forest-cases.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";

const cpu = { device: "cpu" };
const seeds = [1, 2, 3, 4, 5, 6];
const mean = (list: readonly number[]): number => list.reduce((a, b) => a + b, 0) / list.length;

/** Scores of samples that the fit did not see, and of those that trees did not see, by seed. */
async function scoresOf(kind: string, options: object, seed: number, name: string): Promise<[number, number | null]> {
  const { x, y } = forestData(name);
  const half = Math.floor(y.length / 2);
  const [trainX, trainY, testX, testY] = [x.slice(0, half), y.slice(0, half), x.slice(half), y.slice(half)];
  const oobScore = kind.startsWith("random");
  const all = { ...options, seed, oobScore };
  if (kind.endsWith("Classifier")) {
    const make = kind === "randomForestClassifier" ? randomForestClassifier : extraTreesClassifier;
    const model = await make(all).fit(trainX, trainY, cpu);
    return [await model.score(testX, testY), model.learned.oobScore && (await model.learned.oobScore.item())];
  }
  const make = kind === "randomForestRegressor" ? randomForestRegressor : extraTreesRegressor;
  const model = await make(all).fit(trainX, trainY, cpu);
  return [await model.score(testX, testY).item(), model.learned.oobScore && (await model.learned.oobScore.item())];
}

for (const { kind, data, options, mean: wanted, sd, unseen } of forestCases().forests) {
  test(`${kind}, ${data}, ${JSON.stringify(options)}: scikit-learn's scores within the error of so many seeds`, async () => {
    const scores = await Promise.all(seeds.map((seed) => scoresOf(kind, options, seed, data)));
    const error = (deviation: number) => deviation * Math.sqrt(1 / seeds.length + 1 / 16);
    const z = (mean(scores.map(([score]) => score)) - wanted) / error(sd);
    assert.ok(Math.abs(z) < 4, `z is ${z}: ${scores.map(([score]) => score)}, not ${wanted}`);
    if (!unseen) return;
    const other = (mean(scores.map(([, score]) => score as number)) - unseen[0]) / error(unseen[1]);
    assert.ok(Math.abs(other) < 4, `unseen: z is ${other}: ${scores.map(([, score]) => score)}, not ${unseen[0]}`);
  });
}

test("importances find the features that matter, and their sum is 1", async () => {
  const x = Array.from({ length: 300 }, (_, i) => [Math.sin(i * 3.1), Math.sin(i * 5.3), Math.sin(i * 7.7)]);
  const y = x.map(([a, b]) => (a! + 2 * b! > 0 ? "up" : "down"));
  const model = await randomForestClassifier({ nEstimators: 30 }).fit(x, y, cpu);
  const shares = numbersOf(model.featureImportances());
  assert.ok(Math.abs(mean(shares) * 3 - 1) < 1e-5 && shares[1]! > shares[0]! && shares[0]! > shares[2]!, `${shares}`);
});

test("a forest does not depend on how many trees grow together, and each seed is another forest", async () => {
  const { x, y } = forestData("diabetes");
  const [one, more] = await Promise.all(
    [3, 9].map((nEstimators) => extraTreesRegressor({ nEstimators, seed: 4 }).fit(x, y, cpu)),
  );
  const few = numbersOf(one!.learned.trees.feature.at(":", ":40"));
  assert.deepEqual(numbersOf(more!.learned.trees.feature.at(":3", ":40")), few);
  const other = await extraTreesRegressor({ nEstimators: 3, seed: 5 }).fit(x, y, cpu);
  assert.notDeepEqual(numbersOf(other.learned.trees.feature.at(":", ":40")), few);
});

test("nodes whose features are all constant look at others", async () => {
  // One feature of thirty varies: with two looked at, most nodes see none at first.
  const x = Array.from({ length: 50 }, (_, i) => Array.from({ length: 30 }, (_, f) => (f === 17 ? i : 1)));
  const y = x.map((_, i) => i % 2);
  const model = await randomForestClassifier({ nEstimators: 4, bootstrap: false, maxFeatures: 2 }).fit(x, y, cpu);
  assert.equal(await model.score(x, y), 1);
});

test("rows that all trees saw have no prediction by others", async () => {
  const { x, y } = forestData("diabetes");
  const model = await randomForestRegressor({ nEstimators: 2, oobScore: true }).fit(x, y, cpu);
  const known = numbersOf(model.learned.oobPrediction!).filter((value) => !Number.isNaN(value)).length;
  // A row is in a tree with probability 1 - 1/e: 0.4 are in both.
  assert.ok(known / y.length > 0.5 && known / y.length < 0.7, `${known}`);
  assert.ok(Number.isFinite(await model.learned.oobScore!.item()));
});

test("maxSamples rows are drawn for each tree", async () => {
  const { x, y } = forestData("diabetes");
  const model = await randomForestRegressor({ nEstimators: 5, maxSamples: 30 }).fit(x, y, cpu);
  assert.deepEqual(numbersOf(model.learned.trees.weight.at(":", 0)), [30, 30, 30, 30, 30]);
});

describeOnTensorDevices("isolation forests", (device) => {
  test("scores are scikit-learn's, sample by sample, within the error of so many seeds", async () => {
    const { x, maxSamples, mean: wanted, sd } = forestCases().isolation;
    const used = device === "cpu" ? [1, 2, 3, 4, 5, 6, 7, 8] : [1, 2];
    const samples = x.map((row) => [...row]);
    const scores = await Promise.all(
      used.map(async (seed) =>
        numbersOf(
          (await isolationForest({ maxSamples, seed }).fit(samples, undefined, { device })).scoreSamples(samples),
        ),
      ),
    );
    const z = wanted.map(
      (value, i) => (mean(scores.map((each) => each[i]!)) - value) / (sd[i]! * Math.sqrt(1 / used.length + 1 / 20)),
    );
    assert.ok(Math.max(...z.map(Math.abs)) < 5, `the largest z is ${Math.max(...z.map(Math.abs))}`);
    const square = mean(z.map((each) => each * each));
    assert.ok(square > 0.4 && square < 2, `the mean square of z is ${square}`);
  });
});

test("isolation forests: contamination says how many of the samples are outliers", async () => {
  const x = forestCases().isolation.x.map((row) => [...row]);
  const model = await isolationForest({ contamination: 0.05 }).fit(x, undefined, cpu);
  const labels = numbersOf(model.predict(x));
  assert.equal(labels.filter((label) => label < 0).length, 10);
  assert.deepEqual(labels, numbersOf(model.learned.labels));
  assert.ok(labels.slice(190).filter((label) => label < 0).length >= 6);
});

test("wrong options are refused by name", () => {
  assert.throws(() => randomForestClassifier({ nEstimators: 0 }), /nEstimators is a whole number from 1 on/);
  assert.throws(() => extraTreesClassifier({ oobScore: true }), /oobScore is true; without bootstrap/);
  assert.throws(() => extraTreesRegressor({ maxSamples: 5 }), /maxSamples is 5; without bootstrap/);
  assert.throws(() => isolationForest({ contamination: 0.7 }), /contamination is 0.7/);
  assert.throws(() => isolationForest({ maxSamples: 1.5 }), /maxSamples is a whole number/);
});

test("a forest whose trees all grow together is aborted on its way", async () => {
  const x = Array.from({ length: 2000 }, (_, i) => [Math.sin(i * i), Math.cos(3 * i), Math.sin(5 * i)]);
  const y = x.map((_, i) => Math.sin(11 * i));
  const controller = new AbortController();
  const run = randomForestRegressor({ nEstimators: 60 }).fit(x, y, { ...cpu, signal: controller.signal });
  setTimeout(() => controller.abort(new Error("enough")), 50);
  await assert.rejects(async () => run, /enough/);
});
