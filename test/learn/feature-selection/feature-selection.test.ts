/** Selections of columns against scikit-learn's scores, p values, ranks and choices. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";
import type { Tensor } from "../../../src/index.js";
import {
  type AnyEstimator,
  chi2,
  fClassif,
  fRegression,
  genericUnivariateSelect,
  lasso,
  linearRegression,
  logisticRegression,
  mutualInfoClassification,
  mutualInfoRegression,
  nearestNeighbors,
  pipeline,
  recursiveFeatureElimination,
  ridge,
  selectFdr,
  selectFpr,
  selectFromModel,
  selectFwe,
  selectKBest,
  selectPercentile,
  sequentialFeatureSelection,
  table,
  varianceThreshold,
} from "../../../src/learn/index.js";
import { of } from "../../support/learn-cases.js";
import { describeOnTensorDevices, devicesWithDoubles, numbersOf } from "../../support/tensors.js";

type Numbers = readonly number[];

interface InformationCases {
  readonly x: readonly Numbers[];
  readonly ties: readonly Numbers[];
  readonly coarse: readonly Numbers[];
  readonly y: Numbers;
  readonly labels: Numbers;
  readonly regression: Numbers;
  readonly regression5: Numbers;
  readonly classification: Numbers;
  readonly discrete: Numbers;
  readonly tiesRegression: Numbers;
  readonly tiesClassification: Numbers;
}

interface SelectionCases {
  readonly diabetes: { readonly x: readonly Numbers[]; readonly y: Numbers };
  readonly wine: { readonly x: readonly Numbers[]; readonly y: Numbers; readonly counts: readonly Numbers[] };
  readonly scores: Readonly<Record<string, { readonly scores: Numbers; readonly pValues: Numbers }>>;
  readonly kept: Readonly<Record<string, Numbers>>;
  readonly information: InformationCases;
  readonly eliminations: Readonly<Record<string, { readonly columns: Numbers; readonly ranking: Numbers }>>;
}

const cases: SelectionCases = JSON.parse(
  readFileSync(resolve("test/learn/feature-selection/selection-cases.json"), "utf8"),
);
const { diabetes, wine } = cases;
const logistic = logisticRegression({ tol: 1e-8 });

function near(found: ArrayLike<number>, want: Numbers, within: number, what: string): void {
  assert.equal(found.length, want.length);
  want.forEach((each, j) => {
    assert.ok(Math.abs(found[j]! - each) <= within * Math.abs(each) + 1e-300, `${what} ${j}: ${found[j]}, not ${each}`);
  });
}

describeOnTensorDevices("scores of columns", (device) => {
  const dtype = devicesWithDoubles().includes(device) ? "f64" : "f32";

  test("have scikit-learn's values and p values, far in the tails too", async () => {
    const found = {
      fClassif: await fClassif(of(wine.x, dtype), [...wine.y]),
      fRegression: await fRegression(of(diabetes.x, dtype), [...diabetes.y]),
      chi2: await chi2(of(wine.counts, dtype), [...wine.y]),
    };
    for (const [name, { scores, pValues }] of Object.entries(cases.scores)) {
      const { [name as "chi2"]: own } = found;
      near(own.scores, scores, dtype === "f64" ? 1e-9 : 1e-3, name);
      near(own.pValues, pValues, dtype === "f64" ? 1e-8 : 1e-1, `p of ${name}`);
    }
  });
});

const { information } = cases;
const close = (found: ArrayLike<number>, want: Numbers, within: number, what: string): void => {
  assert.equal(found.length, want.length);
  want.forEach((each, j) => {
    assert.ok(Math.abs(found[j]! - each) <= within, `${what} ${j}: ${found[j]}, not ${each}`);
  });
};

describeOnTensorDevices("mutual information", (device) => {
  test("is scikit-learn's, with its noise where no values are equal, and without it where some are", async () => {
    const dtype = devicesWithDoubles().includes(device) ? "f64" : "f32";
    const { x, ties, coarse, y, labels } = information;
    const given = of(x, dtype);
    const discreteFeatures = [false, false, false, true];
    // In f32 some values are equal, and others in another order.
    const within = dtype === "f64" ? 1e-12 : 1e-2;
    const wanted = of(y, dtype);
    const by = (options: object) => mutualInfoRegression(given, wanted, { discreteFeatures, ...options });
    close(await by({}), information.regression, within, "numbers");
    close(await by({ seed: 8 }), information.regression, within, "other noise");
    close(await by({ noise: 0, nNeighbors: 5 }), information.regression5, within, "five neighbours");
    close(
      await mutualInfoClassification(given, [...labels], { discreteFeatures }),
      information.classification,
      within,
      "classes",
    );
    const tied = of(ties, dtype);
    const discrete = await mutualInfoClassification(tied, [...labels], { discreteFeatures: true });
    close(discrete, information.discrete, 1e-12, "discrete");
    close(await mutualInfoRegression(tied, wanted, { noise: 0 }), information.tiesRegression, within, "ties");
    const some = await mutualInfoClassification(of(coarse, dtype), [...labels], { noise: 0, nNeighbors: 4 });
    close(some, information.tiesClassification, within, "ties and classes");
  });
});

test("columns of categories are discrete, noise parts equal values, and selectors know these scores", async () => {
  const { x, ties, y, labels } = information;
  const columns = { a: x.map(([first]) => first!), kind: x.map((row) => `kind ${row[3]}`) };
  const found = await mutualInfoRegression(table(columns), [...y]);
  close(found, [information.regression[0]!, information.regression[3]!], 1e-12, "a table");
  const [first, again, other] = await Promise.all(
    [1, 1, 2].map((seed) => mutualInfoRegression(of(ties, "f64"), [...y], { seed })),
  );
  assert.deepEqual(first, again);
  assert.notDeepEqual(first, other);
  const kept = await selectKBest({ score: "mutualInfoRegression", k: 2 }).fit(of(x, "f64"), [...y]);
  assert.deepEqual(numbersOf(kept.learned.columns), [0, 1]);
  assert.ok(numbersOf(kept.learned.pValues).every(Number.isNaN));
  const ofLabels = await selectPercentile({ score: "mutualInfoClassification", percentile: 50 }).fit(
    of(x, "f64"),
    labels.map((label) => `class ${label}`),
  );
  assert.equal(numbersOf(ofLabels.learned.columns).length, 2);
  const score = (a: Tensor, b: Tensor) => mutualInfoRegression(a, b, { nNeighbors: 5, noise: 0 });
  const byFunction = await selectKBest({ score, k: 1 }).fit(of(x, "f64"), [...y]);
  const scores = await mutualInfoRegression(of(x, "f64"), [...y], { nNeighbors: 5, noise: 0 });
  close(numbersOf(byFunction.learned.scores), [...scores], 1e-12, "a function");
});

test("wrong questions about information are refused by name", async () => {
  const [x, y] = [[[1, 2], [2, 1], [3, 5], [4, 4]], [0, 1, 0, 1]]; // biome-ignore format: a matrix
  await assert.rejects(mutualInfoRegression(x, y, { nNeighbors: 4 }), /nNeighbors is 4, and there are 4 samples/);
  await assert.rejects(mutualInfoRegression(x, y, { discreteFeatures: [true] }), /true or false for each of 2/);
  await assert.rejects(mutualInfoClassification([[1], [Number.NaN]], [0, 1], { nNeighbors: 1 }), /NaN/);
  await assert.rejects(mutualInfoRegression(x, y, { noise: -1 }), /noise is -1/);
  await assert.rejects(
    async () => selectKBest({ k: 1, score: () => [1, 2, 3] }).fit(x, y),
    /the score gives 3 numbers for 2 columns/,
  );
});

test("selections by chance refuse scores without p values, and may keep nothing", async () => {
  const { x, y } = wine;
  const fit = (make: AnyEstimator) => make.fit(of(x, "f64"), [...y]);
  await assert.rejects(
    fit(selectFpr({ score: "mutualInfoClassification" })),
    /selectFpr.fit: the score has no p values/,
  );
  const none = await selectFwe({ alpha: 0 }).fit(of(x, "f64"), [...y]);
  assert.deepEqual(none.transform(of(x, "f64")).shape, [x.length, 0]);
  await assert.rejects(fit(pipeline(selectFwe({ alpha: 0 }), ridge())), /the samples have no features/);
  assert.throws(() => selectFdr({ alpha: 2 }), /selectFdr: alpha is 2; it is a number, from 0 to 1/);
  assert.throws(() => genericUnivariateSelect({ mode: "best" as "fwe" }), /mode is "best"/);
  assert.throws(
    () => genericUnivariateSelect({ mode: "kBest", param: 1.5 }),
    /param is 1.5; .* a whole number of columns/,
  );
});

const SELECTORS: Readonly<
  Record<string, { readonly make: AnyEstimator; readonly of: "diabetes" | "wine" | "counts" }>
> = {
  variance: { make: varianceThreshold({ threshold: 0.6 }), of: "diabetes" },
  best: { make: selectKBest({ k: 4 }), of: "wine" },
  percentile: { make: selectPercentile({ score: "fRegression", percentile: 35 }), of: "diabetes" },
  percentileChi2: { make: selectPercentile({ score: "chi2", percentile: 50 }), of: "counts" },
  fpr: { make: selectFpr({ score: "fRegression", alpha: 0.15 }), of: "diabetes" },
  fdr: { make: selectFdr({ score: "fRegression", alpha: 0.13 }), of: "diabetes" },
  fwe: { make: selectFwe({ score: "fRegression", alpha: 0.02 }), of: "diabetes" },
  fdrChi2: { make: selectFdr({ score: "chi2", alpha: 0.01 }), of: "counts" },
  genericBest: { make: genericUnivariateSelect({ mode: "kBest", param: 5 }), of: "wine" },
  genericFwe: { make: genericUnivariateSelect({ score: "chi2", mode: "fwe", param: 0.001 }), of: "counts" },
  genericPercentile: { make: genericUnivariateSelect({ score: "fRegression", param: 40 }), of: "diabetes" },
  mean: { make: selectFromModel({ estimator: ridge() }), of: "diabetes" },
  median: { make: selectFromModel({ estimator: logistic, threshold: "1.1*median" }), of: "wine" },
  lasso: { make: selectFromModel({ estimator: lasso({ alpha: 4, tol: 1e-9 }) }), of: "diabetes" },
  most: {
    make: selectFromModel({ estimator: ridge(), threshold: Number.NEGATIVE_INFINITY, maxFeatures: 3 }),
    of: "diabetes",
  },
  forward: {
    make: sequentialFeatureSelection({ estimator: linearRegression(), nFeatures: 3, splits: 4 }),
    of: "diabetes",
  },
  backward: {
    make: sequentialFeatureSelection({ estimator: linearRegression(), nFeatures: 7, splits: 4, direction: "backward" }),
    of: "diabetes",
  },
};

const dataOf = (name: "diabetes" | "wine" | "counts") =>
  name === "diabetes" ? { x: diabetes.x, y: diabetes.y } : { x: name === "wine" ? wine.x : wine.counts, y: wine.y };

for (const [name, { make, of: data }] of Object.entries(SELECTORS)) {
  test(`${name}: scikit-learn's columns`, async () => {
    const { x, y } = dataOf(data);
    const model = await make.fit(of(x, "f64"), [...y]);
    assert.deepEqual(numbersOf(model.learned.columns), cases.kept[name]);
    const first = numbersOf(model.transform(of(x.slice(0, 1), "f64")));
    assert.deepEqual(
      first,
      cases.kept[name]!.map((j) => x[0]![j]),
    );
    assert.deepEqual(
      model.featureNames(),
      cases.kept[name]!.map((j) => `x${j}`),
    );
  });
}

for (const [name, make] of Object.entries({
  half: recursiveFeatureElimination({ estimator: ridge() }),
  steps: recursiveFeatureElimination({ estimator: ridge(), nFeatures: 3, step: 3 }),
  classes: recursiveFeatureElimination({ estimator: logistic, nFeatures: 5, step: 0.2 }),
  cross: recursiveFeatureElimination({ estimator: ridge(), splits: 4, minFeatures: 2 }),
})) {
  test(`elimination, ${name}: scikit-learn's columns and ranks`, async () => {
    const { x, y } = dataOf(name === "classes" ? "wine" : "diabetes");
    const model = await make.fit(of(x, "f64"), [...y]);
    const { columns, ranking } = cases.eliminations[name]!;
    assert.deepEqual(numbersOf(model.learned.columns), columns);
    assert.deepEqual(numbersOf(model.learned.ranking), ranking);
  });
}

test("selections keep names, go into pipelines, take texts as labels, and are undone with zeros", async () => {
  const names = diabetes.x[0]!.map((_, j) => `c${j}`);
  const people = table(Object.fromEntries(names.map((name, j) => [name, diabetes.x.map((row) => row[j]!)])));
  const chain = pipeline(selectKBest({ score: "fRegression", k: 2 }), ridge());
  const model = await chain.fit(people, [...diabetes.y]);
  assert.deepEqual(model.steps[1].features.names, model.steps[0].featureNames());
  const selector = model.steps[0];
  assert.equal(selector.support().filter(Boolean).length, 2);
  const back = selector.inverseTransform(selector.transform(people));
  const row = numbersOf(back.at(3) as Tensor);
  assert.deepEqual(
    row,
    names.map((_, j) => (selector.support()[j] ? diabetes.x[3]![j] : 0)),
  );
  const texts = await selectKBest({ k: 4 }).fit(
    of(wine.x, "f64"),
    wine.y.map((label) => `wine ${label}`),
  );
  assert.deepEqual(numbersOf(texts.learned.columns), cases.kept.best);
});

test("wrong selections say what is missing", async () => {
  const [x, y] = [[[1, 2], [2, 1], [3, 5], [4, 4]], [0, 1, 0, 1]]; // biome-ignore format: a matrix
  await assert.rejects(async () => selectKBest({ k: 3 }).fit(x, y), /k is 3, and there are 2 features/);
  await assert.rejects(async () => selectKBest({ k: 1 }).fit(x, undefined), /compares columns with targets; give them/);
  await assert.rejects(async () => selectKBest({ k: 1 }).fit(x, [1, 1, 1, 1]), /two classes or more apart/);
  await assert.rejects(async () => selectKBest({ k: 1, score: "chi2" }).fit([[-1], [1]], [0, 1]), /a sample is -1/);
  await assert.rejects(async () => varianceThreshold().fit([[1], [1]]), /no column has a variance above 0/);
  await assert.rejects(
    async () => selectFromModel({ estimator: nearestNeighbors() }).fit(x, y),
    /neither featureImportances nor coefficients/,
  );
  assert.throws(() => selectFromModel({ estimator: ridge(), threshold: "twice" }), /a multiple as "1.25\*mean"/);
  assert.throws(
    () => recursiveFeatureElimination({ estimator: ridge(), splits: 3, nFeatures: 2 }),
    /leave nFeatures out/,
  );
  assert.throws(() => recursiveFeatureElimination({ estimator: ridge(), step: 1.5 }), /step is 1.5/);
  await assert.rejects(
    async () => sequentialFeatureSelection({ estimator: ridge(), nFeatures: 2 }).fit(x, y),
    /nFeatures is 2, and there are 2/,
  );
});
