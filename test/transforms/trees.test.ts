/** Trees as transforms take them apart: tensors alone, or any leaf that hides no tensor. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { tensor } from "../../src/index.js";
import { flattenAny, flattenTensors, unflatten } from "../../src/transforms/trees.js";

const [a, b] = [tensor([1], { device: "cpu" }), tensor([2], { device: "cpu" })];

test("tensors in the order of sorted keys, and others in their place", () => {
  const { leaves, structure } = flattenTensors({ second: b, first: [a] }, "test");
  assert.deepEqual(leaves, [a, b]);
  assert.deepEqual(unflatten(structure, [b, a]), { second: a, first: [b] });
  assert.throws(() => flattenTensors({ a, name: "x" }, "test"), /test/);
});

test("any value but nothing is a leaf", () => {
  assert.deepEqual(flattenAny([a, 1, "x", true, new Date(3)], "test").leaves, [a, 1, "x", true, new Date(3)]);
  assert.deepEqual(flattenAny([null, []], "test").leaves, [], "nothing has no leaves");
});

test("an object that is no tree and hides a tensor is refused, however deep it lies", () => {
  class Holder {
    constructor(readonly content: unknown) {}
  }
  const circle: { self?: unknown; inner: unknown } = { inner: new Map([["key", [a]]]) };
  circle.self = circle;
  for (const hidden of [new Holder(a), new Holder([a]), new Set([a]), new Map([[a, 1]]), new Holder(circle)]) {
    assert.throws(() => flattenAny([hidden], "test"), /test/);
  }
  assert.equal(flattenAny([new Holder(new Float32Array(4))], "test").leaves.length, 1);
});

test("getters are not run while a tensor is looked for", () => {
  class Lazy {
    get value(): unknown {
      throw new Error("was run");
    }
  }
  assert.equal(flattenAny([new Lazy()], "test").leaves.length, 1);
});
