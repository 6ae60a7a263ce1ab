/** Calls of jitted functions: which leaves are data, and which calls share a key. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { withPrecision } from "../../src/graph/product-precision.js";
import { tensor, vmap, zeros } from "../../src/index.js";
import { takeApart, withoutStatic } from "../../src/transforms/jit-call.js";

const key = (args: readonly unknown[], fixed: readonly number[] = []) => takeApart(args, fixed, []).key;
const x = tensor([1, 2, 3], { device: "cpu" });

test("tensors and numbers are data, everything else belongs to the program", () => {
  const { kinds, leaves } = takeApart([x, { scale: 2, mode: "fast", on: true }], [], []);
  assert.deepEqual(kinds, ["tensor", "static", "static", "number"]);
  assert.deepEqual(leaves.slice(1), ["fast", true, 2]);
});

test("calls with other numbers and other values share a key; shapes, dtypes, structures and strings do not", () => {
  assert.equal(key([x, 1]), key([x.add(1), 7]));
  const keys = [
    key([x, 1]),
    key([zeros([4], { device: "cpu" }), 1]),
    key([zeros([3], { device: "cpu", dtype: "f64" }), 1]),
    key([[x], 1]),
    key([{ x }, 1]),
    key([{ y: x }, 1]),
    key([x, "1"]),
    key([x, true]),
    key([x, null]),
  ];
  assert.equal(new Set(keys).size, keys.length);
});

test("static arguments are compared by value, others by identity", () => {
  const same = (a: unknown, b: unknown) => key([a], [0]) === key([b], [0]);
  assert.ok(same({ a: [1, "b"] }, { a: [1, "b"] }));
  assert.ok(same(new Map([["a", 1]]), new Map([["a", 1]])));
  assert.ok(same(new Date(5), new Date(5)));
  assert.ok(same(new Float32Array([1, 2]), new Float32Array([1, 2])));
  assert.ok(!same(new Float32Array([0]), new Float32Array([-0])));
  assert.ok(!same(0, -0));
  assert.ok(!same(1, "1"));
  const f = () => 1;
  assert.ok(same(f, f) && !same(f, () => 1));
});

test("what cannot be looked at, or may change, is refused", () => {
  assert.throws(() => key([new WeakMap()]), /content cannot be looked at/);
  assert.throws(() => key([new Float32Array(2)]), /pass tensor\(array\)/);
  assert.throws(() => key([x], [0]), /a static argument is a tensor/);
  assert.throws(() => takeApart([x], [], [1]), /\{ donate: 1 \} of a call with 1 arguments/);
});

test("donated positions mark all leaves of their trees", () => {
  assert.deepEqual(takeApart([x, { a: x, b: x }], [], [1]).isDonated, [false, true, true]);
  assert.deepEqual(takeApart([x], [], []).isDonated, []);
});

test("a call inside another transform is traced, and the precision of products is part of a key", () => {
  assert.equal(takeApart([x], [], []).isTraced, false);
  let isTraced: boolean | undefined;
  vmap((row) => {
    isTraced = takeApart([row], [], []).isTraced;
    return row;
  })(zeros([2, 3], { device: "cpu" }));
  assert.equal(isTraced, true);
  assert.notEqual(
    withPrecision("test", "fast", () => key([x])),
    key([x]),
  );
});

test("static positions hold nothing for the tracer", () => {
  assert.deepEqual(withoutStatic([1, 2, 3], [1]), [1, null, 3]);
  const args = [1];
  assert.equal(withoutStatic(args, []), args);
});
