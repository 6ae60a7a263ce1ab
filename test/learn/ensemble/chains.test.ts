/** Chains of estimators against scikit-learn's (make-chain-cases.py), and classes by codes against their definition. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";
import type { Tensor } from "../../../src/index.js";
import {
  classifierChain,
  decisionTreeClassifier,
  gaussianNaiveBayes,
  linearSvc,
  logisticRegression,
  outputCode,
  regressorChain,
  ridge,
} from "../../../src/learn/index.js";
import { closeTo, of } from "../../support/learn-cases.js";
import { describeOnTensorDevices, devicesWithDoubles, numbersOf } from "../../support/tensors.js";

type Rows = number[][];
interface Chained {
  readonly predicted: Rows;
  readonly probabilities: Rows;
  readonly decisions: Rows;
  readonly score: number;
}

const read = (name: string) => JSON.parse(readFileSync(resolve(`test/learn/ensemble/${name}`), "utf8"));
const cases: Readonly<Record<"plain" | "ordered" | "heldOut", Chained>> & {
  readonly targets: Rows;
  readonly numbers: Rows;
} = read("chain-cases.json");
const { cancer, diabetes, wine } = read("ensemble-cases.json") as {
  cancer: { x: Rows };
  diabetes: { x: Rows; two: Rows };
  wine: { x: Rows; y: number[] };
};
const logistic = () => logisticRegression({ tol: 1e-8 });

describeOnTensorDevices("chains", (device) => {
  const dtype = devicesWithDoubles().includes(device) ? "f64" : "f32";
  const within = dtype === "f64" ? 1e-6 : 1e-3;
  const chains = {
    plain: { estimator: logistic() },
    ordered: { estimator: logistic(), order: [2, 0, 1] },
    heldOut: { estimator: logistic(), order: [1, 2, 0], splits: 3 },
  };
  for (const [name, options] of Object.entries(chains)) {
    // The software driver takes long to compile: it gets one case.
    if (device !== "cpu" && name !== "ordered") continue;
    test(`classifierChain, ${name}: scikit-learn's predictions, probabilities and decisions`, async () => {
      const want = cases[name as "plain"];
      const x = of(cancer.x, dtype);
      const model = await classifierChain(options).fit(x, cases.targets);
      const some = x.at("::7") as Tensor;
      assert.deepEqual(numbersOf(model.predict(some)), want.predicted.flat());
      await closeTo(model.predictProbability(some), want.probabilities, within, "probabilities");
      await closeTo(model.decisionFunction(some), want.decisions, within, "decisions");
      assert.ok(Math.abs((await model.score(x, cases.targets).item()) - want.score) < 1e-6);
    });
  }

  test("classes by a code: the row of bits nearest to what the estimators say", async () => {
    const x = of(wine.x, dtype);
    for (const estimator of device === "cpu" ? [linearSvc(), gaussianNaiveBayes()] : [gaussianNaiveBayes()]) {
      const model = await outputCode({ estimator, codeSize: 2, seed: 3 }).fit(x, wine.y);
      const { codeBook, models } = model.learned;
      const book = numbersOf(codeBook);
      const bits = codeBook.shape[1]!;
      assert.deepEqual([codeBook.shape, models.length], [[3, 6], 6]);
      const isSvc = estimator.kind === "linearSvc";
      assert.ok(book.every((bit) => bit === 1 || bit === (isSvc ? -1 : 0)));
      const rows = [0, 1, 2].map((k) => book.slice(k * bits, (k + 1) * bits));
      assert.equal(new Set(rows.map(String)).size, 3);
      const said = models.map((each) =>
        numbersOf(isSvc ? each.decisionFunction!(x) : (each.predictProbability!(x).at(":", 1) as Tensor)),
      );
      const nearest = wine.x.map((_, i) => {
        const far = rows.map((row) => row.reduce((sum, bit, b) => sum + (said[b]![i]! - bit) ** 2, 0));
        return far.indexOf(Math.min(...far));
      });
      assert.deepEqual(numbersOf(model.predict(x)), nearest);
      assert.ok((await model.score(x, wine.y)) > 0.9);
    }
  });
});

const cpu = { device: "cpu" };

test("numbers in a chain that is shown held out predictions are scikit-learn's", async () => {
  const x = of(diabetes.x, "f64");
  const chain = regressorChain({ estimator: ridge({ alpha: 2 }), order: [1, 0], splits: 4 });
  const model = await chain.fit(x, of(diabetes.two, "f64"));
  await closeTo(model.predict(x.at("::5") as Tensor), cases.numbers, 1e-9, "predictions");
});

test("a random order belongs to its seed; wrong orders and members are refused", async () => {
  const { targets } = cases;
  const fitted = async (seed: number) => {
    const chain = classifierChain({ estimator: gaussianNaiveBayes(), order: "random", seed });
    const model = await chain.fit(cancer.x, targets, cpu);
    return numbersOf(model.predictProbability(cancer.x));
  };
  const found = await Promise.all([0, 0, 1, 2, 3].map(fitted));
  assert.deepEqual(found[0], found[1]);
  assert.ok(found.slice(2).some((each) => String(each) !== String(found[0])));
  assert.throws(() => classifierChain({ estimator: ridge() }), /estimator is a ridge, which predicts numbers/);
  assert.throws(() => classifierChain({ estimator: logistic(), order: "any" as never }), /order is "any"/);
  const wrong = async () => classifierChain({ estimator: logistic(), order: [0, 1] }).fit(cancer.x, targets, cpu);
  await assert.rejects(wrong, /it has each of the columns 0 … 2 once/);
  const tree = await classifierChain({ estimator: decisionTreeClassifier() }).fit(cancer.x, targets, cpu);
  assert.throws(() => tree.decisionFunction(cancer.x), /decisionTreeClassifier has no decisionFunction/);
  const three = targets.map((row, i) => [row[0]!, i % 3]);
  const several = await classifierChain({ estimator: gaussianNaiveBayes() }).fit(cancer.x, three, cpu);
  assert.throws(() => several.predictProbability(cancer.x), /a target has 3 classes/);
  assert.throws(() => outputCode({ estimator: logistic(), codeSize: 0 }), /codeSize is 0/);
});
