/** Searches against scikit-learn's tables, and what runs, files and nested estimators make of them. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { jit, type Tensor } from "../../../src/index.js";
import {
  type AnyEstimator,
  columnTransformer,
  crossValidate,
  functionTransformer,
  gaussianNaiveBayes,
  gridSearch,
  halvingSearch,
  kFold,
  lasso,
  load,
  logisticRegression,
  minMaxScaler,
  pipeline,
  randomSearch,
  ridge,
  type SearchRow,
  save,
  standardScaler,
  table,
  trainTestSplit,
} from "../../../src/learn/index.js";
import { halvingRounds } from "../../../src/learn/selection/halving-search.js";
import { closeTo, of } from "../../support/learn-cases.js";
import { temporaryFolders } from "../../support/temporary-folder.js";
import { describeOnTensorDevices, devicesWithDoubles, numbersOf } from "../../support/tensors.js";

type Numbers = readonly number[];

interface SearchCase {
  readonly scores: Readonly<Record<string, { readonly mean: Numbers; readonly std: Numbers; readonly rank: Numbers }>>;
  readonly best: number;
  readonly predicted: Numbers;
}

interface Data {
  readonly x: readonly Numbers[];
  readonly y: Numbers;
}

interface SearchCases {
  readonly diabetes: Data;
  readonly wine: Data;
  readonly ridge: SearchCase;
  readonly lasso: SearchCase;
  readonly logistic: SearchCase;
  readonly halvings: readonly {
    readonly candidates: number;
    readonly samples: number;
    readonly folds: number;
    readonly factor: number;
    readonly rounds: readonly { readonly candidates: number; readonly resources: number }[];
  }[];
}

const cases: SearchCases = JSON.parse(readFileSync(resolve("test/learn/selection/search-cases.json"), "utf8"));
const folder = temporaryFolders();

function sameTable(rows: readonly SearchRow[], want: SearchCase, within: number): void {
  for (const [name, { mean, std, rank }] of Object.entries(want.scores)) {
    const size = Math.max(1, ...mean.map(Math.abs));
    rows.forEach(({ scores }, i) => {
      const found = scores[name]!;
      assert.ok(Math.abs(found.mean - mean[i]!) <= within * size, `${name} ${i}: ${found.mean}, not ${mean[i]}`);
      assert.ok(Math.abs(found.std - std[i]!) <= within * size, `${name} ${i}: ±${found.std}, not ${std[i]}`);
      assert.equal(found.rank, rank[i], `the rank of ${i} by ${name}`);
    });
  }
}

describeOnTensorDevices("searches", (device) => {
  const dtype = devicesWithDoubles().includes(device) ? "f64" : "f32";
  const within = dtype === "f64" ? 1e-6 : 1e-4;

  test("a grid has scikit-learn's means, deviations and ranks, and its best model's predictions", async () => {
    const { diabetes, ridge: want } = cases;
    const [x, y] = [of(diabetes.x, dtype), of(diabetes.y, dtype)];
    const search = gridSearch(
      pipeline(standardScaler(), ridge()),
      { "1.alpha": [0.01, 1, 10, 100], "1.fitIntercept": [true, false] },
      { splits: 4, scoring: ["r2", "negMeanSquaredError"] },
    );
    const model = await search.fit(x, y);
    sameTable(model.results, want, within);
    assert.equal(model.best, model.results[want.best]);
    await closeTo(model.predict(x), want.predicted, within, "predictions");
    assert.deepEqual(model.bestModel.steps[1].options, { alpha: model.best.options["1.alpha"], fitIntercept: true });
  });

  test("fits of one program have scikit-learn's scores: a lasso, a logistic regression", async () => {
    const { diabetes, wine } = cases;
    const lassos = await gridSearch(
      pipeline(standardScaler(), lasso({ tol: 1e-9, maxIter: 5000 })),
      { "1.alpha": [0.1, 1, 5, 20] },
      { splits: 4 },
    ).fit(of(diabetes.x, dtype), of(diabetes.y, dtype));
    sameTable(lassos.results, cases.lasso, within);
    const texts = wine.y.map((label) => ["red", "rose", "white"][label]!);
    const logistics = await gridSearch(
      pipeline(standardScaler(), logisticRegression({ tol: 1e-7 })),
      { "1.c": [0.01, 0.1, 1, 10] },
      { splits: 3, scoring: ["accuracy", "negLogLoss"], refit: "negLogLoss" },
    ).fit(of(wine.x, dtype), texts);
    sameTable(logistics.results, cases.logistic, within);
    assert.deepEqual(
      (await logistics.predictLabels(of(wine.x, dtype))).map((text) =>
        ["red", "rose", "white"].indexOf(text as string),
      ),
      cases.logistic.predicted,
    );
  });
});

/** The same estimator, which counts its fits. */
function counted(estimator: AnyEstimator, counts: { fit: number; fitTensors: number }): AnyEstimator {
  return {
    ...estimator,
    fit: (...given) => {
      counts.fit++;
      return estimator.fit(...given);
    },
    fitTensors: (...given) => {
      counts.fitTensors++;
      return estimator.fitTensors(...given);
    },
    with: (others) => counted(estimator.with(others), counts),
  };
}

const labelled = (x: readonly Numbers[]) => x.map((row) => (row[0]! > 13 ? "strong" : "light"));

for (const { name, make, path, values, data, y } of [
  {
    name: "ridge",
    make: ridge,
    path: "alpha",
    values: [0.1, 1, 10, 1000],
    data: cases.diabetes.x,
    y: cases.diabetes.y,
  },
  { name: "lasso", make: lasso, path: "alpha", values: [0.1, 1, 3, 9], data: cases.diabetes.x, y: cases.diabetes.y },
  {
    name: "logisticRegression",
    make: logisticRegression,
    path: "c",
    values: [0.01, 1, 3, 100],
    data: cases.wine.x,
    y: labelled(cases.wine.x),
  },
]) {
  test(`${name}: candidates that differ in a setting are traced once, and score as one by one`, async () => {
    const counts = { fit: 0, fitTensors: 0 };
    const x = of(data, "f64");
    const model = await gridSearch(counted(make() as AnyEstimator, counts), { [path]: values }, { splits: 3 }).fit(
      x,
      y,
    );
    // The first candidate of each split and the best one are fitted alone; three splits have two sizes at most.
    assert.equal(counts.fit, 3 + 1);
    assert.ok(counts.fitTensors >= 1 && counts.fitTensors <= 2, `${counts.fitTensors} traces`);
    for (const [i, value] of values.entries()) {
      const { scores } = await crossValidate((make() as AnyEstimator).with({ [path]: value }), x, y, { splits: 3 });
      scores.score!.forEach((score, k) => {
        const found = model.results[i]!.scores.score!.splits[k]!;
        assert.ok(Math.abs(found - score) < 1e-6, `${value}, split ${k}: ${found}, not ${score}`);
      });
    }
  });
}

test("candidates that cannot be one program are fitted one by one, with the same scores", async () => {
  const { x, y } = cases.diabetes;
  const counts = { fit: 0, fitTensors: 0 };
  const grid = { alpha: [0, 1], fitIntercept: [true, false] };
  const model = await gridSearch(counted(ridge(), counts), grid, { splits: 2 }).fit(x, [...y]);
  // Without a penalty a fit goes its own way; the other two differ in a flag.
  assert.deepEqual(counts, { fit: 9, fitTensors: 0 });
  for (const { options, scores } of model.results) {
    const alone = await crossValidate(ridge(options), x, [...y], { splits: 2 });
    assert.deepEqual(scores.score!.splits, alone.scores.score);
  }
});

test("weights go to the fits of their samples, in one program and alone", async () => {
  const { x, y } = cases.diabetes;
  const weights = y.map((_, i) => (i % 3 === 0 ? 5 : 1));
  const run = async (given: object) =>
    (await gridSearch(ridge(), { alpha: [1, 500] }, { splits: 3 }).fit(of(x, "f64"), of(y, "f64"), given)).results;
  const weighted = await run({ weights });
  const splits = kFold(3).split({ samples: y.length });
  for (const [k, { train, test: tested }] of splits.entries()) {
    const model = await ridge({ alpha: 500 }).fit(
      of(
        [...train].map((i) => x[i]),
        "f64",
      ),
      [...train].map((i) => y[i]!),
      { weights: [...train].map((i) => weights[i]!) },
    );
    const score = await model
      .score(
        of(
          [...tested].map((i) => x[i]),
          "f64",
        ),
        [...tested].map((i) => y[i]!),
      )
      .item();
    assert.ok(Math.abs(Number(score) - weighted[1]!.scores.score!.splits[k]!) < 1e-9);
  }
  assert.notDeepEqual((await run({}))[1]!.scores, weighted[1]!.scores);
});

test("draws: lists without repeats, ranges within bounds, the same ones for a seed", async () => {
  const { x, y } = cases.diabetes;
  const draw = async (space: Parameters<typeof randomSearch>[1], options: object) =>
    (await randomSearch(ridge(), space, { splits: 2, ...options }).fit(x, [...y])).results.map(({ options: o }) => o);
  const listed = await draw({ alpha: [1, 2, 3, 4], fitIntercept: [true, false] }, { nIter: 5, seed: 3 });
  assert.equal(new Set(listed.map((each) => JSON.stringify(each))).size, 5);
  const logs = await draw({ alpha: { low: 1e-3, high: 1e3, log: true } }, { nIter: 40, seed: 1 });
  const exponents = logs.map(({ alpha }) => Math.log10(alpha as number));
  assert.ok(exponents.every((each) => each >= -3 && each <= 3));
  // Each order of magnitude is as likely: a mean of 40 has the deviation 0.27.
  assert.ok(Math.abs(exponents.reduce((a, b) => a + b) / 40) < 1.1);
  assert.deepEqual(logs, await draw({ alpha: { low: 1e-3, high: 1e3, log: true } }, { nIter: 40, seed: 1 }));
  assert.notDeepEqual(logs, await draw({ alpha: { low: 1e-3, high: 1e3, log: true } }, { nIter: 40, seed: 2 }));
  const whole = await randomSearch(
    lasso(),
    { maxIter: { low: 1, high: 4, whole: true } },
    { nIter: 60, splits: 2 },
  ).fit(x.slice(0, 8), y.slice(0, 8));
  assert.deepEqual([...new Set(whole.results.map(({ options }) => options.maxIter))].sort(), [1, 2, 3, 4]);
});

test("halving has scikit-learn's rounds, and keeps the better candidates", async () => {
  for (const { candidates, samples, folds, factor, rounds } of cases.halvings) {
    const found = halvingRounds(candidates, factor, { least: 2 * folds, isExact: false, most: samples });
    assert.deepEqual(found, rounds);
  }
  const { x, y } = cases.diabetes;
  const alphas = [1e6, 1e5, 1, 1e7, 1e4, 1e8];
  const model = await halvingSearch(ridge(), { alpha: alphas }, { splits: 2, factor: 2, seed: 1 }).fit(x, [...y]);
  const alphasOf = (round: number, most: number) =>
    model.results
      .filter((row) => row.round === round && row.scores.score!.rank <= most)
      .map(({ options }) => options.alpha as number)
      .sort((a, b) => a - b);
  assert.deepEqual(alphasOf(1, 3), alphasOf(0, 3));
  assert.deepEqual(alphasOf(2, 2), alphasOf(1, 2));
  assert.deepEqual([model.best.options.alpha], alphasOf(2, 1));
  assert.deepEqual(
    model.results.map(({ round, resources }) => [round, resources]),
    [...Array(6).fill([0, 15]), ...Array(3).fill([1, 30]), ...Array(2).fill([2, 60])],
  );
  const byOption = await halvingSearch(
    lasso(),
    { alpha: [0.1, 1, 10] },
    { splits: 2, resource: "maxIter", maxResources: 30 },
  ).fit(x, [...y]);
  assert.deepEqual([byOption.results[0]!.resources, byOption.best.options.maxIter], [10, 30]);
  assert.throws(() => halvingSearch(lasso(), { alpha: [1] }, { resource: "maxIter" }), /say its largest value/);
});

test("a search is watched and ended: fits, candidates, the time that is left", async () => {
  const { x, y } = cases.diabetes;
  const seen: [number, number | null, number, number][] = [];
  const run = gridSearch(ridge(), { fitIntercept: [true, false] }, { splits: 2 }).fit(x, [...y]);
  for await (const { step, steps, candidatesDone, candidates, secondsLeft } of run) {
    assert.ok(secondsLeft >= 0 && Number.isFinite(secondsLeft));
    seen.push([step, steps, candidatesDone, candidates]);
  }
  assert.deepEqual(seen, [[1, 4, 0, 2], [2, 4, 1, 2], [3, 4, 1, 2], [4, 4, 2, 2]]); // biome-ignore format: a table
  assert.equal((await run).results.length, 2);
  const controller = new AbortController();
  const ended = gridSearch(ridge(), { fitIntercept: [true, false] }).fit(x, [...y], { signal: controller.signal });
  await assert.rejects(async () => {
    for await (const _ of ended) controller.abort(new Error("enough"));
  }, /enough/);
});

test("a search is an estimator: in cross-validations and pipelines, through jit and files", async () => {
  const { x, y } = cases.diabetes;
  const search = gridSearch(ridge(), { alpha: [0.1, 1000] }, { splits: 3 });
  const nested = await crossValidate(pipeline(standardScaler(), search), x, [...y], { splits: 2 });
  assert.equal(nested.scores.score!.length, 2);
  const model = await search.fit(x, [...y]);
  const samples = of(x, "f32");
  const inside = jit((m: typeof model, a: Tensor) => m.predict(a))(model, samples);
  await closeTo(inside, numbersOf(model.predict(samples)), 1e-6, "predictions");
  const path = join(folder(), "search.safetensors");
  await save(path, model);
  const loaded = await load(path, { like: search });
  assert.deepEqual(numbersOf(loaded.predict(samples)), numbersOf(model.predict(samples)));
  assert.deepEqual([loaded.best, loaded.results, String(loaded)], [model.best, model.results, String(model)]);
  await save(path, search);
  const twin = await ((await load(path)) as typeof search).fit(x, [...y]);
  assert.deepEqual(numbersOf(twin.predict(samples)), numbersOf(model.predict(samples)));
});

test("steps are exchanged and changed by path, also those of columns", async () => {
  const { x, y } = cases.diabetes;
  const model = await gridSearch(
    pipeline(standardScaler(), ridge()),
    [
      { "0": [minMaxScaler(), standardScaler()], "1.alpha": [1, 10] },
      { "1": [lasso()], "1.alpha": [0.5] },
    ],
    { splits: 3 },
  ).fit(x, [...y]);
  assert.equal(model.results.length, 5);
  const alone = await crossValidate(pipeline(standardScaler(), lasso({ alpha: 0.5 })), x, [...y], { splits: 3 });
  assert.deepEqual(model.results[4]!.scores.score!.splits, alone.scores.score);
  const houses = table({ a: x.map((row) => row[0]!), b: x.map((row) => row[1]!) });
  const columns = columnTransformer({ a: standardScaler(), b: functionTransformer() });
  const searched = await gridSearch(pipeline(columns, ridge()), { "0.a.withMean": [true, false] }, { splits: 2 }).fit(
    houses,
    [...y],
  );
  assert.equal(searched.results.length, 2);
  const changed = columnTransformer([{ columns: "a", use: standardScaler() }]).with({ 0: minMaxScaler() });
  assert.deepEqual(numbersOf((await changed.fit(table({ a: [1, 3] }))).transform(table({ a: [2] }))), [0.5]);
});

test("wrong searches say what is missing", async () => {
  assert.throws(() => gridSearch(ridge(), { alpha: 1 } as never), /the values of alpha are 1; they are a list/);
  assert.throws(() => gridSearch(ridge(), {}), /a grid is an object of lists/);
  assert.throws(() => gridSearch(ridge(), { beta: [1] }), /no option "beta"/);
  assert.throws(() => gridSearch(pipeline(ridge()), { "7.alpha": [1] }), /no step "7"/);
  assert.throws(() => columnTransformer({ a: ridge() }).with({ c: {} }), /no part "c"/);
  assert.throws(() => gridSearch({} as never, { alpha: [1] }), /steps are estimators/);
  assert.throws(
    () => gridSearch(ridge(), { alpha: [1] }).fitTensors(of([[1]], "f32"), of([1], "f32")),
    /await its fit/,
  );
  assert.throws(() => randomSearch(ridge(), { alpha: { low: 2, high: 1 } }), /the lower one first/);
  assert.throws(() => randomSearch(ridge(), { alpha: { low: 0, high: 1, log: true } }), /above zero/);
  await assert.rejects(
    async () => gridSearch(ridge(), { alpha: [1] }, { refit: "f1" }).fit([[1], [2]], [1, 2]),
    /the scores are score/,
  );
  await assert.rejects(async () => gridSearch(ridge(), { alpha: [1] }).fit([], []), /there are no samples/);
  const wrong = of([[1], [Number.NaN], [3], [4]], "f32");
  await assert.rejects(
    async () => gridSearch(ridge(), { alpha: [1, 2] }, { splits: 2 }).fit(wrong, [1, 2, 3, 4]),
    /column 0 is NaN/,
  );
});

test("one split in two: sizes, classes in their shares, every kind of samples", async () => {
  const x = Array.from({ length: 40 }, (_, i) => [i, -i]);
  const labels = x.map((_, i) => (i % 4 === 0 ? "rare" : "often"));
  const { xTrain, xTest, yTrain, yTest, split } = await trainTestSplit(x, labels, {
    testSize: 0.2,
    stratify: true,
    seed: 2,
  });
  assert.deepEqual([xTrain.length, xTest.length], [32, 8]);
  assert.equal(yTest.filter((each) => each === "rare").length, 2);
  assert.deepEqual(
    [...split.train, ...split.test].sort((a, b) => a - b),
    x.map(([i]) => i),
  );
  assert.deepEqual(
    xTest.map((row) => labels[row[0]!]),
    yTest,
  );
  assert.equal(yTrain.length, 32);
  const tensors = await trainTestSplit(
    of(x, "f32"),
    of(
      x.map(([i]) => i),
      "f32",
    ),
    { testSize: 10 },
  );
  assert.deepEqual(tensors.xTest.shape, [10, 2]);
  assert.deepEqual(numbersOf(tensors.xTest.at(":", 0) as Tensor), numbersOf(tensors.yTest));
  await assert.rejects(trainTestSplit([[1], [2], [3]], ["a", "b", "b"], { stratify: true }), /too few for both parts/);
  await assert.rejects(trainTestSplit([[1]], ["a"]), /both parts need one/);
});

test("a fit of tensors takes positions where classes are texts", async () => {
  const x = of([[0], [1], [9], [10]], "f64");
  const model = gaussianNaiveBayes().fitTensors(x, of([1, 1, 0, 0], "f64"), { classes: ["far", "near"] });
  assert.deepEqual(await model.predictLabels([[0.5], [9.5]]), ["near", "far"]);
});
