/** Interaction constraints, names of features, and predictions round by round, against scikit-learn's (make-boosting-options-cases.py). */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";
import { histGradientBoostingClassifier, histGradientBoostingRegressor, table } from "../../../src/learn/index.js";
import { closeTo, of } from "../../support/learn-cases.js";
import { describeOnTensorDevices, devicesWithDoubles, numbersOf } from "../../support/tensors.js";
import { treeData } from "../../support/tree-cases.js";

interface Interaction {
  readonly data: string;
  readonly predicted: readonly number[];
  readonly leaves: readonly number[];
}

interface Staged {
  readonly data: string;
  readonly predicted: readonly number[][];
  readonly probabilities: readonly number[][][];
  readonly decisions: unknown;
  readonly decision: unknown;
}

interface Cases {
  readonly interactions: Readonly<Record<"sets" | "rest" | "pairwise" | "noInteractions" | "categories", Interaction>>;
  readonly staged: Readonly<Record<"numbers" | "counts" | "two" | "three", Staged>>;
}

const { interactions, staged }: Cases = JSON.parse(
  readFileSync(resolve("test/learn/trees/boosting-options-cases.json"), "utf8"),
);
const base = { maxIter: 6, earlyStopping: false } as const;

const OPTIONS = {
  sets: { interactionCst: [[0, 1], [1, 2, 3]], maxLeafNodes: 12 }, // biome-ignore format: a row
  rest: { interactionCst: [[1, 2]], minSamplesLeaf: 8 },
  pairwise: { interactionCst: "pairwise", maxLeafNodes: 12 },
  noInteractions: { interactionCst: "noInteractions", maxLeafNodes: 12 },
  categories: { interactionCst: [[0, 3], [1, 2, 4]], categoricalFeatures: [3, 4], minSamplesLeaf: 6 }, // biome-ignore format: a row
} as const;

describeOnTensorDevices("options of boosting", (device) => {
  const onCpu = device === "cpu";
  const dtype = devicesWithDoubles().includes(device) ? "f64" : "f32";
  const within = dtype === "f64" ? 1e-5 : 1e-3;

  for (const name of ["sets", "rest", "pairwise", "noInteractions", "categories"] as const) {
    // The software driver takes long to compile: it gets one case.
    if (!onCpu && name !== "sets") continue;
    test(`interactionCst, ${name}: scikit-learn's predictions, and no branch with other features`, async () => {
      const { data, predicted, leaves } = interactions[name];
      const { x, y } = treeData(data, false);
      const samples = of(x, dtype);
      const model = await histGradientBoostingRegressor({ ...base, ...OPTIONS[name] }).fit(samples, y);
      await closeTo(model.predict(samples.at(`:${predicted.length}`)), predicted, within, "predictions");
      const splits = numbersOf(model.learned.trees.left.greaterEqual(0).cast("i32").sum({ axis: 1 }));
      assert.deepEqual(
        splits.map((count) => count + 1),
        leaves,
      );
    });
  }

  test("numbers of each round are scikit-learn's; the last ones are the prediction", async () => {
    const { x, y } = treeData("made", false);
    const samples = of(x, dtype);
    const some = samples.at(":8");
    const model = await histGradientBoostingRegressor({ ...base, maxLeafNodes: 8 }).fit(samples, y);
    const stages = model.stagedPredict(some);
    await closeTo(stages, staged.numbers.predicted, within, "stages");
    await closeTo(model.predict(some), await stages.at(-1).array(), 1e-6, "the last stage");
  });

  for (const name of onCpu ? (["two", "three"] as const) : (["three"] as const)) {
    test(`decisions, probabilities and classes of each round are scikit-learn's, ${name} classes`, async () => {
      const want = staged[name];
      const { x, y } = treeData(want.data, false);
      const samples = of(x, dtype);
      const some = samples.at(":8");
      const options = name === "two" ? { ...base, maxDepth: 3 } : { ...base, maxLeafNodes: 7 };
      const model = await histGradientBoostingClassifier(options).fit(samples, y);
      await closeTo(model.stagedDecisionFunction(some), want.decisions, within, "decisions");
      await closeTo(model.decisionFunction(some), want.decision, within, "the decision");
      await closeTo(model.stagedPredictProbability(some), want.probabilities, within, "probabilities");
      assert.deepEqual(numbersOf(model.stagedPredict(some)), want.predicted.flat());
      assert.deepEqual(model.stagedPredict(some).shape, [6, 8]);
    });
  }
});

const cpu = { device: "cpu" };

test("stages of the loss poisson are exponentials", async () => {
  const { x, y } = treeData("diabetes", false);
  const model = await histGradientBoostingRegressor({ ...base, loss: "poisson", maxLeafNodes: 10 }).fit(
    of(x, "f64"),
    y,
  );
  await closeTo(model.stagedPredict(of(x.slice(0, 8), "f64")), staged.counts.predicted, 1e-5, "stages");
});

test("features are named by number, by name or by a list of true and false", async () => {
  const { x, y } = treeData("categories", false);
  const featureNames = ["a", "b", "c", "d", "e"];
  const fitted = async (options: object) => {
    const model = await histGradientBoostingRegressor({ ...base, ...options }).fit(x, y, { ...cpu, featureNames });
    return numbersOf(model.predict(x.slice(0, 30)));
  };
  const [numbered, named, flagged] = await Promise.all([
    fitted({ categoricalFeatures: [3, 4], monotonicCst: [1, 0, -1, 0, 0] }),
    fitted({ categoricalFeatures: ["d", "e"], monotonicCst: { a: 1, c: -1 } }),
    fitted({ categoricalFeatures: [false, false, false, true, true], monotonicCst: { c: -1, a: 1 } }),
  ]);
  assert.deepEqual(named, numbered);
  assert.deepEqual(flagged, numbered);
  const plain = await fitted({});
  assert.notDeepEqual(plain, numbered);
});

test("rules that fit no feature are refused", async () => {
  const made = (options: object) => histGradientBoostingRegressor({ ...base, ...options });
  assert.throws(() => made({ interactionCst: "all" }), /interactionCst is "all"; it is a list of lists/);
  assert.throws(() => made({ categoricalFeatures: ["a", 1] }), /by number or by name, or of true and false/);
  assert.throws(() => made({ monotonicCst: { a: 2 } }), /such numbers by the names of features/);
  const x = Array.from({ length: 50 }, (_, i) => [i, i % 7]);
  const y = x.map(([a]) => a!);
  const fit = async (options: object) => made(options).fit(x, y, cpu);
  await assert.rejects(fit({ interactionCst: [[0, 2]] }), /interactionCst names 2; the samples have 2 features/);
  await assert.rejects(fit({ categoricalFeatures: ["a"] }), /the samples have no names of columns/);
  await assert.rejects(fit({ categoricalFeatures: [true] }), /has 1 values; the samples have 2 features/);
  await assert.rejects(fit({ monotonicCst: { a: 1 } }), /monotonicCst names "a"; the samples have no names/);
  const columns = table({ height: [1, 2, 3], kind: ["oak", "elm", "oak"] });
  const clash = async () => made({ monotonicCst: { kind: 1 } }).fit(columns, [1, 2, 3], cpu);
  await assert.rejects(clash, /feature 1 is categorical/);
  const stray = async () => made({ monotonicCst: { width: 1 } }).fit(columns, [1, 2, 3], cpu);
  await assert.rejects(stray, /monotonicCst names "width", not one of the columns \["height", "kind"\]/);
});
