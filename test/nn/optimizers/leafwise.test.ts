import assert from "node:assert/strict";
import { test } from "node:test";
import { type Tensor, tensor } from "../../../src/index.js";
import { leafwise, zerosFor } from "../../../src/nn/optimizers/leafwise.js";

const sums = leafwise("sums", {
  rate: (step) => step.add(10),
  slots: { sum: zerosFor },
  scalars: { product: { first: 1, next: (before, count) => before.mul(count) } },
  shared: ({ count, rate, kept }) => (rate as Tensor).add(count).mul(kept.product as Tensor),
  rule(g, { sum }, factor, { param }) {
    const next = sum.add(g);
    return [next.mul(factor).add(param), { sum: next }];
  },
});

test("a rule sees widened tensors, the count from 1, the rate of steps from 0, and scalars that are kept", async () => {
  const params = { n: tensor([1], { dtype: "bf16", device: "cpu" }), w: tensor([2], { dtype: "f64", device: "cpu" }) };
  const state = sums.init(params) as never as Record<string, Tensor> & { sum: typeof params };
  assert.deepEqual([state.count!.dtype, state.product!.dtype, state.sum.n.dtype], ["i32", "f64", "f32"]);
  const [first, next] = sums.update(params, state, params);
  // sum = g, factor = (10 + 1) · 1
  assert.deepEqual([await first.n.array(), await first.w.array()], [[12], [24]]);
  assert.deepEqual([first.n.dtype, first.w.dtype], ["f32", "f64"]);
  const [second, last] = sums.update(params, next, params) as never as [typeof params, typeof state];
  // sum = 2 g, factor = (11 + 2) · 2
  assert.deepEqual([await second.n.array(), await second.w.array()], [[53], [106]]);
  assert.deepEqual([last.sum.n.dtype, last.sum.w.dtype, await last.count!.item()], ["f32", "f64", 2]);
});

test("a tree without parameters has a state and an update", () => {
  assert.deepEqual(Object.keys(sums.init({})), ["count", "product", "sum"]);
  assert.deepEqual(sums.update({}, sums.init({}), {})[0], {});
});
