/** Encoders and imputers against scikit-learn's, for texts, numbers and missing values, and back to tables. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { jit, type Tensor } from "../../../src/index.js";
import {
  missingIndicator,
  oneHotEncoder,
  ordinalEncoder,
  pipeline,
  ridge,
  simpleImputer,
  table,
} from "../../../src/learn/index.js";
import { of } from "../../support/learn-cases.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";
import { type Cells, casesIn, near } from "./cases.js";

interface EncoderCase {
  readonly kind: "oneHotEncoder" | "ordinalEncoder" | "simpleImputer";
  readonly name: string;
  readonly options: object;
  readonly x: readonly (readonly (string | number | null)[])[];
  readonly new: EncoderCase["x"];
  readonly names: readonly string[];
  readonly transformed: Cells;
  readonly newTransformed: Cells;
}

const MAKERS = { oneHotEncoder, ordinalEncoder, simpleImputer } as const;
const cases = () => casesIn<{ readonly encoders: readonly EncoderCase[] }>("encoder-cases").encoders;

/** Rows as samples: NaN for a missing number. */
const samplesOf = (rows: EncoderCase["x"]) => rows.map((row) => row.map((cell) => cell ?? Number.NaN)) as number[][];

describeOnTensorDevices("encoders", (device) => {
  const seen = new Set<string>();
  for (const each of cases()) {
    const key = `${each.kind} ${each.name.slice(0, 4)}`;
    if (device !== "cpu" && seen.has(key)) continue;
    seen.add(key);
    test(`${each.kind}, ${each.name}: scikit-learn's columns and names`, async () => {
      const model = await MAKERS[each.kind](each.options as never).fit(samplesOf(each.x), undefined, {
        device,
        dtype: "f64",
      });
      near(model.transform(samplesOf(each.x)), each.transformed, 1e-12, "transformed");
      near(model.transform(samplesOf(each.new)), each.newTransformed, 1e-12, "new samples");
      assert.deepEqual(model.featureNames(), each.names);
    });
  }
});

const people = table({ city: ["Rom", "Ulm", null, "Rom"], age: [3, 5, 5, 3] });

test("what is encoded comes back as a table, with missing cells and rare ones", async () => {
  for (const estimator of [oneHotEncoder(), oneHotEncoder({ drop: "first" }), ordinalEncoder()]) {
    const model = await estimator.fit(people);
    assert.deepEqual((await model.inverseTransform(model.transform(people))).toColumns(), people.toColumns());
  }
  const rare = await oneHotEncoder({ minFrequency: 2 }).fit(people);
  assert.deepEqual(rare.featureNames(), ["city_Rom", "city_infrequent", "age_3", "age_5"]);
  const back = await rare.inverseTransform(rare.transform(people));
  assert.deepEqual(back.cells("city"), ["Rom", "infrequent", "infrequent", "Rom"]);
});

test("an unknown text is refused with its column; an unknown number of a tensor becomes NaN", async () => {
  const model = await oneHotEncoder().fit(people);
  assert.throws(
    () => model.transform(table({ city: ["Oslo"], age: [3] })),
    /oneHotEncoder.transform: the column "city" has "Oslo", which the fit did not see; .*handleUnknown/,
  );
  const numbers = await oneHotEncoder().fit([[1], [2]]);
  assert.deepEqual(numbersOf(numbers.transform([[2], [3]])), [0, 1, Number.NaN, Number.NaN]);
  const ordinal = await ordinalEncoder().fit(people);
  assert.throws(() => ordinal.transform(table({ city: ["Oslo"], age: [3] })), /has "Oslo"/);
});

test("lists of text, and fits in jit's models", async () => {
  const model = await oneHotEncoder().fit(["b", "a", "b"]);
  assert.deepEqual(model.featureNames(), ["x0_a", "x0_b"]);
  assert.deepEqual(numbersOf(model.transform(["a", "b"])), [1, 0, 0, 1]);
  const numbers = await oneHotEncoder().fit([[1, 7], [2, 7]]); // biome-ignore format: a matrix
  const inside = jit((m: typeof numbers, x: Tensor) => m.transform(x))(numbers, of([[2, 7]], "f32"));
  assert.deepEqual(numbersOf(inside), [0, 1, 1]);
});

test("imputed columns of text keep their categories for the next step, and no model takes them for numbers", async () => {
  const steps = pipeline(simpleImputer({ strategy: "constant" }), oneHotEncoder());
  const model = await steps.fit(table({ city: ["Rom", null, "Ulm"] }));
  assert.deepEqual(model.featureNames(), ["city_Rom", "city_Ulm", "city_missing"]);
  assert.deepEqual(numbersOf(model.transform(table({ city: [null, "Rom"] }))), [0, 0, 1, 1, 0, 0]);
  const wrong = pipeline(simpleImputer({ strategy: "mostFrequent" }), ridge());
  await assert.rejects(async () => wrong.fit(people, [1, 2, 3, 4]), /ridge.fit: the column "city" holds categories/);
});

test("the indicator tells where values are missing", async () => {
  const gaps = table({ a: [1, null, 3], b: [4, 5, 6], c: [null, "x", "y"] });
  const model = await missingIndicator().fit(gaps);
  assert.deepEqual(model.featureNames(), ["missingindicator_a", "missingindicator_c"]);
  assert.deepEqual(numbersOf(model.transform(gaps)), [0, 1, 1, 0, 0, 0]);
  assert.equal((await missingIndicator({ features: "all" }).fit(gaps)).featureNames().length, 3);
});

test("settings that make no sense are refused by name", async () => {
  assert.throws(() => oneHotEncoder({ minFrequency: 1.5 }), /minFrequency is 1.5/);
  assert.throws(() => ordinalEncoder({ handleUnknown: "useEncodedValue" }), /unknownValue is undefined/);
  assert.throws(() => simpleImputer({ fillValue: 3 }), /fillValue is for/);
  const fit = (estimator: { fit(x: typeof people): PromiseLike<unknown> }) => async () => estimator.fit(people);
  await assert.rejects(fit(oneHotEncoder({ drop: ["Oslo", 3] })), /drop names "Oslo" for column 0/);
  await assert.rejects(fit(oneHotEncoder({ categories: [["Rom", "Ulm"]] })), /categories are of 1 columns/);
  await assert.rejects(
    fit(ordinalEncoder({ encodedMissingValue: 1 })),
    /encodedMissingValue is 1, which is the number/,
  );
  await assert.rejects(fit(simpleImputer()), /column city holds categories, which have no mean/);
  await assert.rejects(async () => simpleImputer().fit([[Number.NaN], [Number.NaN]]), /the whole column is missing/);
  await assert.rejects(async () => missingIndicator().fit([[1], [2]]), /no value is missing/);
});
