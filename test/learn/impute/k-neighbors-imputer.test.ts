/** Missing values filled from the nearest samples, against scikit-learn. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";
import { jit, type Tensor } from "../../../src/index.js";
import { kNeighborsImputer } from "../../../src/learn/index.js";
import { closeTo, dtypesOf, of } from "../../support/learn-cases.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";

type Gaps = readonly (readonly (number | null)[])[];

/** Written by make-imputer-cases.py; null is a missing value. */
interface ImputerCases {
  readonly fit: Gaps;
  readonly queries: Gaps;
  readonly cases: readonly {
    readonly k: number;
    readonly weights: "uniform" | "distance";
    readonly indicator: boolean;
    readonly fitted: Gaps;
    readonly queried: Gaps;
  }[];
}

const { fit, queries, cases } = JSON.parse(
  readFileSync(resolve("test/learn/impute/imputer-cases.json"), "utf8"),
) as ImputerCases;
const withNaN = (rows: Gaps): number[][] => rows.map((row) => row.map((value) => value ?? Number.NaN));

describeOnTensorDevices("kNeighborsImputer", (device) => {
  for (const [place, { k, weights, indicator, fitted, queried }] of cases.entries()) {
    for (const dtype of dtypesOf(device, place === 0)) {
      test(`${k} neighbours, ${weights}, ${dtype}: scikit-learn's values`, async () => {
        const imputer = kNeighborsImputer({ nNeighbors: k, weights, addIndicator: indicator });
        const model = await imputer.fit(of(withNaN(fit), dtype));
        // scikit-learn's distances come from products; its inverse distances have fewer digits than its means.
        const within = dtype === "f32" ? 1e-5 : weights === "distance" ? 1e-9 : 1e-14;
        await closeTo(model.transform(of(withNaN(fit), dtype)), fitted, within, "samples of the fit");
        await closeTo(model.transform(of(withNaN(queries), dtype)), queried, within, "new samples");
        assert.equal(model.featureNames().length, (fitted[0] as readonly unknown[]).length);
      });
    }
  }
});

test("samples without a feature in common are no neighbours, and without any the mean of the column fills in", async () => {
  const [none, x] = [
    Number.NaN,
    [
      [1, Number.NaN, 10],
      [2, Number.NaN, 20],
      [Number.NaN, 5, 60],
    ],
  ];
  const model = await kNeighborsImputer({ nNeighbors: 3 }).fit(x, undefined, { device: "cpu" });
  const rows = [
    [1.5, none, none],
    [none, none, none],
  ];
  await closeTo(
    model.transform(rows),
    [
      [1.5, 5, 15],
      [1.5, 5, 30],
    ],
    1e-6,
    "values",
  );
});

test("it goes through jit, and columns without a value, categories and wrong options are refused", async () => {
  const x = withNaN(fit);
  const model = await kNeighborsImputer({ weights: (distances) => distances.mul(-1).exp() as Tensor }).fit(x);
  const transform = jit((rows: Tensor) => model.transform(rows));
  assert.deepEqual(numbersOf(transform(of(x, "f32"))), numbersOf(model.transform(of(x, "f32"))));
  const empty = [
    [1, Number.NaN],
    [2, Number.NaN],
  ];
  await assert.rejects(kNeighborsImputer().fit(empty), /column 1 is NaN; the whole column is missing; leave it out/);
  assert.throws(() => kNeighborsImputer({ nNeighbors: 0 }), /nNeighbors is a whole number from 1 on/);
  assert.throws(() => kNeighborsImputer({ weights: "inverse" as "distance" }), /weights are "inverse"/);
});
