/** Tables of columns. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { categories, Table, table } from "../../../src/learn/index.js";

const people = table({
  age: [31, null, 25],
  city: ["Genf", "Bern", undefined],
  member: [true, false, true],
  since: [new Date(5), new Date(7), null],
});

test("texts are categories in alphabetical order, anything else is numbers; missing cells are marked", () => {
  assert.deepEqual(people.names, ["age", "city", "member", "since"]);
  assert.deepEqual(people.column("age"), { kind: "number", values: new Float64Array([31, Number.NaN, 25]) });
  assert.deepEqual(people.column("city"), {
    kind: "category",
    categories: ["Bern", "Genf"],
    codes: new Int32Array([1, 0, -1]),
  });
  assert.deepEqual(people.column("member"), { kind: "number", values: new Float64Array([1, 0, 1]) });
  assert.deepEqual(people.column("since"), { kind: "number", values: new Float64Array([5, 7, Number.NaN]) });
});

test("columns are selected and dropped by name, rows taken by position", () => {
  assert.deepEqual(people.select(["city", "age"]).names, ["city", "age"]);
  assert.deepEqual(people.drop(["age", "since"]).names, ["city", "member"]);
  const taken = people.take([2, 0]);
  assert.equal(taken.rows, 2);
  assert.deepEqual(taken.column("age"), { kind: "number", values: new Float64Array([25, 31]) });
  assert.deepEqual((taken.column("city") as { codes: Int32Array }).codes, new Int32Array([-1, 1]));
});

test("a column may be called as an object's own parts are", () => {
  const odd = table(JSON.parse('{ "__proto__": [1], "constructor": [2] }'));
  assert.deepEqual(odd.names, ["__proto__", "constructor"]);
  assert.ok(odd instanceof Table);
});

test("mistakes are named", () => {
  assert.throws(() => table({ a: [1], b: [1, 2] }), /column "b" has 2 rows, and "a" has 1/);
  assert.throws(() => table({ a: 5 } as never), /column "a" is a list of values, not 5/);
  assert.throws(() => table([[1]] as never), /row 0 is \[1\]; rows are objects/);
  assert.throws(() => table(5 as never), /takes columns by name/);
  assert.throws(() => table({ a: [1, "x"] }), /row 0 of the column "a" is 1, and others are text/);
  assert.throws(() => table({ a: [{}] } as never), /row 0 of the column "a"/);
  assert.throws(() => people.column("agee"), /no column "agee"; there are age, city, member, since/);
  assert.throws(() => people.withColumn("more", [1]), /"more" has 1 rows, and the table has 3/);
  assert.throws(() => people.rename({ age: "city" }), /two columns one name/);
  assert.throws(() => categories(["a", "b"], ["a"]), /row 1 is "b", which is not among \["a"\]/);
});

test("rows and columns go in and out", () => {
  const rows = [
    { age: 31, city: "Genf" },
    { city: "Bern", extra: 1 },
  ];
  const made = table(rows);
  assert.deepEqual(made.names, ["age", "city", "extra"]);
  assert.deepEqual(made.toRows(), [
    { age: 31, city: "Genf", extra: null },
    { age: null, city: "Bern", extra: 1 },
  ]);
  assert.deepEqual(table(made.toColumns()), made);
  assert.deepEqual(table([]).rows, 0);
});

test("columns are added, replaced and renamed; categories keep the order that they are given", () => {
  const sizes = people.withColumn("size", categories(["M", null, "S"], ["S", "M", "L"]));
  assert.deepEqual(sizes.column("size"), {
    kind: "category",
    categories: ["S", "M", "L"],
    codes: new Int32Array([1, -1, 0]),
  });
  assert.deepEqual(sizes.withColumn("age", [1, 2, 3]).names, sizes.names);
  assert.deepEqual(sizes.rename({ age: "years" }).cells("years"), [31, null, 25]);
  assert.deepEqual(categories([10, 9, 10]).categories, ["10", "9"]);
});

test("describe has a row for each column, with the numbers of pandas", () => {
  const rows = table({ x: [1, 2, 4, 10, null], c: ["a", "b", "b", null, "c"] })
    .describe()
    .toRows();
  // pandas.Series([1, 2, 4, 10]).describe()
  assert.deepEqual(rows[0], {
    column: "x",
    kind: "number",
    count: 4,
    missing: 1,
    mean: 4.25,
    std: Math.sqrt((3.25 ** 2 + 2.25 ** 2 + 0.25 ** 2 + 5.75 ** 2) / 3),
    min: 1,
    q25: 1.75,
    median: 3,
    q75: 5.5,
    max: 10,
    unique: 4,
    top: null,
    topCount: null,
  });
  const { count, missing, unique, top, topCount } = rows[1] as Record<string, unknown>;
  assert.deepEqual([count, missing, unique, top, topCount], [4, 1, 3, "b", 2]);
});

test("console.log shows a head of rows in columns", () => {
  const long = table({
    n: Array.from({ length: 30 }, (_, i) => i / 3),
    who: Array.from({ length: 30 }, (_, i) => (i === 1 ? null : `p${i}`)),
  });
  const lines = String(long).split("\n");
  assert.equal(lines.length, 13);
  assert.equal(lines[0], "          n  who");
  assert.equal(lines[1], "     number  29 categories");
  assert.equal(lines[3], "1  0.333333  ·");
  assert.equal(lines.at(-1), "30 rows × 2 columns");
  const wide = table(Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`column${i}`, [i]])));
  assert.ok(
    String(wide)
      .split("\n")
      .slice(0, -1)
      .every((line) => line.length <= 100),
  );
  assert.match(String(wide), /40 columns; not shown: .*column39/);
});
