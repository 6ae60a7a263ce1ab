/** AdaBoost against scikit-learn's: classes where nothing is drawn, numbers by their scores over seeds, and rounds computed by hand. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";
import type { Tensor } from "../../../src/index.js";
import {
  type AdaBoostClassifierOptions,
  adaBoostClassifier,
  adaBoostRegressor,
  decisionTreeClassifier,
  decisionTreeRegressor,
  dummyClassifier,
  gaussianNaiveBayes,
  linearSvc,
  ridge,
} from "../../../src/learn/index.js";
import { closeTo, of } from "../../support/learn-cases.js";
import { describeOnTensorDevices, devicesWithDoubles, numbersOf } from "../../support/tensors.js";

type Numbers = readonly number[];

interface Classified {
  readonly data: "cancer" | "wine";
  readonly weights: Numbers;
  readonly errors: Numbers;
  readonly decisions: Numbers | readonly Numbers[];
  readonly probabilities: readonly Numbers[];
  readonly staged: unknown;
  readonly labels: Numbers;
  readonly importances?: Numbers;
}

interface Cases {
  readonly classes: Readonly<Record<string, Classified>>;
  readonly regression: {
    readonly x: number[][];
    readonly y: number[];
    readonly scores: Readonly<
      Record<"linear" | "square" | "exponential", { readonly mean: number; readonly deviation: number }>
    >;
  };
}

const read = (name: string) => JSON.parse(readFileSync(resolve(`test/learn/ensemble/${name}`), "utf8"));
const { classes, regression }: Cases = read("ada-boost-cases.json");
const known: Readonly<Record<"cancer" | "wine", { readonly x: number[][]; readonly y: number[] }>> =
  read("ensemble-cases.json");

const OPTIONS: Readonly<Record<string, AdaBoostClassifierOptions>> = {
  two: { nEstimators: 6 },
  twoWeighted: { nEstimators: 6, learningRate: 0.5 },
  discrete: { nEstimators: 5, algorithm: "SAMME" },
  three: { nEstimators: 4 },
  threeDiscrete: { nEstimators: 4, algorithm: "SAMME", learningRate: 0.7 },
  bayes: { nEstimators: 5, estimator: gaussianNaiveBayes(), learningRate: 0.3 },
  perfect: { nEstimators: 9, estimator: decisionTreeClassifier() },
};

describeOnTensorDevices("AdaBoost", (device) => {
  const onCpu = device === "cpu";
  const dtypes = devicesWithDoubles().includes(device) && onCpu ? (["f64", "f32"] as const) : (["f32"] as const);
  for (const [name, want] of Object.entries(classes)) {
    // The software driver takes long to compile: it gets one case.
    if (!onCpu && name !== "three") continue;
    for (const dtype of dtypes) {
      test(`${name}, ${dtype}: scikit-learn's rounds, decisions and probabilities`, async () => {
        const { x, y } = known[want.data];
        const samples = of(x, dtype);
        const given = name === "twoWeighted" ? { weights: y.map((_, i) => ((i % 3) + 1) / 2) } : {};
        const model = await adaBoostClassifier(OPTIONS[name]).fit(samples, y, given);
        const some = samples.at("::9") as Tensor;
        const within = dtype === "f64" ? 1e-8 : 1e-3;
        await closeTo(model.learned.estimatorErrors, want.errors, within, "errors", 1e-2);
        await closeTo(model.learned.estimatorWeights, want.weights, within, "weights");
        assert.deepEqual(numbersOf(model.predict(some)), want.labels);
        assert.deepEqual(numbersOf(model.stagedPredict(some).at(-1) as Tensor), want.labels);
        if (want.importances) await closeTo(model.featureImportances(), want.importances, within, "importances");
        await closeTo(model.decisionFunction(some), want.decisions, within, "decisions");
        await closeTo(model.predictProbability(some), want.probabilities, within, "probabilities");
        const stages = model.stagedDecisionFunction(some);
        await closeTo(stages.at("-2:") as Tensor, want.staged, within, "stages");
      });
    }
  }

  test("numbers: weights are those of Drucker's rounds, predictions the weighted median", async () => {
    const { x, y } = regression;
    const dtype = devicesWithDoubles().includes(device) ? "f64" : "f32";
    const samples = of(x, dtype);
    const estimator = decisionTreeRegressor({ maxDepth: 2 });
    const model = await adaBoostRegressor({ nEstimators: 3, estimator, learningRate: 0.8, seed: 1 }).fit(samples, y);
    const said = model.learned.models.map((each) => numbersOf(each.predict(samples)));
    let weights = y.map(() => 1 / y.length);
    const [errors, counts]: [number[], number[]] = [[], []];
    for (const predicted of said) {
      const rest = y.map((value, i) => Math.abs(value - predicted[i]!));
      const most = Math.max(...rest);
      const error = rest.reduce((sum, each, i) => sum + (weights[i]! * each) / most, 0);
      const beta = error / (1 - error);
      errors.push(error);
      counts.push(0.8 * Math.log(1 / beta));
      const next = weights.map((weight, i) => weight * beta ** ((1 - rest[i]! / most) * 0.8));
      const total = next.reduce((a, b) => a + b, 0);
      weights = next.map((weight) => weight / total);
    }
    const within = dtype === "f64" ? 1e-9 : 1e-4;
    await closeTo(model.learned.estimatorErrors, errors, within, "errors");
    await closeTo(model.learned.estimatorWeights, counts, within, "weights");
    const median = y.map((_, i) => {
      const order = [0, 1, 2].sort((a, b) => said[a]![i]! - said[b]![i]!);
      const half = counts.reduce((a, b) => a + b, 0) / 2;
      const upTo = (place: number): number => order.slice(0, place + 1).reduce((sum, round) => sum + counts[round]!, 0);
      return said[order.find((_, place) => upTo(place) >= half)!]![i]!;
    });
    await closeTo(model.predict(samples), median, within, "medians");
    const stages = model.stagedPredict(samples);
    await closeTo(stages.at(0) as Tensor, said[0]!, within, "the first stage");
    await closeTo(stages.at(-1) as Tensor, median, within, "the last stage");
  });
});

const cpu = { device: "cpu" };

for (const loss of ["linear", "square", "exponential"] as const) {
  test(`numbers, loss ${loss}: scores over seeds are scikit-learn's, within their errors`, async () => {
    const { x, y, scores } = regression;
    const found: number[] = [];
    for (let seed = 0; seed < 6; seed++) {
      const model = await adaBoostRegressor({ nEstimators: 12, loss, seed }).fit(x.slice(0, 160), y.slice(0, 160), cpu);
      found.push(Number(await model.score(x.slice(160), y.slice(160)).item()));
    }
    const mean = found.reduce((a, b) => a + b, 0) / found.length;
    const z = (mean - scores[loss].mean) / (scores[loss].deviation / Math.sqrt(found.length));
    assert.ok(Math.abs(z) < 4, `${mean} and ${scores[loss].mean}: z is ${z}`);
  });
}

test("samples of weight 0 are drawn for no copy, and a perfect copy is the last one", async () => {
  const x = Array.from({ length: 40 }, (_, i) => [i]);
  const y = x.map(([i]) => (i! < 20 ? i! % 2 : 1000));
  const weights = x.map(([i]) => (i! < 20 ? 1 : 0));
  const model = await adaBoostRegressor({ nEstimators: 20 }).fit(x, y, { ...cpu, weights });
  assert.ok(numbersOf(model.predict(x)).every((value) => value <= 1));
  const all = await adaBoostRegressor({ nEstimators: 20, estimator: decisionTreeRegressor({ maxDepth: 1 }) }).fit(
    x.map(([i]) => [Number(i! < 20)]),
    x.map(([i]) => Number(i! < 20)),
    cpu,
  );
  assert.equal(all.learned.models.length, 1);
  assert.deepEqual(numbersOf(all.learned.estimatorErrors), [0]);
});

test("an estimator that is no better than chance is refused; so are wrong options", async () => {
  const x = [[1], [2], [3], [4]];
  const chance = adaBoostClassifier({ estimator: dummyClassifier(), algorithm: "SAMME" });
  await assert.rejects(async () => chance.fit(x, [0, 1, 0, 1], cpu), /no better than chance \(its error is 0\.5\)/);
  assert.throws(() => adaBoostClassifier({ estimator: ridge() }), /estimator is a ridge, which predicts numbers/);
  assert.throws(() => adaBoostRegressor({ loss: "cubic" as never }), /loss is "cubic"/);
  assert.throws(() => adaBoostRegressor({ nEstimators: 0 }), /nEstimators is a whole number from 1 on/);
  assert.throws(() => adaBoostClassifier({ learningRate: 0 }), /learningRate is 0/);
  const plain = await adaBoostClassifier({ estimator: linearSvc(), algorithm: "SAMME" }).fit(x, [0, 0, 1, 0], cpu);
  assert.throws(() => plain.featureImportances(), /linearSvc has no featureImportances/);
});
