/** Arrow tables of apache-arrow, known by their form. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Dictionary, Int32, Table, tableFromIPC, tableToIPC, Utf8, vectorFromArray } from "apache-arrow";
import { ridge, table } from "../../../src/learn/index.js";
import { numbersOf } from "../../support/tensors.js";

const arrow = tableFromIPC(
  tableToIPC(
    new Table({
      n: vectorFromArray(Float64Array.of(1, 2, 4)),
      big: vectorFromArray(BigInt64Array.of(3n, 5n, 7n)),
      c: vectorFromArray(["b", null, "a"], new Dictionary(new Utf8(), new Int32())),
      flag: vectorFromArray([true, false, true]),
    }),
  ),
);

test("columns of an Arrow table: numbers, whole numbers of 64 bits, dictionaries, flags, nulls", () => {
  assert.deepEqual(table(arrow).toColumns(), { n: [1, 2, 4], big: [3, 5, 7], c: ["b", null, "a"], flag: [1, 0, 1] });
  assert.deepEqual(table(arrow).column("c"), {
    kind: "category",
    categories: ["a", "b"],
    codes: new Int32Array([1, -1, 0]),
  });
});

test("estimators take Arrow tables as they are", async () => {
  const some = arrow.select(["n", "big"]);
  const model = await ridge().fit(some, [1, 2, 3]);
  assert.deepEqual(model.features.names, ["n", "big"]);
  assert.deepEqual(numbersOf(model.predict(some)), numbersOf(model.predict(table(some))));
});
