/** Rules that movements share: batches in front, readings without conditions. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { slice } from "../../../../src/graph/primitives/movement/arrangement.js";
import { always, batched, prepend, withBatch } from "../../../../src/graph/primitives/movement/rules.js";
import { g } from "../../../../src/graph/vocabulary.js";
import { given, input, numbers } from "../../../support/node-rules.js";

test("a batch becomes the first axis of a movement's parameters", () => {
  const x = given(input([3], [1, 2, 3]));
  const node = g.slice(x, [1], [2]);
  const rule = batched(({ start, step, shape }, size) => ({
    start: prepend(0, start),
    step: prepend(1, step),
    shape: prepend(size, shape),
  }));
  const whole = given(input([2, 3], [1, 2, 3, 4, 5, 6]));
  const made = rule(g, node, [{ node: whole, isBatched: true }], 2);
  assert.equal(made.primitive, slice);
  assert.deepEqual(made.shape, [2, 2]);
  assert.deepEqual(numbers(made), [2, 3, 5, 6]);
});

test("an input that is the same for all members is repeated", () => {
  const x = given(input([2], [1, 2]));
  assert.deepEqual(numbers(withBatch(g, { node: x, isBatched: false }, 3)), [1, 2, 1, 2, 1, 2]);
  assert.equal(withBatch(g, { node: x, isBatched: true }, 2), x);
});

test("a reading without conditions is of the first input unless told", () => {
  assert.deepEqual(always([]), { input: 0, index: [], bounds: [] });
  assert.equal(always([], 2).input, 2);
});
