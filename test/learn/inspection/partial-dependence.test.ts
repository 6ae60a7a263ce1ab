/** Partial dependence against scikit-learn's, computed there by brute force. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";
import type { Tensor } from "../../../src/index.js";
import {
  gaussianNaiveBayes,
  histGradientBoostingRegressor,
  linearRegression,
  partialDependence,
  pipeline,
  ridge,
  standardScaler,
  table,
} from "../../../src/learn/index.js";
import { closeTo, dtypesOf, of } from "../../support/learn-cases.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";

interface Case {
  readonly kind: "ridge" | "linearRegression" | "gaussianNaiveBayes" | "histGradientBoostingRegressor";
  readonly data: string;
  readonly features: readonly number[];
  readonly grid: number;
  readonly percentiles: readonly [number, number];
  readonly values: readonly (readonly number[])[];
  readonly average: unknown;
  readonly individual: readonly unknown[];
}

const { data, cases } = JSON.parse(readFileSync(resolve("test/learn/inspection/inspection-cases.json"), "utf8")) as {
  readonly data: Readonly<Record<string, { readonly x: number[][]; readonly y: number[] }>>;
  readonly cases: readonly Case[];
};

const boosting = { maxIter: 15, minSamplesLeaf: 5, maxLeafNodes: 6 };

async function fitted(kind: Case["kind"], x: Tensor, y: number[]) {
  switch (kind) {
    case "ridge":
      return ridge({ alpha: 3 }).fit(x, y);
    case "linearRegression":
      return linearRegression().fit(x, y);
    case "gaussianNaiveBayes":
      return gaussianNaiveBayes().fit(x, y);
    case "histGradientBoostingRegressor":
      return histGradientBoostingRegressor(boosting).fit(x, y);
  }
}

describeOnTensorDevices("partial dependence", (device) => {
  cases.forEach(({ kind, data: name, features, grid, percentiles, values, average, individual }, i) => {
    // Boosting is slow to compile for the software driver; its predictions are tested there elsewhere.
    if (device !== "cpu" && kind.startsWith("hist")) return;
    for (const dtype of dtypesOf(device, i === 0)) {
      test(`${kind}, ${name}, features ${features}, ${dtype}: scikit-learn's grid, averages and curves`, async () => {
        const x = of(data[name]!.x, dtype);
        const model = await fitted(kind, x, data[name]!.y);
        const options = { grid, percentiles };
        const got = await partialDependence(model, x, features, options);
        const within = dtype === "f64" ? (kind.startsWith("hist") ? 1e-5 : 1e-8) : 2e-4;
        got.grid.forEach((list, axis) => {
          assert.equal(list.length, values[axis]!.length);
          for (const [at, value] of list.entries()) assert.ok(Math.abs(value / values[axis]![at]! - 1) < 1e-6);
        });
        assert.equal(got.values.rank, 1 + features.length);
        await closeTo(got.values, average, within, "averages");
        const curves = await partialDependence(model, x, features, { ...options, kind: "individual" });
        const some = curves.values.at(":", "::10") as Tensor;
        await closeTo(some, individual.flat(4), within, "curves");
      });
    }
  });
});

const cpu = { device: "cpu" };
const { x, y } = data.diabetes!;

test("the partial dependence of a linear model is a line with its slope", async () => {
  const model = await ridge().fit(of(x, "f64"), y);
  const { values } = await partialDependence(model, of(x, "f64"), 2, { grid: [[0, 1, 5]] });
  const slope = numbersOf(model.learned.coefficients)[2]!;
  const [at0, at1, at5] = numbersOf(values) as [number, number, number];
  assert.ok(Math.abs(at1 - at0 - slope) < 1e-8 && Math.abs(at5 - at0 - 5 * slope) < 1e-8);
});

test("a feature with few values has those as its grid; names of columns count; pipelines are models, too", async () => {
  const columns = { age: [1, 2, 2, 3, 1], size: [5, 1, 4, 2, 8] };
  const model = await pipeline(standardScaler(), ridge()).fit(table(columns), [1, 2, 3, 4, 5], cpu);
  const named = await partialDependence(model, table(columns), "age");
  assert.deepEqual(named.grid, [[1, 2, 3]]);
  const rows = columns.age.map((age, i) => [age, columns.size[i]!]);
  const placed = await partialDependence(model, rows, 0);
  assert.deepEqual(numbersOf(named.values), numbersOf(placed.values));
});

test("large grids are predicted in several parts, with the same values", async () => {
  const model = await ridge().fit(x, y, cpu);
  const many = Array.from({ length: 20_000 }, (_, i) => i / 100);
  const { values } = await partialDependence(model, x, 2, { grid: [many] });
  const few = await partialDependence(model, x, 2, { grid: [[0, 199.99]] });
  const all = numbersOf(values);
  assert.equal(all.length, 20_000);
  const [first, last] = numbersOf(few.values) as [number, number];
  assert.ok(Math.abs(all[0]! - first) < 1e-2 && Math.abs(all[19_999]! - last) < 1e-2);
});

test("wrong features, grids and models are refused by name", async () => {
  const model = await ridge().fit(x, y, cpu);
  const depend = (features: unknown, options = {}) => partialDependence(model, x, features as number, options);
  await assert.rejects(depend(5), /there is no feature 5; the model has 5: x0, x1/);
  await assert.rejects(depend("age"), /there is no feature "age"/);
  await assert.rejects(depend([1, 1]), /one or more, each once/);
  await assert.rejects(depend([1, 2], { grid: [[1]] }), /a list of values for each of 2 features/);
  await assert.rejects(depend(1, { kind: "both" }), /kind is "both"/);
  await assert.rejects(depend(1, { percentiles: [0.9, 0.1] }), /the smaller first/);
  await assert.rejects(depend(2, { grid: 2, percentiles: [0.5, 0.5000001] }), /set percentiles further apart/);
  await assert.rejects(depend(1, { response: "predictProbability" }), /ridge has no predictProbability/);
});
