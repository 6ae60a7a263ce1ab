/** Columns without any value: refused by name, or filled as scikit-learn does with keep_empty_features. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { kNeighborsImputer, simpleImputer, table } from "../../../src/learn/index.js";

const gap = Number.NaN;
const x = [
  [1, gap, 2],
  [4, gap, gap],
  [gap, gap, 8],
  [4, gap, 5],
];
const others = [
  [gap, 7, 1],
  [2, gap, gap],
];
const options = { dtype: "f64", device: "cpu" } as const;

test("with keepEmptyFeatures they are filled with 0, and others as ever: scikit-learn's numbers", async () => {
  const wanted = { mean: [3, 5], median: [4, 5], mostFrequent: [4, 2] } as const;
  for (const strategy of ["mean", "median", "mostFrequent"] as const) {
    const model = await simpleImputer({ strategy, keepEmptyFeatures: true }).fit(x, undefined, options);
    const [first, last] = wanted[strategy];
    assert.deepEqual(await model.transform(others).array(), [[first, 7, 1], [2, 0, last]]); // biome-ignore format: a matrix
  }
  const near = await kNeighborsImputer({ nNeighbors: 2, keepEmptyFeatures: true }).fit(x, undefined, options);
  const filled = [[1, 0, 2], [4, 0, 3.5], [2.5, 0, 8], [4, 0, 5]]; // biome-ignore format: a matrix
  assert.deepEqual(await near.transform(x).array(), filled);
});

test("else they are refused by name, and those of text always", async () => {
  for (const imputer of [simpleImputer(), kNeighborsImputer()])
    await assert.rejects(
      async () => imputer.fit(x),
      /column 1.* the whole column is missing.* keepEmptyFeatures: true/s,
    );
  const people = table({ name: ["a", "b"], town: ["x", "y"], age: [null, 3] });
  const townless = people.withColumn("town", { ...people.column("town"), codes: Int32Array.of(-1, -1) } as never);
  const imputer = simpleImputer({ strategy: "mostFrequent", keepEmptyFeatures: true });
  await assert.rejects(async () => imputer.fit(townless), /column "town".* the whole column is missing/s);
});
