import assert from "node:assert/strict";
import { test } from "node:test";
import { type Tensor, tensor, tree } from "../../../src/index.js";
import { optimizers } from "../../../src/nn/index.js";
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

test("a factor of the updates is one of the rate where updates are proportional to it, and changes nothing that is kept", async () => {
  const { adam, adamw, adamax, nadam, radam, adabelief, yogi, sgd, lion, chain, clipByGlobalNorm } = optimizers;
  const params = { w: tensor([2, -1, 0.5], { device: "cpu" }), b: tensor([0], { device: "cpu" }) };
  const gradients = { w: tensor([1, -3, 0.25], { device: "cpu" }), b: tensor([-2], { device: "cpu" }) };
  const numbers = async (of: unknown) => Promise.all(tree.leaves(of).map((leaf) => leaf.array()));
  for (const optimizer of [
    adam(0.1),
    adam((step) => step.add(1).mul(0.1), { amsgrad: true }),
    adamw(0.1, { weightDecay: 0.3 }),
    adamax(),
    nadam(),
    radam(),
    adabelief(),
    yogi(),
    sgd(0.1),
    sgd(0.1, { momentum: 0.9, nesterov: true }),
    lion(0.1, { weightDecay: 0.5 }),
    chain(clipByGlobalNorm(1), adamw(0.1)),
  ]) {
    assert.ok(optimizer.takesFactor, String(optimizer));
    const first = optimizer.init(params);
    const [, state] = optimizer.update(gradients, first, params);
    const [plain, after] = optimizer.update(gradients, state, params);
    const factor = tensor(0.25, { device: "cpu" }) as Tensor;
    const [scaled, kept] = optimizer.update(gradients, state, params, { factor });
    // A quarter is exact.
    const want = tree.map((each: Tensor) => each.mul(0.25), plain);
    assert.deepEqual(await numbers(scaled), await numbers(want), String(optimizer));
    assert.deepEqual(await numbers(kept), await numbers(after), String(optimizer));
  }
  assert.ok(!chain(adam(0.1), optimizers.lookahead(sgd(0.1))).takesFactor && !optimizers.adafactor().takesFactor);
});
