/** Scalers against scikit-learn's, and back again. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { maxAbsScaler, minMaxScaler, robustScaler, standardScaler } from "../../../src/learn/index.js";
import { closeTo, learnCases, of } from "../../support/learn-cases.js";
import { describeOnTensorDevices, devicesWithDoubles } from "../../support/tensors.js";

const MAKERS = { standardScaler, minMaxScaler, maxAbsScaler, robustScaler };

describeOnTensorDevices("scalers", (device) => {
  for (const each of learnCases().scalers) {
    for (const dtype of devicesWithDoubles().includes(device) ? (["f64", "f32"] as const) : (["f32"] as const)) {
      test(`${each.kind}, ${each.name}, ${dtype}: scikit-learn's columns, and back`, async () => {
        const x = of(each.x, dtype);
        const estimator = MAKERS[each.kind as keyof typeof MAKERS](each.options);
        const model = await estimator.fit(x, undefined, each.weights ? { weights: each.weights } : {});
        const changed = model.transform(x);
        await closeTo(changed, each.transformed, dtype === "f64" ? 1e-12 : 1e-5, "transformed");
        await closeTo(model.inverseTransform(changed), each.x, dtype === "f64" ? 1e-12 : 1e-5, "back");
      });
    }
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
