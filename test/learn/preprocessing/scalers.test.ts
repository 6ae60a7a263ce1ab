/** Scalers against scikit-learn's, and back again. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Tensor } from "../../../src/index.js";
import { maxAbsScaler, minMaxScaler, robustScaler, standardScaler } from "../../../src/learn/index.js";
import { closeTo, learnCases, of } from "../../support/learn-cases.js";
import { describeOnTensorDevices, devicesWithDoubles, numbersOf } from "../../support/tensors.js";

const MAKERS = { standardScaler, minMaxScaler, maxAbsScaler, robustScaler };

describeOnTensorDevices("scalers", (device) => {
  for (const each of learnCases().scalers) {
    for (const dtype of devicesWithDoubles().includes(device) ? (["f64", "f32"] as const) : (["f32"] as const)) {
      test(`${each.kind}, ${each.name}, ${dtype}: scikit-learn's columns, and back`, async () => {
        const [rows, wanted] = [each.x, each.transformed].map((m) => m.map((row) => row.map((v) => v ?? Number.NaN)));
        const isMissing = each.x.flat().map((v) => v === null);
        const x = of(rows, dtype);
        const estimator = MAKERS[each.kind as keyof typeof MAKERS](each.options);
        const model = await estimator.fit(x, undefined, each.weights ? { weights: each.weights } : {});
        const changed = model.transform(x);
        assert.deepEqual(numbersOf(changed).map(Number.isNaN), isMissing);
        const near = (got: Tensor, want: unknown, what: string) =>
          closeTo(got.nanToNum(), of(want, "f64").nanToNum().arraySync(), dtype === "f64" ? 1e-12 : 1e-5, what);
        await near(changed, wanted, "transformed");
        await near(model.inverseTransform(changed), rows, "back");
      });
    }
  }
});

test("batch after batch gives what all samples together give, with missing values, weights and columns that begin empty", async () => {
  const gap = Number.NaN;
  const rows = [[1, gap, 7, 5], [4, gap, gap, 5], [2, 3, -9, 5], [9, 8, 1, 5], [6, -2, gap, 5]]; // biome-ignore format: a matrix
  const weights = [1, 2, 0.5, 1, 3];
  for (const [make, weighs] of [
    [standardScaler(), true],
    [standardScaler({ withMean: false }), false],
    [minMaxScaler({ range: [-1, 2] }), false],
    [maxAbsScaler(), false],
  ] as const) {
    const at = (from: number, to?: number) => (weighs ? { weights: weights.slice(from, to) } : {});
    const whole = await make.fit(of(rows, "f64"), undefined, at(0));
    const first = await make.fit(of(rows.slice(0, 2), "f64"), undefined, at(0, 2));
    const model = first.partialFit(of(rows.slice(2, 3), "f64"), at(2, 3)).partialFit(of(rows.slice(3), "f64"), at(3));
    for (const name of Object.keys(whole.learned)) {
      await closeTo(model.learned[name]!, numbersOf(whole.learned[name]!), 1e-14, `${make.kind}, ${name}`);
    }
    await closeTo(model.transform([[1, 2, 3, 4]]), numbersOf(whole.transform([[1, 2, 3, 4]])), 1e-14, make.kind);
  }
});

test("a constant column of f32 stays: rounding leaves no spread to divide by", async () => {
  const model = await standardScaler().fit(
    of(
      Array.from({ length: 999 }, () => [0.1, 1e6 + 0.3]),
      "f32",
    ),
  );
  await closeTo(model.learned.scale, [1, 1], 0, "scale");
});

test("clipped columns stay within the range", async () => {
  const x = [[0], [10]];
  const model = await minMaxScaler({ range: [-1, 1], clip: true }).fit(x);
  await closeTo(model.transform([[-5], [2.5], [30]]), [-1, -0.5, 1], 1e-6, "clipped");
  const plain = await minMaxScaler({ range: [-1, 1] }).fit(x);
  await closeTo(plain.transform([[-5], [30]]), [-2, 5], 1e-6, "not clipped");
});

test("ranges and percentiles the wrong way round are refused", () => {
  assert.throws(() => minMaxScaler({ range: [1, 0] }), /minMaxScaler: range is \[1, 0\]/);
  assert.throws(() => robustScaler({ quantileRange: [50, 101] }), /robustScaler: quantileRange/);
  assert.throws(() => robustScaler({ quantileRange: [0, 90], unitVariance: true }), /with unitVariance it is above 0/);
});
