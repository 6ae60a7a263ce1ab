import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { jit, random, type Tensor, tensor, tree } from "../../../src/index.js";
import { optimizers } from "../../../src/nn/index.js";
import { loss, type Params, paramsOn } from "./trajectories.js";

const { chain, applyUpdates, adam, adamw, sgd, clipByGlobalNorm, emaOfWeights, lookahead } = optimizers;
const vector = (...values: number[]) => tensor(values, { device: "cpu" });

test("transforms of a chain run in order, each with its state", async () => {
  const params = { w: vector(1) };
  const chained = chain(optimizers.scale(3), optimizers.clip(2), sgd(1));
  const [updates] = chained.update({ w: vector(5) }, chained.init(params), params);
  assert.deepEqual(await updates.w.array(), [-2]);
  const turned = chain(optimizers.clip(2), optimizers.scale(3), sgd(1));
  assert.deepEqual(await turned.update({ w: vector(5) }, turned.init(params), params)[0].w.array(), [-6]);
  assert.deepEqual(Object.keys(chain(adam(), sgd(1)).init(params)), ["0", "1"]);
});

test("updates are added in f32 and rounded once to the dtype of the parameter", async () => {
  const params = { w: tensor([256], { dtype: "bf16", device: "cpu" }) };
  const moved = applyUpdates(params, { w: vector(1.5) } as never);
  assert.equal(moved.w.dtype, "bf16");
  assert.deepEqual(await moved.w.cast("f32").array(), [258]);
});

test("a step goes on from a state that was taken apart and put together: the same bits", async () => {
  const optimizer = chain(clipByGlobalNorm(1), lookahead(adamw(0.1), { every: 2 }), emaOfWeights());
  let [a, b] = [paramsOn("cpu", "f32"), paramsOn("cpu", "f32")];
  let [first, second] = [optimizer.init(a), optimizer.init(b)];
  for (let i = 0; i < 3; i++) {
    const [ua, na] = optimizer.update(a, first, a);
    [a, first] = [applyUpdates(a, ua), na];
    const { leaves, unflatten } = tree.flatten(second);
    const copies = await Promise.all(
      leaves.map(async (leaf) => tensor(await leaf.data(), { dtype: leaf.dtype, device: "cpu" }).reshape(leaf.shape)),
    );
    const [ub, nb] = optimizer.update(b, unflatten(copies as Tensor[]), b);
    [b, second] = [applyUpdates(b, ub), nb];
  }
  for (const name of ["w", "b", "x"] as const) assert.deepEqual(await a[name].data(), await b[name].data());
});

test("the update of a parameter is one kernel, and scalars are computed once for all", () => {
  const optimizer = adamw(1e-3);
  const params = paramsOn("cpu", "f32");
  const gradients = paramsOn("cpu", "f32");
  const state = optimizer.init(params);
  const step = jit((p: Params<Tensor>, s: typeof state, g: Params<Tensor>): [typeof p, typeof state] => {
    const [updates, next] = optimizer.update(g, s, p);
    return [applyUpdates(p, updates), next];
  });
  const kernels = String(step.lower(params, state, gradients)).match(/^\d+\. .*/gm) ?? [];
  // One for the scalars, and one for each shape.
  assert.equal(kernels.length, 4, kernels.join("\n"));
});

test("misuse is refused by name", async () => {
  const params = { a: vector(1, 2), b: vector(3) };
  const state = adam().init(params);
  assert.throws(() => adam().init({ a: tensor([1], { dtype: "i32", device: "cpu" }) }), {
    name: "DTypeError",
    message: /adam: the parameter a is i32/,
  });
  assert.throws(() => adam().update({ a: vector(1), b: vector(3) }, state, params), {
    name: "ShapeError",
    message: /adam: the gradients have shape \[1\] at a, the parameter \[2\]/,
  });
  assert.throws(() => adam().update({ a: vector(1, 2) } as never, state, params), { message: /adam, the gradients/ });
  assert.throws(() => adam().update(params, {}, params), {
    message: /adam: the state has no "mean"; give the state that init/,
  });
  assert.throws(() => adam().update(params, adam().init({ a: vector(1), b: vector(3) }), params), {
    message: /adam: "mean" of the state have shape \[1\] at a/,
  });
  assert.throws(() => applyUpdates(params, { a: vector(1), b: vector(3) }), {
    message: /applyUpdates: the updates have shape/,
  });
  assert.throws(() => chain(sgd(1), 3 as never), { message: /chain: takes optimisers.*not 3/ });
  assert.throws(() => chain(sgd(1), sgd(1)).update(params, sgd(1).init(params), params), {
    message: /chain: the state has no "0"/,
  });
  assert.ok((await loss(paramsOn("cpu", "f32")).item()) > 0);
});

test("an update without parameters says that it needs them", () => {
  const params = { w: tensor([1, 2], { device: "cpu" }) };
  const optimizer = optimizers.adamw(0.1);
  const update = optimizer.update as (...given: unknown[]) => unknown;
  assert.throws(() => update(params, optimizer.init(params)), {
    name: "ArgumentError",
    message: /^adamw: the parameters are undefined; write .*update\(gradients, state, params\)/,
  });
});

test("optimisers print as they were made", () => {
  const own = { init: () => ({}), update: (gradients: never, state: never) => [gradients, state] } as never;
  assert.equal(String(adam(1e-3)), "adam(0.001)");
  assert.equal(inspect(chain(clipByGlobalNorm(1), own, sgd(0.1))), "chain(clipByGlobalNorm(1), a transform, sgd(0.1))");
  const { accumulate, addNoise, freeze, identity, lossScale, mask, masterWeights } = optimizers;
  const { partition, scaleByPlateau } = optimizers;
  const texts = {
    "accumulate(sgd(0.1), 4)": accumulate(sgd(0.1), 4),
    "addNoise(a key, eta: 0.5)": addNoise(random.key(0), { eta: 0.5 }),
    "emaOfWeights()": emaOfWeights(),
    "emaOfWeights(decay: 0.5)": emaOfWeights({ decay: 0.5 }),
    "lookahead(sgd(0.1), every: 3)": lookahead(sgd(0.1), { every: 3 }),
    "lossScale(masterWeights(sgd(0.1)), initial: 8)": lossScale(masterWeights(sgd(0.1)), { initial: 8 }),
    "mask(sgd(0.1))": mask(sgd(0.1), true),
    "partition({ a: freeze(), b: identity() })": partition(() => "a", { a: freeze(), b: identity() }),
    "scaleByPlateau(factor: 0.5)": scaleByPlateau({ factor: 0.5 }),
  };
  for (const [text, optimizer] of Object.entries(texts)) assert.equal(String(optimizer), text);
  assert.deepEqual(Object.keys(adam()), ["init", "update"]);
});
