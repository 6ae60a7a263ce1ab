/** Wrong values in error messages: short, clear, and never an error of their own. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { remedyForTensor, shown } from "../../src/core/shown.js";

test("values are told apart by how they are written", () => {
  const cases: readonly (readonly [unknown, string])[] = [
    ["3", '"3"'],
    [3, "3"],
    [3n, "3n"],
    [undefined, "undefined"],
    [null, "null"],
    [true, "true"],
    [Symbol("x"), "a symbol"],
    [() => {}, "a function"],
    [{}, "an object"],
    [Object.create(null), "an object"],
    [new Map(), "a Map"],
    [new Error("x"), "an Error"],
    [{ re: 1, im: -2 }, "{ re: 1, im: -2 }"],
    ["x".repeat(50), `"${"x".repeat(40)}…"`],
  ];
  for (const [value, text] of cases) assert.equal(shown(value), text);
});

test("lists are cut after eight elements and two levels, and may contain themselves", () => {
  assert.equal(shown([1, "a", [2]]), '[1, "a", [2]]');
  assert.equal(shown([0, 1, 2, 3, 4, 5, 6, 7, 8]), "[0, 1, 2, 3, 4, 5, 6, 7, …]");
  const list: unknown[] = [1];
  list.push(list);
  assert.equal(shown(list), "[1, [1, […]]]");
});

test("a tensor among the values brings the remedy", () => {
  class Tensor {}
  assert.match(remedyForTensor(3, [[new Tensor()]]), /static/);
  assert.equal(remedyForTensor(3, null, [Object.create(null)]), "");
});
