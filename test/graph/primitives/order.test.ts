/** Sorting positions and searching in sorted rows: values by definition, batches, and what is refused. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { DTypeError, ShapeError } from "../../../src/core/errors.js";
import type { Node } from "../../../src/graph/node.js";
import { argsort, argsortAt, searchSorted } from "../../../src/graph/primitives/order.js";
import { g } from "../../../src/graph/vocabulary.js";
import { checkBatches, fixed, valuesOf } from "../../support/node-rules.js";
import { make, storedAs } from "../../support/nodes.js";

const sorted = (keys: Node) => g.move(argsort, [keys], {});
const search =
  (side: "left" | "right") =>
  (rows: Node, wanted: Node): Node =>
    g.move(searchSorted, [rows, wanted], { side });
const keys = (shape: number[], values: number[]) => fixed(shape, values, "u32");

test("positions bring each row into rising order, and equal keys keep theirs", () => {
  assert.deepEqual(valuesOf(sorted, [keys([2, 4], [3, 1, 3, 0, 7, 7, 2 ** 32 - 1, 0])])[0], [3, 1, 0, 2, 3, 0, 1, 2]);
});

test("left counts the smaller keys, right the equal ones too", () => {
  const [row, wanted] = [keys([5], [1, 3, 3, 3, 8]), keys([2, 2], [3, 0, 9, 8])];
  assert.deepEqual(valuesOf(search("left"), [row, wanted])[0], [1, 0, 5, 4]);
  assert.deepEqual(valuesOf(search("right"), [row, wanted])[0], [4, 0, 5, 5]);
});

test("rows of their own for each line of wanted values", () => {
  const [rows, wanted] = [keys([2, 3], [1, 2, 3, 10, 20, 30]), keys([2, 2], [2, 9, 9, 25])];
  assert.deepEqual(valuesOf(search("left"), [rows, wanted])[0], [1, 3, 0, 2]);
});

test("batches of keys, of rows, of wanted values, and of both", () => {
  checkBatches(sorted, [keys([2, 3], [3, 1, 2, 9, 7, 8])]);
  const shifted = (each: ReturnType<typeof keys>, m: number) => ({ ...each, values: each.values.map((x) => x + m) });
  checkBatches(search("left"), [keys([4], [1, 3, 5, 7]), keys([2, 2], [3, 0, 9, 6])], shifted);
  checkBatches(search("right"), [keys([2, 2], [1, 3, 5, 7]), keys([2, 3], [3, 0, 9, 6, 5, 7])], shifted);
});

test("keys are unsigned words, and leading axes agree", () => {
  assert.throws(() => make(argsort, [storedAs("i32", 3)]), DTypeError);
  assert.throws(() => make(argsort, [storedAs("u32")]), ShapeError);
  assert.equal(make(argsort, [storedAs("u64", 3)]).dtype, "i32");
  assert.deepEqual(make(argsortAt, [storedAs("u32", 4, 9)], { ranks: [0, 8] }).shape, [4, 2]);
  for (const ranks of [[9], [-1], [3, 3], [4, 2]]) {
    assert.throws(() => make(argsortAt, [storedAs("u32", 4, 9)], { ranks }), ShapeError);
  }
  const around = (dtype: "i32" | "u32", ...shape: number[]) =>
    make(argsortAt, [storedAs("u32", 4, 9), storedAs(dtype, ...shape)], { ranks: "around" });
  assert.deepEqual(around("i32", 1).shape, [4, 3]);
  assert.throws(() => around("u32", 1), ShapeError);
  assert.throws(() => around("i32", 2), ShapeError);
  assert.throws(() => make(searchSorted, [storedAs("u32", 3), storedAs("u64", 3)]), DTypeError);
  assert.throws(() => make(searchSorted, [storedAs("u32", 2, 3), storedAs("u32", 3, 3)]), ShapeError);
  assert.throws(() => make(searchSorted, [storedAs("u32"), storedAs("u32", 3)]), ShapeError);
});
