/** SHAP values against Shapley's formula over all subsets of features, and against predictions, which they add up to. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Tensor } from "../../../src/index.js";
import {
  decisionTreeClassifier,
  decisionTreeRegressor,
  histGradientBoostingClassifier,
  histGradientBoostingRegressor,
  randomForestClassifier,
  randomForestRegressor,
  type ShapValues,
  type TreeTensors,
} from "../../../src/learn/index.js";
import { forestData } from "../../support/forest-cases.js";
import { of } from "../../support/learn-cases.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";

interface OfTrees {
  readonly learned: { readonly trees: TreeTensors; readonly baseline?: Tensor };
  shapValues(samples: Tensor): Promise<ShapValues>;
}

/** The prediction of one output when only some features are known: others go both ways, by the samples of the fit. */
function expectation(
  { learned }: OfTrees,
  x: readonly number[],
  isKnown: (feature: number) => boolean,
  output: number,
): number {
  const { trees, baseline } = learned;
  const [count, nodes, width] = trees.value.shape as [number, number, number];
  const [feature, threshold, left, right, missing, cover, value] = [
    ...[trees.feature, trees.threshold, trees.left, trees.right, trees.missingLeft],
    baseline ? trees.count : trees.weight,
    trees.value,
  ].map(numbersOf) as [number[], number[], number[], number[], number[], number[], number[]];
  const sets = trees.categories && numbersOf(trees.categories);
  const outputs = baseline ? baseline.size : width;
  const goesLeft = (node: number): boolean => {
    const own = x[feature[node]!]!;
    if (Number.isNaN(own)) return missing[node] === 1;
    const words = sets?.slice(8 * node, 8 * node + 8);
    if (words?.some((word) => word !== 0)) return ((words[Math.floor(own / 32)]! >>> (own % 32)) & 1) === 1;
    return own <= threshold[node]!;
  };
  let sum = baseline ? numbersOf(baseline)[output]! : 0;
  for (let tree = 0; tree < count; tree++) {
    if (baseline && tree % outputs !== output) continue;
    const visit = (place: number): number => {
      const node = tree * nodes + place;
      if (left[node]! < 0) return baseline ? value[node]! : value[node * width + output]! / count;
      if (isKnown(feature[node]!)) return visit(goesLeft(node) ? left[node]! : right[node]!);
      return [left[node]!, right[node]!].reduce(
        (all, child) => all + (cover[tree * nodes + child]! / cover[node]!) * visit(child),
        0,
      );
    };
    sum += visit(0);
  }
  return sum;
}

/** Shapley's formula over all subsets, [features], and the prediction without any feature. */
function shapley(
  model: OfTrees,
  x: readonly number[],
  output: number,
): { readonly values: number[]; readonly base: number } {
  const features = x.length;
  const worth = Array.from({ length: 2 ** features }, (_, subset) =>
    expectation(model, x, (feature) => ((subset >> feature) & 1) === 1, output),
  );
  const factorial = (n: number): number => (n < 2 ? 1 : n * factorial(n - 1));
  const values = x.map((_, f) => {
    let sum = 0;
    worth.forEach((without, subset) => {
      if ((subset >> f) & 1) return;
      const size = subset.toString(2).replaceAll("0", "").length;
      sum +=
        ((factorial(size) * factorial(features - size - 1)) / factorial(features)) *
        (worth[subset | (1 << f)]! - without);
    });
    return sum;
  });
  return { values, base: worth[0]! };
}

const { x: all, y: progress } = forestData("diabetes");
const rows = all.slice(0, 120).map((row) => row.slice(0, 5));
const y = progress.slice(0, 120);
const three = y.map((value) => (value < 100 ? "a" : value < 180 ? "b" : "c"));
/** A column of categories, and missing values. */
const mixed = rows.map((row, i) => [
  i % 11 === 0 ? Number.NaN : row[0]!,
  row[2]!,
  i % 13 === 0 ? Number.NaN : i % 5,
  row[3]!,
]);
const shifted = y.map((value, i) => value + ((i % 5) % 2) * 150);
const boosting = { maxIter: 4, minSamplesLeaf: 4, maxLeafNodes: 8 };
const weights = y.map((_, i) => 0.5 + (i % 4));

type Fitting = (
  samples: (values: number[][]) => Tensor,
) => Promise<{ readonly model: OfTrees; readonly x: number[][]; readonly predicted: Tensor }>;
const cases: Readonly<Record<string, Fitting>> = {
  "a tree": async (on) => {
    const model = await decisionTreeRegressor({ maxDepth: 6 }).fit(on(rows), y);
    return { model, x: rows, predicted: model.predict(on(rows)) };
  },
  "boosting with missing values and categories": async (on) => {
    const model = await histGradientBoostingRegressor({ ...boosting, categoricalFeatures: [2] }).fit(
      on(mixed),
      shifted,
    );
    assert.ok(numbersOf(model.learned.trees.categories as Tensor).some((word) => word !== 0));
    return { model, x: mixed, predicted: model.predict(on(mixed)) };
  },
  "a tree of weighted samples and two targets": async (on) => {
    const targets = y.map((value, i) => [value, rows[i]![1]! * 10]);
    const model = await decisionTreeRegressor({ maxDepth: 4 }).fit(on(rows), targets, { weights });
    return { model, x: rows, predicted: model.predict(on(rows)) };
  },
  "a forest of classes": async (on) => {
    const model = await randomForestClassifier({ nEstimators: 4, maxDepth: 5 }).fit(on(rows), three);
    return { model, x: rows, predicted: model.predictProbability(on(rows)) };
  },
  "boosting of three classes": async (on) => {
    const model = await histGradientBoostingClassifier(boosting).fit(on(rows), three);
    // Raw predictions but for a number that all classes of a sample share.
    return { model, x: rows, predicted: model.predictLogProbability(on(rows)) };
  },
};

describeOnTensorDevices("SHAP values", (device) => {
  const dtypes = device === "cpu" ? (["f64", "f32"] as const) : (["f32"] as const);
  Object.entries(cases).forEach(([name, fit], i) => {
    // Fits are slow on the software driver: it has two of them.
    if (device !== "cpu" && i > 1) return;
    for (const dtype of dtypes) {
      test(`of ${name}, ${dtype}: Shapley's formula over all subsets; the sum is the prediction`, async () => {
        const { model, x, predicted } = await fit((values) => of(values, dtype));
        const { values, baseValue } = await model.shapValues(of(x, dtype));
        const [got, bases, wanted] = [values, baseValue, predicted].map(numbersOf) as [number[], number[], number[]];
        const features = x[0]!.length;
        const outputs = baseValue.size;
        assert.deepEqual(values.shape, outputs === 1 ? [x.length, features] : [x.length, features, outputs]);
        const size = Math.max(...got.map(Math.abs), ...bases.map(Math.abs));
        const within = (dtype === "f64" ? 1e-11 : 3e-6) * size;
        const at = (sample: number, f: number, k: number): number => got[(sample * features + f) * outputs + k]!;
        for (const sample of [0, 13, 50, 77]) {
          for (let k = 0; k < outputs; k++) {
            const exact = shapley(model, x[sample]!, k);
            assert.ok(Math.abs(bases[k]! - exact.base) <= within, `base ${bases[k]}, not ${exact.base}`);
            exact.values.forEach((value, f) => {
              const found = at(sample, f, k);
              assert.ok(Math.abs(found - value) <= within, `sample ${sample}, feature ${f}: ${found}, not ${value}`);
            });
          }
        }
        const isLog = model.learned.baseline !== undefined && outputs > 1;
        x.forEach((_, sample) => {
          const sums = bases.map(
            (base, k) => base + rows[0]!.slice(0, features).reduce((sum, __, f) => sum + at(sample, f, k), 0),
          );
          const total = isLog ? Math.log(sums.reduce((sum, value) => sum + Math.exp(value), 0)) : 0;
          sums.forEach((sum, k) => {
            const off = Math.abs(sum - total - wanted[sample * outputs + k]!);
            assert.ok(off <= 4 * within, `sample ${sample}: off by ${off}`);
          });
        });
      });
    }
  });
});

test("many leaves and deep trees go in parts: sums are the predictions of a forest, and of the log odds of boosting", async () => {
  const { x, y: targets } = forestData("diabetes");
  const samples = of(x, "f64");
  const sumsOf = async ({ values, baseValue }: ShapValues): Promise<number[]> =>
    numbersOf(values.sum({ axis: 1 }).add(baseValue) as Tensor);
  const near = (got: readonly number[], want: readonly number[]): void => {
    assert.equal(got.length, want.length);
    for (const [i, value] of got.entries())
      assert.ok(Math.abs(value - want[i]!) < 1e-8 * 200, `${i}: ${value}, not ${want[i]}`);
  };
  const forest = await randomForestRegressor({ nEstimators: 8 }).fit(samples, targets);
  near(await sumsOf(await forest.shapValues(samples)), numbersOf(forest.predict(samples)));
  const labels = targets.map((value) => value > 140);
  const boosted = await histGradientBoostingClassifier({ maxIter: 10 }).fit(samples, labels);
  const shares = numbersOf(boosted.predictLogProbability(samples));
  const odds = labels.map((_, i) => shares[2 * i + 1]! - shares[2 * i]!);
  near(await sumsOf(await boosted.shapValues(samples)), odds);
});

test("a tree of one leaf has its value as the base, and zeros; unknown categories are missing values", async () => {
  const leaf = await decisionTreeClassifier().fit([[1], [2]], ["a", "a"], { device: "cpu" });
  const { values, baseValue } = await leaf.shapValues([[5], [6]]);
  assert.deepEqual([numbersOf(values), numbersOf(baseValue)], [[0, 0], [1]]);
  const model = await histGradientBoostingRegressor({ ...boosting, categoricalFeatures: [2] }).fit(
    of(mixed, "f64"),
    shifted,
  );
  const [unknown, missing] = await Promise.all(
    [77, Number.NaN].map((code) => model.shapValues(of([[1, 2, code, 3]], "f64"))),
  );
  assert.deepEqual(numbersOf(unknown!.values), numbersOf(missing!.values));
});
