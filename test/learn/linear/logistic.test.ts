/** Logistic regression against scikit-learn, by its optimality, and through transforms. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { jit, type Tensor, tensor, vmap } from "../../../src/index.js";
import { logisticRegression } from "../../../src/learn/index.js";
import { closeTo } from "../../support/learn-cases.js";
import { called, compareLinear, linearData } from "../../support/linear-cases.js";
import { f64, numbersOf } from "../../support/tensors.js";

compareLinear(["logisticRegression"], {
  make: ({ options }, dtype) => logisticRegression({ ...options, tol: dtype === "f64" ? 1e-10 : 1e-4 }),
  areLabels: true,
  within: [1e-6, 1e-4],
  async more(model, each, x, within) {
    const some = x.at("::7");
    await closeTo(called(model, "predictProbability", some), each.probabilities, within, "probabilities");
    const logs = called(model, "predictLogProbability", some).exp();
    await closeTo(logs as Tensor, each.probabilities, within, "logarithms");
  },
});

const { x: rows, y: labels } = linearData("cancer");
const [x, y] = [f64(rows as number[][]), tensor(labels as number[], { dtype: "i32", device: "cpu" })];

test("penalties are mapped over by vmap, and a fit goes through jit", async () => {
  const fit = (c: Tensor) =>
    logisticRegression({ c, tol: 1e-9 }).fitTensors(x, y, { classes: [0, 1] }).learned.coefficients;
  const many = vmap(fit)(f64([0.1, 1, 10]));
  const one = jit(fit)(f64(1));
  const alone = await logisticRegression({ tol: 1e-9 }).fit(x, labels);
  await closeTo(one, numbersOf(alone.learned.coefficients), 1e-9, "jit");
  await closeTo(many.at(1) as Tensor, numbersOf(alone.learned.coefficients), 1e-9, "vmap");
  const sparse = (c: Tensor) =>
    logisticRegression({ c, penalty: "l1", tol: 1e-9 }).fitTensors(x, y, { classes: [0, 1] }).learned.coefficients;
  const zeros = vmap(sparse)(f64([0.02, 1]))
    .equal(0)
    .sum({ axis: 1 });
  const [strong, weak] = numbersOf(zeros);
  assert.ok(strong! > weak!, `${strong} and ${weak} zeros`);
});

test("so many parameters that L-BFGS solves them: the gradient is as small as asked", async () => {
  // 30 samples, 600 features: y by the first.
  const wide = Array.from({ length: 30 }, (_, i) =>
    Array.from({ length: 600 }, (_, j) => Math.sin(i * 7.3 + j * j + 1)),
  );
  const classes = wide.map((row) => (row[0]! > 0 ? 1 : 0));
  const model = await logisticRegression({ tol: 1e-8, maxIter: 1000 }).fit(f64(wide), classes);
  const w = numbersOf(model.learned.coefficients);
  const b = numbersOf(model.learned.intercept)[0]!;
  const gradient = [...w];
  let ofIntercept = 0;
  wide.forEach((row, i) => {
    const z = row.reduce((sum, v, j) => sum + v * w[j]!, b);
    const slope = 1 / (1 + Math.exp(-z)) - classes[i]!;
    ofIntercept += slope;
    row.forEach((v, j) => {
      gradient[j]! += slope * v;
    });
  });
  assert.ok(Math.max(...gradient.map(Math.abs), Math.abs(ofIntercept)) < 1e-7);
});

test("a weight of two is a sample twice, and texts are labels", async () => {
  const samples = [[0], [1], [2], [3], [4]];
  const names = ["no", "no", "yes", "no", "yes"];
  const options = { dtype: "f64", device: "cpu" } as const;
  const weighted = await logisticRegression({ tol: 1e-10 }).fit(samples, names, {
    ...options,
    weights: [1, 1, 1, 1, 2],
  });
  const twice = await logisticRegression({ tol: 1e-10 }).fit([...samples, [4]], [...names, "yes"], options);
  await closeTo(weighted.learned.coefficients, numbersOf(twice.learned.coefficients), 1e-9, "coefficients");
  assert.deepEqual(await weighted.predictLabels([[0], [4]]), ["no", "yes"]);
});

test("labels that are told apart without error, and a column twice, end in finite coefficients", async () => {
  const samples = [-2, -1, 1, 2].map((v) => [v, v]);
  const model = await logisticRegression({ penalty: "none" }).fit(samples, [0, 0, 1, 1], { device: "cpu" });
  assert.ok(numbersOf(model.learned.coefficients).every(Number.isFinite));
  assert.equal(await model.score(samples, [0, 0, 1, 1]), 1);
});

test("misuse is refused by name", async () => {
  assert.throws(() => logisticRegression({ penalty: "l3" as "l2" }), /logisticRegression: the penalty is "l3"/);
  assert.throws(() => logisticRegression({ c: 0 }), /logisticRegression: c is 0; it is a number above zero/);
  assert.throws(() => logisticRegression({ l1Ratio: 2 }), /l1Ratio is 2; it is a number, from 0 to 1/);
  assert.throws(() => logisticRegression({ tol: -1 }), /tol is -1/);
  assert.throws(() => logisticRegression({ classWeight: "even" as "balanced" }), /classWeight is "even"/);
  const fit = (options: object, given: number[]) =>
    logisticRegression(options).fit([[1], [2], [3]], given, { device: "cpu" });
  await assert.rejects(async () => fit({}, [1, 1, 1]), /all labels are 1; a classification needs two classes/);
  await assert.rejects(async () => fit({ classWeight: [1, 2, 3] }, [0, 1, 1]), /3 weights of classes and 2 classes/);
  await assert.rejects(async () => fit({ classWeight: { 7: 1 } }, [0, 1, 1]), /classWeight names "7"/);
});
