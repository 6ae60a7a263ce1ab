/** Importances by permutation: their expectation for a linear model, and the same values however copies are scored. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { random, type Tensor } from "../../../src/index.js";
import {
  gaussianNaiveBayes,
  linearRegression,
  logisticRegression,
  permutationImportance,
  pipeline,
  type Scorer,
  standardScaler,
  table,
} from "../../../src/learn/index.js";
import { of } from "../../support/learn-cases.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";

/** Samples of 3 features, of which the last does not matter, and their targets. */
function made(device: string): { readonly x: Tensor; readonly y: Tensor; readonly labels: string[] } {
  const x = random.normal(random.key(3, { device }), [80, 3]).realize() as Tensor;
  const noise = random.normal(random.key(4, { device }), [80]);
  const y = x.at(":", 0).mul(2).sub(x.at(":", 1)).add(noise.mul(0.3)).realize() as Tensor;
  return { x, y, labels: numbersOf(y).map((value) => (value < -1 ? "low" : value > 1 ? "high" : "middle")) };
}

const ownScore: Scorer = (model, samples, targets) => model.score(samples, targets);

describeOnTensorDevices("importances by permutation", (device) => {
  test("of least squares lose 2·b²·var(x)/var(y) of R² on the mean over orders", async () => {
    const { x, y } = made(device);
    const model = await linearRegression().fit(x, y);
    const nRepeats = 300;
    const { importances, mean, deviation, score } = await permutationImportance(model, x, y, {
      nRepeats,
      scoring: "r2",
    });
    assert.deepEqual(importances.shape, [3, nRepeats]);
    assert.ok(Math.abs(score - (await model.score(x, y).item())) < 1e-6);
    const slopes = numbersOf(model.learned.coefficients);
    const [spreads, whole] = [numbersOf(x.var({ axis: 0 })), await y.var().item()];
    numbersOf(mean).forEach((lost, f) => {
      const wanted = (2 * slopes[f]! ** 2 * spreads[f]!) / whole;
      const z = (lost - wanted) / (numbersOf(deviation)[f]! / Math.sqrt(nRepeats));
      assert.ok(Math.abs(z) < 4, `feature ${f}: z is ${z}: ${lost}, not ${wanted}`);
    });
  });

  test("are the same whether copies are predicted together or one by one, of labels, probabilities and numbers", async () => {
    const { x, y, labels } = made(device);
    const classes = await gaussianNaiveBayes().fit(x, labels);
    const numbers = await linearRegression().fit(x, y);
    const options = { nRepeats: 3, seed: 7 };
    const together = await permutationImportance(classes, x, labels, options);
    const alone = await permutationImportance(classes, x, labels, { ...options, scoring: ownScore });
    assert.deepEqual(numbersOf(together.importances), numbersOf(alone.importances));
    assert.ok(numbersOf(together.mean)[0]! > 0.2);
    const named = await permutationImportance(numbers, x, y, { ...options, scoring: "r2" });
    const own = await permutationImportance(numbers, x, y, options);
    numbersOf(named.importances).forEach((value, i) => {
      assert.ok(Math.abs(value - numbersOf(own.importances)[i]!) < 1e-5);
    });
    const other = await permutationImportance(numbers, x, y, { ...options, seed: 8 });
    assert.notDeepEqual(numbersOf(other.importances), numbersOf(own.importances));
  });
});

test("a feature that the model does not look at has importance zero, a shuffled copy keeps the others", async () => {
  const rows = Array.from({ length: 30 }, (_, i) => [i, 5, (i * 7) % 30]);
  const y = rows.map(([a]) => 3 * a!);
  const model = await linearRegression().fit(of(rows, "f64"), y);
  const seen: number[][] = [];
  const scoring: Scorer = (each, samples, targets) => {
    seen.push(numbersOf(samples as Tensor));
    return each.score(samples, targets);
  };
  const { mean } = await permutationImportance(model, of(rows, "f64"), y, { nRepeats: 1, scoring });
  const [first, second, third] = numbersOf(mean) as [number, number, number];
  assert.ok(first > 0.5 && Math.abs(second) < 1e-9 && Math.abs(third) < 1e-9);
  const column = (values: readonly number[], f: number): number[] => values.filter((_, i) => i % 3 === f);
  const whole = rows.flat();
  seen.slice(1).forEach((values, shuffled) => {
    for (const f of [0, 1, 2]) {
      const [got, want] = [column(values, f), column(whole, f)];
      if (f !== shuffled) assert.deepEqual(got, want);
      else if (f !== 1) assert.notDeepEqual(got, want);
      assert.deepEqual(got.sort(), want.sort());
    }
  });
});

test("areas under curves, tables and pipelines", async () => {
  const size = Array.from({ length: 40 }, (_, i) => Math.sin(i * 1.7));
  const age = size.map((_, i) => Math.cos(i * 2.3));
  const labels = size.map((value) => value > 0);
  const samples = table({ size, age });
  const model = await pipeline(standardScaler(), logisticRegression()).fit(samples, labels, { device: "cpu" });
  const { mean, score } = await permutationImportance(model, samples, labels, { scoring: "rocAuc" });
  const [first, second] = numbersOf(mean) as [number, number];
  assert.ok(score > 0.99 && first > 0.3 && Math.abs(second) < 0.1, `${score}, ${first}, ${second}`);
});

test("wrong options are refused by name", async () => {
  const model = await linearRegression().fit([[1], [2], [4]], [1, 2, 3], { device: "cpu" });
  const given = (options: object) => permutationImportance(model, [[1], [2]], [1, 2], options);
  await assert.rejects(given({ nRepeats: 0 }), /nRepeats is a whole number from 1 on/);
  await assert.rejects(given({ scoring: "area" }), /there is no score "area"/);
  await assert.rejects(given({ repeats: 1 }), /repeats/);
  const scaler = await standardScaler().fit([[1], [2]], undefined, { device: "cpu" });
  await assert.rejects(permutationImportance(scaler as never, [[1]], [1]), /standardScaler has no score of its own/);
});
