/** Ensembles against scikit-learn's where nothing is drawn, and against their own members where something is. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";
import type { Tensor } from "../../../src/index.js";
import {
  type AnyEstimator,
  baggingClassifier,
  baggingRegressor,
  columnTransformer,
  dummyClassifier,
  dummyRegressor,
  gaussianNaiveBayes,
  gridSearch,
  histGradientBoostingRegressor,
  kFold,
  linearRegression,
  linearSvc,
  logisticRegression,
  multiOutputClassifier,
  multiOutputRegressor,
  oneHotEncoder,
  oneVsOne,
  oneVsRest,
  pipeline,
  regressorChain,
  ridge,
  stackingClassifier,
  stackingRegressor,
  standardScaler,
  table,
  votingClassifier,
  votingRegressor,
} from "../../../src/learn/index.js";
import { closeTo, of } from "../../support/learn-cases.js";
import { describeOnTensorDevices, devicesWithDoubles, numbersOf } from "../../support/tensors.js";

type Numbers = readonly number[];
type Rows = readonly Numbers[];

interface Classified {
  readonly labels: Numbers;
  readonly probabilities?: Rows;
  readonly decisions?: Rows | Numbers;
}

interface EnsembleCases {
  readonly diabetes: { readonly x: Rows; readonly y: Numbers; readonly two: Rows; readonly weights: Numbers };
  readonly wine: { readonly x: Rows; readonly y: Numbers };
  readonly cancer: { readonly x: Rows; readonly y: Numbers };
  readonly regressions: {
    readonly dummies: { readonly mean: number; readonly median: number; readonly quantile: number };
  } & Readonly<Record<"voting" | "weighted" | "stacking" | "passthrough" | "outputs" | "chain", Rows | Numbers>>;
  readonly classifications: Readonly<Record<string, Classified>>;
  readonly dummies: Readonly<Record<string, Classified>>;
}

const cases: EnsembleCases = JSON.parse(readFileSync(resolve("test/learn/ensemble/ensemble-cases.json"), "utf8"));
const { diabetes, wine, cancer } = cases;
const logistic = () => logisticRegression({ tol: 1e-8 });
const pair = [logistic(), gaussianNaiveBayes()];

const REGRESSIONS: Readonly<Record<string, { readonly make: () => AnyEstimator; readonly given?: object }>> = {
  voting: { make: () => votingRegressor({ estimators: [linearRegression(), ridge({ alpha: 10 })], weights: [1, 3] }) },
  weighted: {
    make: () => votingRegressor({ estimators: [linearRegression(), ridge({ alpha: 10 })] }),
    given: { weights: diabetes.weights },
  },
  stacking: {
    make: () =>
      stackingRegressor({
        estimators: [linearRegression(), ridge({ alpha: 30 })],
        finalEstimator: ridge({ alpha: 0.1 }),
        splits: 4,
      }),
  },
  passthrough: {
    make: () => stackingRegressor({ estimators: [linearRegression(), ridge({ alpha: 30 })], passthrough: true }),
  },
  outputs: { make: () => multiOutputRegressor({ estimator: ridge({ alpha: 2 }) }) },
  chain: { make: () => regressorChain({ estimator: ridge({ alpha: 2 }), order: [1, 0] }) },
};

const CLASSIFICATIONS: Readonly<Record<string, () => AnyEstimator>> = {
  hard: () => votingClassifier({ estimators: [...pair, gaussianNaiveBayes({ varSmoothing: 0.5 })] }),
  soft: () => votingClassifier({ estimators: pair, voting: "soft", weights: [1, 2] }),
  stacking: () => stackingClassifier({ estimators: pair, finalEstimator: logistic(), splits: 4 }),
  stackingOfTwo: () => stackingClassifier({ estimators: pair, finalEstimator: logistic(), splits: 4 }),
  rest: () => oneVsRest({ estimator: logistic() }),
  restOfTwo: () => oneVsRest({ estimator: logistic() }),
  restByProbability: () => oneVsRest({ estimator: gaussianNaiveBayes() }),
  pairs: () => oneVsOne({ estimator: logistic() }),
  pairsByProbability: () => oneVsOne({ estimator: gaussianNaiveBayes() }),
  pairsOfTwo: () => oneVsOne({ estimator: logistic() }),
};

describeOnTensorDevices("ensembles", (device) => {
  const dtype = devicesWithDoubles().includes(device) ? "f64" : "f32";
  const within = dtype === "f64" ? 1e-6 : 1e-4;
  const isQuick = device === "cpu";

  for (const [name, { make, given }] of Object.entries(REGRESSIONS)) {
    // Other devices run one of each sort: members are tested on them by their own families.
    if (!isQuick && !["stacking", "chain"].includes(name)) continue;
    test(`${name}: scikit-learn's predictions`, async () => {
      const targets = name === "outputs" || name === "chain" ? diabetes.two : diabetes.y;
      const model = await make().fit(of(diabetes.x, dtype), of(targets, dtype), given);
      const want = cases.regressions[name as "voting"];
      await closeTo(model.predict(of(diabetes.x, dtype)), want, within, "predictions");
    });
  }

  for (const [name, make] of Object.entries(CLASSIFICATIONS)) {
    if (!isQuick && name !== "soft") continue;
    test(`${name}: scikit-learn's labels, probabilities and decisions`, async () => {
      const { x, y } = name.endsWith("OfTwo") ? cancer : wine;
      const samples = of(x, dtype);
      const { labels, probabilities, decisions } = cases.classifications[name]!;
      const model = await make().fit(samples, [...y]);
      assert.deepEqual(numbersOf(model.predict(samples)), labels);
      if (probabilities) await closeTo(model.predictProbability(samples), probabilities, within, "probabilities");
      if (decisions) await closeTo(model.decisionFunction(samples), decisions, within, "decisions");
      const texts = await make().fit(
        samples,
        y.map((label) => `wine ${label}`),
      );
      assert.deepEqual(
        (await texts.predictLabels(samples)).slice(0, 9),
        labels.slice(0, 9).map((l) => `wine ${l}`),
      );
    });
  }
});

test("dummies predict shares, quantiles and constants", async () => {
  const [x, y] = [of(diabetes.x, "f64"), of(diabetes.y, "f64")];
  const { mean, median, quantile } = cases.regressions.dummies;
  const said = async (options: object, given = {}) =>
    numbersOf((await dummyRegressor(options).fit(x, y, given)).predict(x))[0]!;
  assert.ok(Math.abs((await said({}, { weights: diabetes.weights })) - mean) < 1e-12);
  assert.ok(Math.abs((await said({ strategy: "median" })) - median) < 1e-12);
  assert.ok(Math.abs((await said({ strategy: "quantile", quantile: 0.2 })) - quantile) < 1e-12);
  assert.equal(await said({ strategy: "constant", constant: 4 }), 4);
  for (const [name, strategy] of [
    ["prior", "prior"],
    ["most_frequent", "mostFrequent"],
  ] as const) {
    // biome-ignore format: names
    const model = await dummyClassifier({ strategy }).fit(of(wine.x, "f64"), [...wine.y]);
    const { labels, probabilities } = cases.dummies[name]!;
    assert.deepEqual(numbersOf(model.predict(of(wine.x.slice(0, 2), "f64"))), labels);
    await closeTo(model.predictProbability(of(wine.x.slice(0, 2), "f64")), probabilities, 1e-9, "probabilities");
  }
  const constant = await dummyClassifier({ strategy: "constant", constant: "b" }).fit([[1], [2]], ["a", "b"]);
  assert.deepEqual(await constant.predictLabels([[9]]), ["b"]);
  await assert.rejects(
    async () => dummyClassifier({ strategy: "constant", constant: "c" }).fit([[1], [2]], ["a", "b"]),
    /constant is "c", not one of the classes/,
  );
  assert.throws(() => dummyClassifier({ strategy: "constant" }), /needs it/);
});

test("drawn classes have their shares, and are the same for a seed", async () => {
  const many = Array.from({ length: 4000 }, (_, i) => [i]);
  const labels = many.map((_, i) => (i % 10 < 7 ? 0 : i % 10 < 9 ? 1 : 2));
  for (const [strategy, shares] of [
    ["stratified", [0.7, 0.2, 0.1]],
    ["uniform", [1 / 3, 1 / 3, 1 / 3]],
  ] as const) {
    // biome-ignore format: pairs
    const model = await dummyClassifier({ strategy, seed: 5 }).fit(many, labels);
    const drawn = numbersOf(model.predict(many));
    assert.deepEqual(drawn, numbersOf(model.predict(many)));
    shares.forEach((share, k) => {
      const found = drawn.filter((each) => each === k).length / 4000;
      // Five standard errors of a share.
      assert.ok(Math.abs(found - share) < 5 * Math.sqrt((share * (1 - share)) / 4000), `${strategy} ${k}: ${found}`);
    });
  }
});

/** The distinct rows of a copy. */
const rowsOf = (rows: Tensor, copy: number): number[] => numbersOf(rows.at(copy) as Tensor);

test("bagging is the mean of its copies, each fitted to its rows; out-of-bag ones are of those that it did not see", async () => {
  const { x, y } = diabetes;
  const model = await baggingRegressor({ estimator: ridge(), nEstimators: 12, oob: true, seed: 3 }).fit(
    of(x, "f64"),
    of(y, "f64"),
  );
  const copies = await Promise.all(
    Array.from({ length: 12 }, async (_, i) => {
      const rows = rowsOf(model.learned.rows, i);
      assert.equal(rows.length, 60);
      assert.ok(new Set(rows).size < 50, "drawn with replacement");
      const own = await ridge().fit(
        of(
          rows.map((r) => x[r]),
          "f64",
        ),
        rows.map((r) => y[r]!),
        { dtype: "f64" },
      );
      return { rows: new Set(rows), said: numbersOf(own.predict(of(x, "f64"))) };
    }),
  );
  const mean = (list: readonly number[]) => list.reduce((a, b) => a + b, 0) / list.length;
  const want = y.map((_, r) => mean(copies.map(({ said }) => said[r]!)));
  await closeTo(model.predict(of(x, "f64")), want, 1e-6, "predictions");
  const out = y.map((_, r) => mean(copies.filter(({ rows }) => !rows.has(r)).map(({ said }) => said[r]!)));
  const found = numbersOf(model.learned.oobPrediction!);
  const known = out.flatMap((value, r) => (Number.isNaN(value) ? [] : [r]));
  assert.ok(known.length > 50);
  found.forEach((value, r) => {
    assert.ok(Number.isNaN(out[r]!) ? Number.isNaN(value) : Math.abs(value - out[r]!) < 1e-6, `${r}: ${value}`);
  });
  const middle = mean(known.map((r) => y[r]!));
  const rest = mean(known.map((r) => (y[r]! - out[r]!) ** 2)) / mean(known.map((r) => (y[r]! - middle) ** 2));
  assert.ok(Math.abs(numbersOf(model.learned.oobScore!)[0]! - (1 - rest)) < 1e-6);
});

test("bagging draws columns and fewer samples; without draws it is its estimator", async () => {
  const { x, y } = wine;
  const model = await baggingClassifier({
    estimator: gaussianNaiveBayes(),
    maxSamples: 0.5,
    maxFeatures: 2,
    nEstimators: 15,
    oob: true,
  }).fit(of(x, "f64"), [...y]);
  assert.deepEqual(model.learned.rows.shape, [15, Math.floor(y.length / 2)]);
  assert.deepEqual(model.learned.columns!.shape, [15, 2]);
  for (let i = 0; i < 15; i++) assert.equal(new Set(rowsOf(model.learned.columns!, i)).size, 2);
  assert.ok((await model.score(of(x, "f64"), [...y])) > 0.85);
  const oob = numbersOf(model.learned.oobScore!)[0]!;
  assert.ok(oob > 0.8 && oob <= 1, `${oob}`);
  const plain = await baggingClassifier({ estimator: gaussianNaiveBayes(), bootstrap: false, nEstimators: 2 }).fit(
    of(x, "f64"),
    [...y],
  );
  const alone = await gaussianNaiveBayes().fit(of(x, "f64"), [...y]);
  await closeTo(
    plain.predictProbability(of(x, "f64")),
    numbersOf(alone.predictProbability(of(x, "f64"))),
    1e-12,
    "same",
  );
  assert.throws(
    () => baggingRegressor({ estimator: ridge(), oob: true, bootstrap: false }),
    /samples that are left out/,
  );
  assert.throws(() => baggingRegressor({ estimator: ridge(), maxSamples: -1 }), /maxSamples is -1/);
});

test("a copy that has not seen a class gives it no probability", async () => {
  const x = Array.from({ length: 12 }, (_, i) => [i]);
  const labels = x.map((_, i) => (i < 11 ? (i < 6 ? "a" : "b") : "rare"));
  const model = await baggingClassifier({ estimator: gaussianNaiveBayes({ varSmoothing: 1e-2 }), seed: 1 }).fit(
    x,
    labels,
  );
  const counts = model.learned.models.map((copy) => copy.classes!.length);
  assert.ok(counts.includes(2) && counts.includes(3), `${counts}`);
  const sums = numbersOf(model.predictProbability(x).sum({ axis: 1 }));
  assert.ok(sums.every((sum) => Math.abs(sum - 1) < 1e-5));
});

test("missing values and categories reach members that take them", async () => {
  const gaps = Array.from({ length: 40 }, (_, i) => [i % 5 === 0 ? Number.NaN : i, i % 3]);
  const y = gaps.map((_, i) => i);
  const trees = await baggingRegressor({
    estimator: histGradientBoostingRegressor({ minSamplesLeaf: 2 }),
    nEstimators: 2,
  }).fit(gaps, y);
  assert.ok(numbersOf(trees.predict(gaps)).every(Number.isFinite));
  await assert.rejects(async () => baggingRegressor({ estimator: ridge() }).fit(gaps, y), /row 0, column 0 is NaN/);
  const houses = table({ city: ["Rom", "Ulm", "Rom", "Bonn", "Ulm", "Bonn"], size: [1, 2, 3, 4, 5, 6] });
  const encoded = pipeline(
    columnTransformer([{ columns: "city", use: oneHotEncoder() }], { remainder: "passthrough" }),
    ridge(),
  );
  const prices = [1, 2, 3, 4, 5, 7];
  const voting = await votingRegressor({ estimators: [encoded] }).fit(houses, prices);
  const alone = await encoded.fit(houses, prices);
  await closeTo(voting.predict(houses), numbersOf(alone.predict(houses)), 1e-6, "predictions");
});

test("several labels at once: whole numbers by column", async () => {
  const y = wine.y.map((label, i) => [label, wine.x[i]![0]! > 0 ? 1 : 0]);
  const model = await multiOutputClassifier({ estimator: logistic() }).fit(of(wine.x, "f64"), of(y, "f64"));
  assert.deepEqual(model.outputClasses(), [[0, 1, 2], [0, 1]]); // biome-ignore format: classes
  const alone = await logistic().fit(of(wine.x, "f64"), [...wine.y]);
  const said = numbersOf(model.predict(of(wine.x, "f64")).at(":", 0) as Tensor);
  assert.deepEqual(said, numbersOf(alone.predict(of(wine.x, "f64"))));
  const both = numbersOf(model.predict(of(wine.x, "f64")));
  const right = y.filter(([a, b], i) => both[2 * i] === a && both[2 * i + 1] === b).length / y.length;
  assert.ok(Math.abs(Number(await model.score(of(wine.x, "f64"), of(y, "f64")).item()) - right) < 1e-6);
  assert.deepEqual(
    model.predictProbability(of(wine.x, "f64")).map(({ shape }) => shape[1]),
    [3, 2],
  );
});

test("options of members are changed by path, and searched", async () => {
  const voting = votingRegressor({ estimators: [linearRegression(), ridge()] });
  const changed = voting.with({ estimators: { 1: { alpha: 7 } } as never });
  assert.deepEqual(changed.options.estimators[1]!.options, { alpha: 7 });
  const model = await gridSearch(
    pipeline(standardScaler(), votingRegressor({ estimators: [linearRegression(), ridge()] })),
    { "1.estimators.1.alpha": [1, 1e5] },
    { splits: 3 },
  ).fit(of(diabetes.x, "f64"), of(diabetes.y, "f64"));
  const [weak, strong] = model.results.map(({ scores }) => scores.score!.mean);
  assert.notEqual(weak, strong);
  const bag = baggingRegressor({ estimator: ridge() }).with({ estimator: { alpha: 3 } as never });
  assert.deepEqual(bag.options.estimator.options, { alpha: 3 });
});

test("wrong ensembles say what is missing", async () => {
  assert.throws(
    () => votingClassifier({ estimators: [ridge()] }),
    /ridge, which predicts numbers; it must predict labels/,
  );
  assert.throws(() => votingRegressor({ estimators: [] }), /a list of one or more/);
  assert.throws(
    () => votingRegressor({ estimators: [ridge()], weights: [1, 2] }),
    /a number for each of the 1 estimators/,
  );
  assert.throws(() => oneVsRest({} as never), /steps are estimators/);
  const [x, y] = [
    [[1], [2], [3], [4]],
    [0, 1, 0, 1],
  ];
  const hard = await votingClassifier({ estimators: pair }).fit(x, y);
  assert.throws(() => hard.predictProbability(x), /votes are no probabilities/);
  await assert.rejects(
    async () => votingClassifier({ estimators: [linearSvc()], voting: "soft" }).fit(x, y),
    /linearSvc knows no probabilities/,
  );
  await assert.rejects(async () => oneVsRest({ estimator: logistic() }).fit([[1], [2]], [1, 1]), /two classes or more/);
  await assert.rejects(async () => multiOutputRegressor({ estimator: ridge() }).fit(x, y), /it learns several/);
  await assert.rejects(
    async () => regressorChain({ estimator: ridge(), order: [0, 0] }).fit(x, [[1, 2], [2, 3], [3, 4], [4, 5]]), // biome-ignore format: targets
    /each of the columns 0 … 1 once/,
  );
  const part = { kind: "part", split: () => kFold(2).split({ samples: 4 }).slice(1) };
  await assert.rejects(
    async () => stackingRegressor({ estimators: [ridge()], splits: part }).fit(x, y),
    /test each sample once/,
  );
});
