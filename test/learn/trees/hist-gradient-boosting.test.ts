/** Boosting on histograms against scikit-learn's trees: predictions and numbers of leaves, for every loss and option. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { jit, type Tensor, tensor } from "../../../src/index.js";
import { histGradientBoostingClassifier, histGradientBoostingRegressor, table } from "../../../src/learn/index.js";
import { closeTo, of } from "../../support/learn-cases.js";
import { describeOnTensorDevices, devicesWithDoubles, numbersOf } from "../../support/tensors.js";
import { treeCases, treeData } from "../../support/tree-cases.js";

const boosting = treeCases().boosting;

describeOnTensorDevices("boosting", (device) => {
  // The software driver takes long to compile: it gets a part of the cases.
  const isSoftware = device !== "cpu";
  const wanted = boosting.filter(({ hasTies }, i) => !isSoftware || (!hasTies && [1, 8, 9, 13].includes(i)));
  const dtypes = devicesWithDoubles().includes(device) ? (["f64", "f32"] as const) : (["f32"] as const);
  for (const { kind, data, options, weights, predicted, leaves, hasTies } of wanted) {
    for (const dtype of hasTies ? dtypes.slice(0, 1) : dtypes) {
      test(`${kind}, ${data}, ${JSON.stringify(options)}, ${dtype}: scikit-learn's predictions`, async () => {
        const { x, y, sampleWeights } = treeData(data, weights);
        const samples = of(x, dtype);
        const given = sampleWeights ? { weights: sampleWeights } : {};
        const first = samples.at(`:${predicted.length}`);
        const fitted = async (): Promise<readonly [Tensor, Tensor]> => {
          if (kind === "histGradientBoostingRegressor") {
            const model = await histGradientBoostingRegressor(options).fit(samples, y, given);
            return [model.predict(first), model.learned.trees.left];
          }
          const model = await histGradientBoostingClassifier(options).fit(samples, y, given);
          return [model.predictProbability(first), model.learned.trees.left];
        };
        const [got, left] = await fitted();
        if (dtype === "f64") {
          await closeTo(got, predicted, 1e-5, "predictions");
          assert.deepEqual(leafCounts(numbersOf(left), leaves.length), leaves);
        } else {
          // Where two splits are as good but for rounding, f32 may take the other: most predictions agree.
          const want = predicted.flat();
          const size = Math.max(...want.map(Math.abs));
          const off = numbersOf(got).map((value, i) => Math.abs(value - want[i]!) / size);
          assert.ok(off.filter((each) => each < 1e-3).length >= 0.8 * off.length, `${off.slice(0, 9)}`);
        }
      });
    }
  }

  test("a fit gives the same bits twice; predictions go through jit", async () => {
    const { x, y } = treeData("made", false);
    const samples = of(x, "f32");
    const [a, b] = [0, 1].map(() => histGradientBoostingRegressor({ maxIter: 5 }).fit(samples, y));
    const [one, two] = [await a!, await b!];
    assert.deepEqual(numbersOf(one.learned.trees.value), numbersOf(two.learned.trees.value));
    const inside = jit((model: typeof one, rows: Tensor) => model.predict(rows))(one, samples);
    await closeTo(inside, await one.predict(samples).array(), 1e-6, "predictions in jit");
  });
});

/** Leaves of each tree: one more than it has splits. */
function leafCounts(left: readonly number[], trees: number): number[] {
  const nodes = left.length / trees;
  return Array.from(
    { length: trees },
    (_, t) => left.slice(t * nodes, (t + 1) * nodes).filter((child) => child >= 0).length + 1,
  );
}

const cpu = { device: "cpu" };

test("missing values that the fit did not see go where most samples went; unknown categories are missing", async () => {
  const x = Array.from({ length: 60 }, (_, i) => [i, i % 3]);
  const y = x.map(([v, c]) => (v! < 40 ? 1 : 5) + (c === 1 ? 10 : 0));
  const model = await histGradientBoostingRegressor({ maxIter: 60, minSamplesLeaf: 5, categoricalFeatures: [1] }).fit(
    x,
    y,
    cpu,
  );
  const [missing, low, unknown, nan] = numbersOf(
    model.predict([
      [Number.NaN, 0],
      [3, 0],
      [3, 77],
      [3, Number.NaN],
    ]),
  );
  assert.ok(Math.abs(missing! - low!) < 0.2, `${missing} and ${low}`);
  assert.equal(unknown, nan);
  assert.ok(numbersOf(model.predict([[3, 1]]))[0]! > 9);
});

test("columns of text are categories by themselves", async () => {
  const colour = Array.from({ length: 90 }, (_, i) => ["red", "green", "blue"][i % 3]!);
  const size = colour.map((_, i) => Math.sin(i * 9.1));
  const y = colour.map((c) => (c === "green" ? 3 : -1));
  const options = { maxIter: 40, minSamplesLeaf: 5 };
  const model = await histGradientBoostingRegressor(options).fit(table({ size, colour }), y, cpu);
  const seen = numbersOf(model.predict(table({ colour: ["green", "red", "mauve"], size: [0, 0, 0] })));
  assert.ok(seen[0]! > 2.8 && seen[1]! < -0.8, `${seen}`);
  assert.match(await model.toText(), /colour in \{|colour not in \{/);
});

test("early stopping holds samples back and ends when their loss stands still", async () => {
  const { x, y } = treeData("made", false);
  const options = { maxIter: 200, earlyStopping: true, nIterNoChange: 3, validationFraction: 0.3, seed: 4 };
  const model = await histGradientBoostingRegressor(options).fit(x, y, cpu);
  const rounds = numbersOf(model.learned.iterations)[0]!;
  const losses = numbersOf(model.learned.validationLoss!);
  assert.ok(rounds < 200 && losses.length === rounds + 1, `${rounds} rounds`);
  const reference = losses.at(-4)!;
  assert.ok(losses.slice(-3).every((loss) => loss >= reference - 1e-7));
  const train = await histGradientBoostingRegressor({ ...options, validationFraction: null, maxIter: 5 }).fit(
    x,
    y,
    cpu,
  );
  assert.equal(train.learned.validationLoss, null);
  const falling = numbersOf(train.learned.trainLoss!);
  assert.ok(falling.every((loss, i) => i === 0 || loss < falling[i - 1]!));
  const labels = y.map((v) => (v > 0 ? "up" : "down"));
  const classes = await histGradientBoostingClassifier({ ...options, maxIter: 30 }).fit(x, labels, cpu);
  assert.ok((await classes.score(x, labels)) > 0.85);
});

test("importances are shares, largest for the feature that matters; leaves have numbers; a tree is text", async () => {
  const { x, y } = treeData("made", false);
  const model = await histGradientBoostingRegressor({ maxIter: 4, maxLeafNodes: 4 }).fit(x, y, cpu);
  const shares = numbersOf(model.featureImportances());
  assert.ok(Math.abs(shares.reduce((a, b) => a + b) - 1) < 1e-5);
  assert.equal(shares.indexOf(Math.max(...shares)), 0);
  assert.deepEqual(model.apply(x).shape, [300, 4]);
  assert.match(await model.toText(1), /^\|--- feature 0 <= [-0-9.]+\n\| {3}\|--- /);
  await assert.rejects(async () => model.toText(4), /tree is 4; there are 4/);
});

test("wrong options are refused by name", async () => {
  assert.throws(
    () => histGradientBoostingRegressor({ maxBins: 256 }),
    /maxBins is 256; it is a whole number from 2 to 255/,
  );
  assert.throws(() => histGradientBoostingRegressor({ loss: "gamma" as never }), /loss is "gamma"/);
  assert.throws(() => histGradientBoostingRegressor({ loss: "quantile" }), /quantile is undefined/);
  assert.throws(() => histGradientBoostingClassifier({ learningRate: 0 }), /learningRate is 0/);
  assert.throws(() => histGradientBoostingClassifier({ monotonicCst: [2] }), /monotonicCst/);
  assert.throws(
    () => histGradientBoostingRegressor({ monotonicCst: [1], categoricalFeatures: [0] }),
    /feature 0 is categorical/,
  );
  const x = [[0.5], [1], [2]];
  const fit = async (options: object, rows = x) => histGradientBoostingRegressor(options).fit(rows, [1, 2, 3], cpu);
  await assert.rejects(fit({ categoricalFeatures: [0] }), /feature 0 has the value 0.5; categories are whole numbers/);
  await assert.rejects(fit({ categoricalFeatures: [4] }), /categoricalFeatures names 4/);
  await assert.rejects(fit({ monotonicCst: [0, 1] }), /monotonicCst has 2 numbers/);
  await assert.rejects(async () => histGradientBoostingClassifier().fit(x, [1, 1, 1], cpu), /there is one class/);
});

test("a tensor of weights zero leaves samples out", async () => {
  const { x, y } = treeData("made", false);
  const weights = y.map((_, i) => (i < 200 ? 1 : 0));
  const options = { maxIter: 5, minSamplesLeaf: 1, maxLeafNodes: 5, maxBins: 20 };
  const all = await histGradientBoostingRegressor(options).fit(x, y, { ...cpu, weights: tensor(weights, cpu) });
  const mean = y.slice(0, 200).reduce((a, b) => a + b) / 200;
  assert.ok(Math.abs(numbersOf(all.learned.baseline)[0]! - mean) < 1e-5);
});

test("weights of classes are weights of their samples, on top of those that are given", async () => {
  const x = Array.from({ length: 60 }, (_, i) => [Math.sin(7 * i), Math.cos(3 * i)]);
  const y = x.map(([a], i) => (a! > 0.5 ? "few" : i % 3 ? "many" : "some"));
  const options = { maxIter: 5, minSamplesLeaf: 4 };
  const probabilities = async (more: object, weights?: number[]) => {
    const model = await histGradientBoostingClassifier({ ...options, ...more }).fit(x, y, weights ? { weights } : {});
    return model.predictProbability(x);
  };
  const count = (label: string) => y.filter((each) => each === label).length;
  const balanced = await probabilities({ classWeight: "balanced" });
  const byHand = await probabilities(
    {},
    y.map((label) => 60 / 3 / count(label)),
  );
  await closeTo(balanced, await byHand.array(), 1e-6, "balanced");
  const own = x.map((_, i) => 1 + (i % 2));
  const doubled = await probabilities({ classWeight: { few: 3 } }, own);
  await closeTo(
    doubled,
    await (
      await probabilities(
        {},
        own.map((weight, i) => (y[i] === "few" ? 3 * weight : weight)),
      )
    ).array(),
    1e-6,
    "one class by name",
  );
  assert.throws(() => histGradientBoostingClassifier({ classWeight: "even" as "balanced" }), /classWeight is "even"/);
});
