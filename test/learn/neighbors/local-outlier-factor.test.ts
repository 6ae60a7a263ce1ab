/** The local outlier factor against scikit-learn, for samples of the fit and new ones. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { jit, type Tensor } from "../../../src/index.js";
import { localOutlierFactor } from "../../../src/learn/index.js";
import { closeTo, of } from "../../support/learn-cases.js";
import { describeOnTensorDevices, devicesWithDoubles, numbersOf } from "../../support/tensors.js";
import { neighborsCases, partsOf } from "./cases.js";

const cases = neighborsCases();

describeOnTensorDevices("the local outlier factor", (device) => {
  for (const each of cases.outliers) {
    for (const dtype of devicesWithDoubles().includes(device) ? (["f64", "f32"] as const) : (["f32"] as const)) {
      test(`${each.set}, ${each.k} neighbours, ${each.metric}, ${dtype}: scikit-learn's factors and labels`, async () => {
        const { x, queries } = partsOf(cases, each.set);
        const { k: nNeighbors, contamination, metric, p } = each;
        const model = await localOutlierFactor({ nNeighbors, contamination, metric, p }).fit(of(x, dtype));
        const within = dtype === "f64" ? 1e-8 : 1e-4;
        await closeTo(model.learned.negativeOutlierFactors, each.factors, within, "factors");
        await closeTo(model.learned.offset, each.offset, within, "offset");
        assert.deepEqual(numbersOf(model.learned.labels), each.labels);
        const q = of(queries, dtype);
        await closeTo(model.scoreSamples(q), each.scores, within, "scores");
        await closeTo(model.decisionFunction(q), each.decisions, within * 10, "decisions");
        assert.deepEqual(numbersOf(model.predict(q)), each.predicted);
      });
    }
  }

  test("a jitted fit gives the same factors", async () => {
    const x = of(partsOf(cases, "iris").x, "f32");
    const fit = jit((a: Tensor) => localOutlierFactor().fitTensors(a));
    const plain = await localOutlierFactor().fit(x);
    await closeTo(
      fit(x).learned.negativeOutlierFactors,
      numbersOf(plain.learned.negativeOutlierFactors),
      1e-5,
      "factors",
    );
  });
});

test("one sample, and wrong options, are refused", async () => {
  await assert.rejects(async () => localOutlierFactor().fit([[1, 2]]), /one sample, which has no neighbours/);
  assert.throws(() => localOutlierFactor({ contamination: 0.6 }), /contamination is 0.6/);
  assert.throws(() => localOutlierFactor({ nNeighbors: 0 }), /nNeighbors is a whole number from 1 on/);
});
