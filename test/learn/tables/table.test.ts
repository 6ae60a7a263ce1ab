/** Tables of columns. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Table, table } from "../../../src/learn/index.js";

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
  assert.throws(() => table([[1]] as never), /takes columns by name/);
  assert.throws(() => table({ a: [1, "x"] }), /row 0 of the column "a" is 1, and others are text/);
  assert.throws(() => table({ a: [{}] } as never), /row 0 of the column "a"/);
  assert.throws(() => people.column("agee"), /no column "agee"; there are age, city, member, since/);
  assert.match(String(people), /table of 3 rows: age \(number\), city \(2 categories\)/);
});
