/** Options of trees, pruning paths, ways and texts against scikit-learn's, which make-tree-options-cases.py writes. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";
import {
  decisionTreeClassifier,
  decisionTreeRegressor,
  extraTreesRegressor,
  histGradientBoostingRegressor,
  randomForestClassifier,
  randomForestRegressor,
} from "../../../src/learn/index.js";
import { forestData, type SingleTree } from "../../support/forest-cases.js";
import { closeTo, of } from "../../support/learn-cases.js";
import { assertSameTree } from "../../support/same-tree.js";
import { describeOnTensorDevices, devicesWithDoubles, numbersOf } from "../../support/tensors.js";

interface OptionCases {
  readonly trees: readonly SingleTree[];
  readonly paths: Readonly<Record<"classes" | "numbers", { readonly alphas: number[]; readonly impurities: number[] }>>;
  readonly ways: number[][];
  readonly texts: Readonly<Record<"classes" | "weights" | "numbers", string>>;
}

const cases: OptionCases = JSON.parse(readFileSync(resolve("test/learn/trees/tree-options-cases.json"), "utf8"));
const smallTree = { maxDepth: 3, minSamplesLeaf: 10 };

describeOnTensorDevices("options of trees", (device) => {
  const onCpu = device === "cpu";
  const dtypes = devicesWithDoubles().includes(device) && onCpu ? (["f64", "f32"] as const) : (["f32"] as const);
  // The software driver takes long to compile: it gets one case of each kernel.
  const wanted = cases.trees.filter(
    ({ weights, options }) =>
      onCpu ||
      (weights && "minWeightFractionLeaf" in options) ||
      ("maxLeafNodes" in options && options.criterion === "absoluteError"),
  );
  for (const tree of wanted) {
    for (const dtype of dtypes) {
      test(`${tree.kind}, ${tree.data}, ${JSON.stringify(tree.options)}, ${dtype}: scikit-learn's tree`, () =>
        assertSameTree(tree, dtype));
    }
  }

  test("pruning paths and the nodes that samples pass are scikit-learn's", async () => {
    const { x, y } = forestData("cancer");
    const dtype = devicesWithDoubles().includes(device) ? "f64" : "f32";
    const within = dtype === "f64" ? 1e-9 : 1e-5;
    const samples = of(x, dtype);
    const model = await decisionTreeClassifier(smallTree).fit(samples, y);
    const { ccpAlphas, impurities } = await model.costComplexityPruningPath();
    await closeTo(ccpAlphas, cases.paths.classes.alphas, within, "the path");
    await closeTo(impurities, cases.paths.classes.impurities, within, "the path");
    const passed = model.decisionPath(samples.at(":12"));
    assert.deepEqual([passed.dtype, passed.shape], ["bool", [12, 1, cases.ways[0]!.length]]);
    assert.deepEqual(numbersOf(passed.cast("i32")), cases.ways.flat());
  });
});

const cpu = { device: "cpu" };

test("the path of a tree with many leaves is scikit-learn's; pruned by an alpha of it, the tree has its impurity", async () => {
  const { x, y } = forestData("diabetes");
  const samples = of(x, "f64");
  const model = await decisionTreeRegressor({ minSamplesLeaf: 6 }).fit(samples, y);
  const path = await model.costComplexityPruningPath();
  const { alphas, impurities } = cases.paths.numbers;
  await closeTo(path.ccpAlphas, alphas, 1e-6, "the path");
  await closeTo(path.impurities, impurities, 1e-6, "the path");
  const step = alphas.length - 4;
  const pruned = await decisionTreeRegressor({ minSamplesLeaf: 6, ccpAlpha: alphas[step]! * 1.0001 }).fit(samples, y);
  const rest = await pruned.costComplexityPruningPath();
  await closeTo(rest.impurities.at(0), impurities[step]!, 1e-6, "the path");
  assert.equal(rest.ccpAlphas.size, 4);
});

test("trees as text are scikit-learn's", async () => {
  const { x, y } = forestData("cancer");
  const model = await decisionTreeClassifier(smallTree).fit(of(x, "f64"), y);
  assert.equal(await model.exportText(), cases.texts.classes);
  const featureNames = x[0]!.map((_, f) => `c${f}`);
  const options = { maxDepth: 1, showWeights: true, spacing: 5, decimals: 4 };
  assert.equal(await model.exportText({ ...options, featureNames }), cases.texts.weights);
  const numbers = forestData("diabetes");
  const tree = decisionTreeRegressor({ maxDepth: 4, minSamplesSplit: 20, minSamplesLeaf: 3 });
  const fitted = await tree.fit(of(numbers.x, "f64"), numbers.y);
  assert.equal(await fitted.exportText({ decimals: 3 }), cases.texts.numbers);
  await assert.rejects(fitted.exportText({ featureNames: ["a"] }), /1 featureNames and 10 features/);
  await assert.rejects(fitted.exportText({ decimals: -1 }), /decimals is a whole number from 0 on/);
});

test("a sample passes its leaf, whose parents it passes too, in every tree of boosting", async () => {
  const { x, y } = forestData("diabetes");
  const model = await histGradientBoostingRegressor({ maxIter: 3, maxDepth: 4 }).fit(x, y, cpu);
  const { left, right } = model.learned.trees;
  const passed = model.decisionPath(x.slice(0, 20)) as unknown as { shape: number[] };
  const [rows, trees, nodes] = passed.shape as [number, number, number];
  const is = numbersOf(model.decisionPath(x.slice(0, 20)).cast("i32"));
  const leaves = numbersOf(model.apply(x.slice(0, 20)));
  const [lefts, rights] = [numbersOf(left), numbersOf(right)];
  for (let row = 0; row < rows; row++) {
    for (let tree = 0; tree < trees; tree++) {
      const of = (node: number): number => is[(row * trees + tree) * nodes + node]!;
      const expected = new Set([leaves[row * trees + tree]!]);
      for (let node = nodes - 1; node >= 0; node--) {
        const [a, b] = [lefts[tree * nodes + node]!, rights[tree * nodes + node]!];
        if (a >= 0 && (expected.has(a) || expected.has(b))) expected.add(node);
      }
      for (let node = 0; node < nodes; node++) assert.equal(of(node), Number(expected.has(node)));
    }
  }
});

test("balancedSubsample weighs classes by the rows that a tree has drawn: its root has equal shares", async () => {
  const { x, y } = forestData("cancer");
  const forest = { nEstimators: 5, maxDepth: 2 };
  const model = await randomForestClassifier({ ...forest, classWeight: "balancedSubsample" }).fit(x, y, cpu);
  const roots = numbersOf(model.learned.trees.value.at(":", 0));
  assert.ok(roots.every((share) => Math.abs(share - 0.5) < 1e-6), `${roots}`); // biome-ignore format: a row
  const whole = await randomForestClassifier({ ...forest, classWeight: "balanced" }).fit(x, y, cpu);
  assert.ok(numbersOf(whole.learned.trees.value.at(":", 0)).some((share) => Math.abs(share - 0.5) > 1e-3));
  const all = { classWeight: "balancedSubsample", bootstrap: false } as const;
  assert.throws(() => randomForestClassifier(all), /without bootstrap all trees see all rows/);
});

test("absolute errors: whole weights count as so many samples; a forest predicts means of medians", async () => {
  const { x, y } = forestData("diabetes");
  const [rows, aims] = [x.slice(0, 90), y.slice(0, 90).map((value, i) => value + i / 100)];
  const weights = rows.map((_, i) => i % 3);
  const tree = decisionTreeRegressor({ criterion: "absoluteError", maxDepth: 4 });
  const weighted = await tree.fit(of(rows, "f64"), aims, { weights });
  const times = rows.flatMap((_, i) => Array.from({ length: weights[i]! }, () => i));
  const repeated = await tree.fit(
    of(
      times.map((i) => rows[i]!),
      "f64",
    ),
    times.map((i) => aims[i]!),
  );
  const known = of(
    times.map((i) => rows[i]!),
    "f64",
  );
  await closeTo(weighted.predict(known), numbersOf(repeated.predict(known)), 1e-12, "predictions");
  const options = { criterion: "absoluteError", nEstimators: 10 } as const;
  const forest = await randomForestRegressor(options).fit(x.slice(0, 200), y.slice(0, 200), cpu);
  assert.ok((await forest.score(x.slice(200), y.slice(200)).item()) > 0.2);
  const random = await extraTreesRegressor(options).fit(x.slice(0, 200), y.slice(0, 200), cpu);
  assert.ok((await random.score(x.slice(0, 200), y.slice(0, 200)).item()) > 0.99);
  const pairs = async () => tree.fit(rows, rows.map((row) => row.slice(0, 2)), cpu); // biome-ignore format: a row
  await assert.rejects(pairs, /there are 2 targets for each sample; the criterion "absoluteError" takes one/);
});

test("options out of their range are refused", () => {
  assert.throws(() => decisionTreeRegressor({ minWeightFractionLeaf: 0.6 }), /it is a share from 0 to 0\.5/);
  assert.throws(() => decisionTreeRegressor({ minSamplesLeaf: 1.5 }), /a whole number from 1 on, or a share below 1/);
  assert.throws(() => decisionTreeRegressor({ criterion: "mse" as never }), /"friedmanMse"/);
});
