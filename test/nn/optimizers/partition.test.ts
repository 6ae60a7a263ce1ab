import assert from "node:assert/strict";
import { test } from "node:test";
import { tensor, tree } from "../../../src/index.js";
import { optimizers } from "../../../src/nn/index.js";

const { partition, mask, freeze, identity, sgd, adam, clip } = optimizers;
const vector = (...values: number[]) => tensor(values, { device: "cpu" });
const params = () => ({ body: { weights: vector(1, 2), biases: vector(3) }, head: { weights: vector(4) } });

test("groups by path, or by a tree that ends early, have optimisers of their own", async () => {
  for (const labels of [
    (path: string) => (path === "body.biases" ? "slow" : path.startsWith("body") ? "fast" : "none"),
    { body: { weights: "fast", biases: "slow" }, head: "none" },
  ]) {
    const optimizer = partition(labels, { fast: sgd(1), slow: adam(0.5), none: freeze() });
    const state = optimizer.init(params());
    const [updates, next] = optimizer.update(params(), state, params());
    assert.deepEqual(await updates.body.weights.array(), [-1, -2]);
    assert.ok(Math.abs((await updates.body.biases.data())[0]! + 0.5) < 1e-6);
    assert.deepEqual(await updates.head.weights.array(), [0]);
    assert.deepEqual(Object.keys((next as never as { slow: { mean: object } }).slow.mean), ["body.biases"]);
    const { leaves, unflatten } = tree.flatten(next);
    assert.deepEqual(Object.keys(unflatten(leaves)), Object.keys(state));
  }
});

test("a masked transform leaves the others as they are", async () => {
  const transform = mask(clip(0.5), (path) => path.endsWith("weights"));
  const [updates] = transform.update(params(), transform.init(params()), params());
  assert.deepEqual(await updates.body.weights.array(), [0.5, 0.5]);
  assert.deepEqual(await updates.body.biases.array(), [3]);
  const [same] = identity().update(params(), {}, params());
  assert.deepEqual(await same.head.weights.array(), [4]);
});

test("misuse is refused by name", () => {
  assert.throws(() => partition(() => "other", { fast: sgd(1) }).init(params()), {
    name: "ArgumentError",
    message: /partition: the parameter body.biases has the label "other"; there are fast/,
  });
  assert.throws(() => partition((() => 3) as never, { fast: sgd(1) }).init(params()), {
    message: /partition: the labels gave 3 for body.biases; it gives a name/,
  });
  assert.throws(() => partition("fast", { fast: 3 as never }), { message: /partition: takes optimisers/ });
  assert.throws(() => partition("fast", null as never), { message: /partition: groups are optimisers by label/ });
  assert.throws(() => mask(clip(1), { body: true } as never).init(params()), { message: /mask/ });
});
