/** The seam for categories: codes of the fit at every later call, NaN for what is missing or unknown. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { categorySamples, numberSamples } from "../../../src/learn/core/samples.js";
import { table } from "../../../src/learn/index.js";
import { numbersOf } from "../../support/tensors.js";

const fitted = table({ age: [1, null, 3, 4], city: ["c", "a", null, "c"] });

test("categories become codes of those that the fit has; missing ones NaN", () => {
  // Rows of a larger table: the category "b" is known to its column and stands in no row.
  const larger = table({ age: [1, 2, 3], city: ["c", "a", "b"] }).take([0, 1]);
  const { matrix, features } = categorySamples.read("test", larger, {}, {});
  assert.deepEqual(numbersOf(matrix), [1, 1, 2, 0]);
  assert.deepEqual(features, { count: 2, names: ["age", "city"], categories: [null, ["a", "c"]] });
  assert.deepEqual(numbersOf(categorySamples.read("test", fitted, {}, {}).matrix), [
    1,
    1,
    Number.NaN,
    0,
    3,
    Number.NaN,
    4,
    1,
  ]);
});

test("later tables get the codes of the fit, in any order of columns; unknown categories are NaN", () => {
  const { features } = categorySamples.read("test", fitted, {}, {});
  const later = table({ city: ["zoo", "c", "a"], age: [7, 8, 9] });
  assert.deepEqual(numbersOf(categorySamples.readLike("test", later, features, {}, {})), [7, Number.NaN, 8, 1, 9, 0]);
  const empty = table({ city: [null], age: [7] });
  assert.deepEqual(numbersOf(categorySamples.readLike("test", empty, features, {}, {})), [7, Number.NaN]);
  assert.throws(
    () => categorySamples.readLike("test", table({ city: [1], age: [7] }), features, {}, {}),
    /"city" holds numbers, and the model was fitted with categories/,
  );
  assert.throws(
    () => categorySamples.readLike("test", table({ city: ["a"], age: ["x"] }), features, {}, {}),
    /"age" holds categories, and the model was fitted with numbers/,
  );
});

test("tables of numbers alone have no categories, and tensors are codes", () => {
  assert.equal(categorySamples.read("test", table({ a: [1] }), {}, {}).features.categories, null);
  assert.deepEqual(categorySamples.read("test", [[1, 0]], {}, {}).features, {
    count: 2,
    names: null,
    categories: null,
  });
});

test("other readers refuse categories and texts with the remedy", () => {
  assert.throws(() => numberSamples.read("test", fitted, {}, {}), /column "city" holds categories.*columnTransformer/);
  assert.throws(() => numberSamples.read("test", ["a text"], {}, {}), /samples are texts.*countVectorizer\(\)/);
});

test("rows that are objects are told to be made a table", () => {
  assert.throws(
    () => numberSamples.read("ridge.fit", [{ age: 1 }] as never, {}, {}),
    /ridge\.fit: the rows are objects/,
  );
});
