/** Trees as vectors and back. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { tensor } from "../../src/index.js";
import { ravel } from "../../src/transforms/ravel.js";
import { f64, numbersOf } from "../support/tensors.js";

test("a tree goes into one vector in the order of its leaves, and back with its shapes and dtypes", () => {
  const tree = { a: f64([[1, 2]]), b: [tensor(3, { device: "cpu" })] };
  const { vector, restore } = ravel("test", tree);
  assert.deepEqual([vector.dtype, numbersOf(vector)], ["f64", [1, 2, 3]]);
  const back = restore(vector.mul(2));
  assert.deepEqual([back.a.shape, back.b[0]!.shape, back.b[0]!.dtype], [[1, 2], [], "f32"]);
  assert.deepEqual([numbersOf(back.a), numbersOf(back.b[0]!)], [[2, 4], [6]]);
});

test("whole numbers and empty trees are refused by name", () => {
  assert.throws(() => ravel("here", { n: tensor([1], { dtype: "i32", device: "cpu" }) }), /here: n is i32/);
  assert.throws(() => ravel("here", {}), /here: there are no tensors/);
});
