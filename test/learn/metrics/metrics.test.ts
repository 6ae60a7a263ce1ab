/** Metrics against scikit-learn's values, which make-metrics-cases.py writes; texts, transforms, devices and misuse. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { grad, jit, type Tensor, tensor, vmap } from "../../../src/index.js";
import { gaussianNaiveBayes, kMeans, metrics } from "../../../src/learn/index.js";
import { describeOnTensorDevices, f64, numbersOf } from "../../support/tensors.js";
import { computed, type MetricCase, near, readCases, titleOf } from "./cases.js";

interface Cases {
  readonly sets: readonly unknown[];
  readonly cases: readonly MetricCase[];
  readonly report: string;
  readonly partialReport: string;
  readonly found: readonly number[];
  readonly right: readonly number[];
}

const { sets, cases, report, partialReport, found, right } = readCases<Cases>("metrics-cases");
const names = [...new Set(cases.map(({ name }) => name))];

for (const name of names) {
  test(`${name} has scikit-learn's values in f64`, () => {
    for (const each of cases.filter((one) => one.name === name)) {
      near(computed(each, sets, { dtype: "f64", device: "cpu" }), each.want, 1e-11, titleOf(each));
    }
  });
}

describeOnTensorDevices("metrics in f32", (device) => {
  const some = [
    "f1",
    "rocAuc",
    "averagePrecision",
    "rocCurve",
    "r2",
    "medianAbsoluteError",
    "ndcg",
    "silhouetteSamples",
  ];
  test("the first case of several metrics has scikit-learn's values", () => {
    for (const name of some) {
      const first = cases.find((one) => one.name === name) as MetricCase;
      near(computed(first, sets, { device }), first.want, 2e-6, titleOf(first));
    }
  });
});

test("labels may be texts, booleans, tensors and columns of numbers", () => {
  const [said, is] = [[true, false, true, true], [true, false, false, true]]; // biome-ignore format: a pair
  const numbers = metrics.f1(tensor(said.map(Number)).cast("i32") as Tensor, is.map(Number), { dtype: "f64" });
  near(numbers, 0.8, 1e-15, "numbers");
  near(metrics.f1(said, is, { dtype: "f64" }), 0.8, 1e-15, "booleans");
  const words = (flags: readonly boolean[]) => flags.map((flag) => (flag ? "yes" : "no"));
  near(metrics.f1(words(said), words(is), { dtype: "f64" }), 0.8, 1e-15, "texts: the second in order is positive");
  near(metrics.rocAuc([0.9, 0.2, 0.4, 0.6], words(is), { dtype: "f64" }), 1, 0, "rocAuc of texts");
});

test("metrics are functions of tensors: jit, vmap and grad go through them", () => {
  const [p, t] = [tensor([0, 1, 1, 0, 2], { dtype: "i32" }), tensor([0, 1, 0, 0, 2], { dtype: "i32" })];
  const score = (a: Tensor, b: Tensor) => metrics.f1(a, b, { labels: [0, 1, 2], average: "macro", dtype: "f64" });
  const want = numbersOf(score(p, t));
  assert.deepEqual(numbersOf(jit(score)(p, t)), want);
  assert.throws(() => jit((a: Tensor) => metrics.f1(a, t, { average: "macro" }))(p), /labels: \[0, 1\]/);
  const scores = f64([
    [0.1, 0.8, 0.3, 0.6],
    [0.9, 0.2, 0.2, 0.1],
  ]);
  const areas = vmap((s: Tensor) => metrics.rocAuc(s, tensor([0, 1, 0, 1], { dtype: "i32", device: "cpu" })))(scores);
  assert.deepEqual(numbersOf(areas), [1, 0.125]);
  const y = f64([1, 2, 4]);
  const slope = grad((x: Tensor) => metrics.meanSquaredError(x, y))(f64([2, 2, 1]));
  near(slope, [2 / 3, 0, -2], 1e-15, "the slope of the mean squared error");
});

test("the report prints as scikit-learn's", () => {
  assert.equal(String(metrics.classificationReport(found, right, { digits: 3 })), report);
  const partial = metrics.classificationReport(found, right, { labels: [0, 2], names: ["zero", "two"], digits: 4 });
  assert.equal(String(partial), partialReport);
  assert.equal(partial.accuracy, null);
  assert.deepEqual(Object.keys(partial.classes), ["zero", "two"]);
});

test("silhouettes of many samples go in bands", () => {
  // 4200² distances are more than a band; two lines of points one apart, ten from each other.
  const half = 2100;
  const x = Array.from({ length: 2 * half }, (_, i) => [i % half, i < half ? 0 : 1e6]);
  const groups = x.map((_, i) => Number(i >= half));
  const widths = numbersOf(metrics.silhouetteSamples(x, groups, { dtype: "f64", metric: "manhattan" }));
  for (const i of [0, 777, half - 1]) {
    const sum = (i * (i + 1)) / 2 + ((half - 1 - i) * (half - i)) / 2;
    const [inside, outside] = [sum / (half - 1), sum / half + 1e6];
    assert.ok(Math.abs(widths[i]! - (outside - inside) / outside) < 1e-12);
  }
});

test("scores by name look at the groups of a model, and at its likelihood ratios", async () => {
  const x = [[0, 0], [0, 1], [9, 9], [9, 8], [0, 2], [8, 9]]; // biome-ignore format: a matrix
  const targets = ["a", "a", "b", "b", "a", "a"];
  const groups = await kMeans({ nClusters: 2, seed: 1 }).fit(x);
  const found = numbersOf(groups.predict(x));
  for (const name of [
    "adjustedMutualInfo",
    "adjustedRand",
    "completeness",
    "fowlkesMallows",
    "homogeneity",
    "mutualInfo",
    "normalizedMutualInfo",
    "randScore",
    "vMeasure",
  ] as const) {
    const value = (await metrics.scorer(name)(groups, x, targets)) as Tensor;
    assert.deepEqual(numbersOf(value), numbersOf(metrics[name](found, targets)), name);
  }
  const model = await gaussianNaiveBayes().fit(x, ["a", "b", "b", "b", "a", "a"]);
  const labels = await model.predictLabels(x);
  const { positive, negative } = metrics.classLikelihoodRatios(labels, targets);
  const ratio = (name: string) => metrics.scorer(name)(model, x, targets) as Promise<Tensor>;
  assert.deepEqual(numbersOf(await ratio("positiveLikelihoodRatio")), numbersOf(positive));
  assert.deepEqual(numbersOf(await ratio("negNegativeLikelihoodRatio")), numbersOf(negative.neg() as Tensor));
});

test("missing features are left out of distances", () => {
  const x = [
    [1, Number.NaN, 3],
    [Number.NaN, 2, Number.NaN],
    [4, 2, 7],
  ];
  const d = numbersOf(metrics.pairwiseDistances(x, null, { metric: "nanEuclidean", dtype: "f64" }));
  near(f64([d[2]!, d[5]!]), [Math.sqrt(37.5), 0], 1e-12, "scaled up by the share that is there");
  assert.ok(Number.isNaN(d[1]!));
});

test("dice and sokalsneath of two rows without flags are NaN, as in SciPy", () => {
  for (const metric of ["dice", "sokalsneath"] as const) {
    const found = numbersOf(metrics.pairwiseDistances([[0, 0, 0], [0, 1, 0]], [[0, 0, 0]], { metric, dtype: "f64" })); // biome-ignore format: matrices
    assert.deepEqual(found, [Number.NaN, 1], metric);
  }
});

test("misuse is refused by name", () => {
  assert.throws(() => metrics.f1([0, 1, 2], [0, 1, 1]), /3 classes.*name an average/);
  assert.throws(() => metrics.f1([0, 1], [0, 1], { posLabel: 5 }), /posLabel is 5/);
  assert.throws(() => metrics.accuracy([0, 1], [0, 1, 1]), /2 predictions and 3 targets/);
  assert.throws(() => metrics.rocAuc([[0.2, 0.3, 0.5], [1, 0, 0], [0, 1, 0]], [0, 1, 2]), /multiClass/); // biome-ignore format: a matrix
  assert.throws(() => metrics.rocCurve([0.5, Number.NaN], [0, 1]), /NaN/);
  assert.throws(() => metrics.meanSquaredError([1, 2], [1, 2, 3]), /different shapes/);
  assert.throws(() => metrics.r2([1, 2], [1, 2], { weights: [1] }), /weights have the shape/);
  assert.throws(() => metrics.auc([0, 1, 0.5], [0, 1, 1]), /sort the points/);
  assert.throws(() => metrics.silhouetteScore([[1], [2]], [0, 0]), /two groups or more/);
  assert.throws(
    () => metrics.pairwiseDistances([[1]], null, { metric: "wrong" as "l1" }),
    /the option metric is "wrong"/,
  );
  assert.throws(() => metrics.scorer("rocauc"), /no score "rocauc"/);
});
