/** Scores by samples and by options against scikit-learn's, which test/learn/plots/make-plots-cases.py writes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  gaussianNaiveBayes,
  kFold,
  learningCurve,
  pipeline,
  ridge,
  standardScaler,
  validationCurve,
} from "../../../src/learn/index.js";
import { devicesWithDoubles, f64 } from "../../support/tensors.js";
import { plotsCases } from "../plots/marks.js";

const { curves } = plotsCases();

function near(found: readonly (readonly number[])[], want: readonly (readonly number[])[], within: number): void {
  assert.equal(found.length, want.length);
  found.forEach((row, i) => {
    assert.equal(row.length, want[i]!.length);
    for (const [j, value] of row.entries()) {
      assert.ok(Math.abs(value - want[i]![j]!) <= within, `${i}, ${j}: ${value}, not ${want[i]![j]}`);
    }
  });
}

for (const device of devicesWithDoubles()) {
  test(`learning and validation curves have scikit-learn's scores, ${device}`, async () => {
    const [x, y] = [f64(curves.x), f64(curves.y)].map((each) => each.to(device)) as [never, never];
    const splits = kFold(5);
    const found = await learningCurve(ridge({ alpha: 0.5 }), x, y, { splits, sizes: curves.shares });
    assert.deepEqual(found.sizes, curves.sizes);
    near(found.trainScores.score!, curves.train, 1e-9);
    near(found.scores.score!, curves.test, 1e-9);
    const errors = await learningCurve(ridge({ alpha: 0.5 }), x, y, {
      sizes: [40, 5, 17, 5],
      scoring: "negMeanSquaredError",
    });
    assert.deepEqual(errors.sizes, curves.numbers);
    near(errors.trainScores.negMeanSquaredError!, curves.trainErrors, 1e-9);
    near(errors.scores.negMeanSquaredError!, curves.testErrors, 1e-9);
    const byAlpha = await validationCurve((alpha) => ridge({ alpha }), x, y, { values: curves.alphas, splits });
    near(byAlpha.trainScores.score!, curves.trainByAlpha, 1e-9);
    near(byAlpha.scores.score!, curves.testByAlpha, 1e-9);
  });
}

test("a seed mixes the samples of each fit, the same each time; tests stay", async () => {
  const { x, y } = curves;
  const curve = (seed?: number) => learningCurve(ridge(), x, y, { sizes: [8, 48], seed, splits: 5 });
  const [plain, one, again, two] = [await curve(), await curve(1), await curve(1), await curve(2)];
  assert.deepEqual(one.scores, again.scores);
  assert.notDeepEqual(one.scores.score![0], two.scores.score![0]);
  // All samples of a split in another order are the same fit, but for rounding.
  near([one.scores.score![1]!], [plain.scores.score![1]!], 1e-4);
});

test("labels are stratified, and options of steps are tried through a function", async () => {
  const x = Array.from({ length: 40 }, (_, i) => [i < 20 ? Math.sin(i) : 3 + Math.sin(i)]);
  const y = x.map((_, i) => (i < 20 ? "low" : "high"));
  const found = await validationCurve(
    (varSmoothing: number) => pipeline(standardScaler(), gaussianNaiveBayes({ varSmoothing })),
    x,
    y,
    { values: [1e-9, 0.1], name: "varSmoothing", scoring: ["accuracy", "f1Macro"] },
  );
  assert.equal(found.name, "varSmoothing");
  assert.deepEqual(Object.keys(found.scores), ["accuracy", "f1Macro"]);
  assert.deepEqual(found.scores.accuracy!.map((splits) => splits.length), [5, 5]); // biome-ignore format: splits
  assert.ok(found.trainScores.f1Macro!.flat().every((score) => score > 0.9));
});

test("sizes and values that make no sense are refused; a signal ends a curve", async () => {
  const { x, y } = curves;
  const curve = (sizes: number[]) => learningCurve(ridge(), x, y, { sizes });
  await assert.rejects(
    curve([0, 0.5]),
    /sizes are 0; they are shares, above 0 and up to 1, or numbers of samples up to 48/,
  );
  await assert.rejects(curve([49]), /sizes are 49/);
  await assert.rejects(curve([]), /sizes are/);
  await assert.rejects(curve([0.5, 20]), /the share 0\.5 among numbers of samples/);
  await assert.rejects(
    validationCurve(() => ridge(), x, y, { values: [] }),
    /give a list/,
  );
  await assert.rejects(
    validationCurve(ridge() as never, x, y, { values: [1] }),
    /takes a function that makes an estimator/,
  );
  await assert.rejects(learningCurve(ridge(), x, y, { signal: AbortSignal.abort() }), { name: "AbortError" });
});
