/** Arrow tables of apache-arrow, known by their form. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  Decimal,
  Dictionary,
  Field,
  Int32,
  List,
  makeBuilder,
  Table,
  tableFromIPC,
  tableToIPC,
  Utf8,
  vectorFromArray,
} from "apache-arrow";
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

test("decimal fractions are numbers, of both signs; nulls are missing; lists are refused with the column's name", () => {
  const money = new Decimal(2, 38, 128);
  const words = (value: bigint): Uint32Array => new Uint32Array(BigUint64Array.of(value, value < 0n ? -1n : 0n).buffer);
  const builder = makeBuilder({ type: money, nullValues: [null] });
  for (const value of [words(12345n), words(-5n), null, words(900719925474099312n)]) builder.append(value);
  const made = new Table({ price: builder.finish().toVector() });
  assert.deepEqual(table(tableFromIPC(tableToIPC(made))).toColumns(), {
    price: [123.45, -0.05, null, Number("9007199254740993.12")],
  });
  const lists = makeBuilder({ type: new List(new Field("item", new Int32(), true)) });
  lists.append([1, 2]);
  assert.throws(() => table(new Table({ pair: lists.finish().toVector() })), /column "pair" .* leave the column out/);
});
