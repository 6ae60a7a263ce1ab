/** Updates combined into rows: values, skipped positions, derivatives with ties and zeros, batches. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { DTypeError, ShapeError } from "../../../src/core/errors.js";
import type { Node } from "../../../src/graph/node.js";
import { type ScatterOp, scatter } from "../../../src/graph/primitives/scatter.js";
import { g } from "../../../src/graph/vocabulary.js";
import { checkBatches, checkDerivatives, fixed, given, input, numbers, valuesOf } from "../../support/node-rules.js";
import { make, stored, storedAs } from "../../support/nodes.js";

const combined =
  (op: ScatterOp) =>
  (...inputs: Node[]) =>
    g.move(scatter, inputs, { op });
const JOIN: Readonly<Record<ScatterOp, (a: number, b: number) => number>> = {
  add: (a, b) => a + b,
  mul: (a, b) => a * b,
  min: Math.min,
  max: Math.max,
};
const OPS = Object.keys(JOIN) as ScatterOp[];
const positions = fixed([5], [2, 0, 2, -1, 3]);

test("each update goes to its row, and those outside are skipped", () => {
  const [x, updates] = [input([3, 2]), input([5, 2])];
  for (const op of OPS) {
    const want = [...x.values];
    positions.values.forEach((row, k) => {
      if (row < 0 || row >= 3) return;
      for (const c of [0, 1]) want[2 * row + c] = JOIN[op](want[2 * row + c]!, updates.values[2 * k + c]!);
    });
    const [got] = valuesOf(combined(op), [x, positions, updates]);
    want.forEach((value, i) => {
      assert.ok(Math.abs(got![i]! - value) < 1e-14, op);
    });
  }
});

test("derivatives by the tensor and by the updates, and of products with zeros", () => {
  for (const op of OPS) checkDerivatives(combined(op), [input([3, 2]), positions, input([5, 2])]);
  checkDerivatives(combined("mul"), [input([3, 1], [0, 2, 3]), positions, input([5, 1], [0, 5, 0.5, 7, 11])]);
});

test("equal extremes share the cotangent", () => {
  const x = given(input([1, 1], [4]));
  const updates = given(input([3, 1], [4, 1, 4]));
  const node = combined("max")(x, given(fixed([3], [0, 0, 0])), updates);
  const [ofX, ofUpdates] = g.pullBack([node], [given(input([1, 1], [6]))], [x, updates]);
  assert.deepEqual(numbers(ofX!), [2]);
  assert.deepEqual(numbers(ofUpdates!), [2, 0, 2]);
});

test("in a batch a position outside of its member lands in nobody's rows", () => {
  for (const op of ["add", "max"] as const) checkBatches(combined(op), [input([3, 2]), positions, input([5, 2])]);
});

test("dtypes and shapes that do not fit are refused", () => {
  const at = storedAs("i32", 4);
  assert.throws(() => make(scatter, [storedAs("f16", 3, 2), at, storedAs("f16", 4, 2)], { op: "add" }), DTypeError);
  assert.throws(() => make(scatter, [stored(3, 2), at, storedAs("f64", 4, 2)], { op: "add" }), DTypeError);
  assert.throws(() => make(scatter, [storedAs("c64", 3, 2), at, storedAs("c64", 4, 2)], { op: "mul" }), DTypeError);
  assert.equal(make(scatter, [storedAs("c64", 3, 2), at, storedAs("c64", 4, 2)], { op: "add" }).dtype, "c64");
  assert.throws(() => make(scatter, [stored(3, 2), at, stored(5, 2)], { op: "add" }), ShapeError);
  assert.throws(() => make(scatter, [stored(3, 2), at, stored(4, 3)], { op: "add" }), ShapeError);
  assert.throws(() => make(scatter, [stored(3, 2), storedAs("i64", 4), stored(4, 2)], { op: "add" }), ShapeError);
});
