/** Columns each in their own way, and side by side, against scikit-learn's: a table with categories and missing values, end to end. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import {
  columnTransformer,
  crossValidate,
  featureUnion,
  functionTransformer,
  load,
  oneHotEncoder,
  pca,
  pipeline,
  ridge,
  save,
  simpleImputer,
  standardScaler,
  table,
} from "../../../src/learn/index.js";
import { of } from "../../support/learn-cases.js";
import { temporaryFolders } from "../../support/temporary-folder.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";
import { type Cells, casesIn, near } from "../preprocessing/cases.js";

interface TableCase {
  readonly rows: readonly Record<string, string | number | null>[];
  readonly price: readonly number[];
  readonly names: readonly string[];
  readonly transformed: Cells;
  readonly predicted: readonly number[];
  readonly scores: readonly number[];
}

const given = casesIn<{ readonly table: TableCase }>("encoder-cases").table;
const folder = temporaryFolders();

const columns = columnTransformer(
  [
    {
      columns: { kind: "category" },
      use: pipeline(simpleImputer({ strategy: "mostFrequent" }), oneHotEncoder({ handleUnknown: "ignore" })),
    },
    { columns: "area", use: pipeline(simpleImputer({ strategy: "median", addIndicator: true }), standardScaler()) },
  ],
  { remainder: "passthrough" },
);

describeOnTensorDevices("columns", (device) => {
  test("a table with categories and missing values becomes scikit-learn's matrix, and its predictions", async () => {
    const houses = table(given.rows);
    const estimator = pipeline(columns, ridge({ alpha: 0.5 }));
    const model = await estimator.fit(houses, [...given.price], { device, dtype: "f64" });
    near(model.steps[0].transform(houses), given.transformed, 1e-9, "the matrix");
    assert.deepEqual(model.steps[1].features.names, given.names);
    near(
      model.predict(houses).expandDims(1),
      given.predicted.map((each) => [each]),
      1e-9,
      "predictions",
    );
    const path = join(folder(), "model.safetensors");
    await save(path, model);
    const loaded = await load(path, { device, like: estimator });
    assert.deepEqual(numbersOf(loaded.predict(houses)), numbersOf(model.predict(houses)));
    assert.deepEqual(loaded.steps[0].featureNames(), given.names);
  });
});

test("columns are chosen by name, place, list and function, and found by name afterwards", async () => {
  const data = table({ a: [1, 2, 3], b: [10, 20, 60], c: [0, 0, 1] });
  const x = async (parts: Parameters<typeof columnTransformer>[0], remainder?: "passthrough") => {
    const model = await columnTransformer(parts, remainder ? { remainder } : {}).fit(data);
    return [model.featureNames(), numbersOf(model.transform(table({ c: [5], b: [7], a: [2] })))];
  };
  const same = functionTransformer();
  assert.deepEqual(await x({ b: same }), [["b"], [7]]);
  assert.deepEqual(await x([{ columns: [-1, "a"], use: same }]), [["c", "a"], [5, 2]]); // biome-ignore format: pairs
  assert.deepEqual(await x([{ columns: (name) => name > "a", use: "drop" }], "passthrough"), [["a"], [2]]);
  const twice = functionTransformer({ apply: (each) => each.mul(2) as never });
  assert.deepEqual(
    await x([
      { columns: "a", use: same },
      { columns: "a", use: pipeline(twice) },
    ]),
    [
      ["functionTransformer__a", "pipeline__a"],
      [2, 4],
    ],
  );
  await assert.rejects(
    async () => columnTransformer({ z: same }).fit(data),
    /there is no column "z"; there are a, b, c/,
  );
  await assert.rejects(async () => columnTransformer({ a: "drop" }).fit(data), /no column is left/);
  await assert.rejects(async () => columnTransformer({ a: ridge() }).fit(data, [1, 2, 3]), /ridge does not transform/);
});

test("matrices, rows with texts, and fits of tensors", async () => {
  const x = of([[1, 5], [2, 6], [4, 7]], "f64"); // biome-ignore format: a matrix
  const estimator = columnTransformer([{ columns: 1, use: standardScaler() }], { remainder: "passthrough" });
  const [fitted, traced] = [await estimator.fit(x), estimator.fitTensors(x)];
  assert.deepEqual(numbersOf(traced.transform(x)), numbersOf(fitted.transform(x)));
  assert.deepEqual(fitted.featureNames(), ["x1", "x0"]);
  assert.throws(() => fitted.transform([[1, 2, 3]]), /have 3 features/);
  const rows = [["Rom", 1], ["Ulm", 2], ["Rom", 4]]; // biome-ignore format: rows
  const mixed = await columnTransformer([{ columns: 0, use: oneHotEncoder() }], { remainder: "passthrough" }).fit(rows);
  assert.deepEqual(numbersOf(mixed.transform([["Ulm", 9]])), [0, 1, 9]);
});

test("a union lays columns side by side, with weights where they mean something", async () => {
  const x = of([[1, 5], [2, 4], [4, 9], [3, 3]], "f64"); // biome-ignore format: a matrix
  const union = featureUnion(standardScaler(), pca({ nComponents: 1 }));
  const model = await union.fit(x, undefined, { weights: [1, 1, 1, 0] });
  const alone = await standardScaler().fit(x, undefined, { weights: [1, 1, 1, 0] });
  const parts = [alone.transform(x), (await pca({ nComponents: 1 }).fit(x)).transform(x)].map(numbersOf);
  const want = [0, 1, 2, 3].flatMap((i) => [parts[0]![2 * i]!, parts[0]![2 * i + 1]!, parts[1]![i]!]);
  assert.deepEqual(numbersOf(model.transform(x)), want);
  assert.deepEqual(model.featureNames(), ["x0", "x1", "pca0"]);
  const path = join(folder(), "union.safetensors");
  await save(path, model);
  assert.deepEqual(numbersOf((await load(path)).transform(x)), want);
  assert.equal(
    union
      .with({ 1: { nComponents: 2 } })
      .fitTensors(x)
      .transform(x).shape[1],
    4,
  );
});

test("cross-validation of a table fits every step to the training rows", async () => {
  const estimator = pipeline(columns, ridge({ alpha: 0.5 }));
  const { scores } = await crossValidate(estimator, table(given.rows), [...given.price], { splits: 3 });
  scores.score!.forEach((each, i) => {
    assert.ok(Math.abs(each - given.scores[i]!) < 1e-4, `${each}, not ${given.scores[i]}`);
  });
});

test("functions of tensors are checked for their shape and their names", async () => {
  const model = await functionTransformer({ apply: (x) => x.exp() as never, inverse: (y) => y.log() as never }).fit([
    [1, 2],
  ]);
  near(model.inverseTransform(model.transform([[3, 0]])), [[3, 0]], 1e-6, "back");
  const sums = functionTransformer({ apply: (x) => x.sum({ axis: 1 }) as never });
  await assert.rejects(async () => (await sums.fit([[1, 2]])).transform([[1, 2]]), /a row of columns for each sample/);
  const named = await functionTransformer({ names: ["a"] }).fit([[1, 2]]);
  assert.throws(() => named.featureNames(), /1 names, and 2 columns/);
});
