/** Caches for generation: a prompt and then token after token give the outputs of the whole sequence at once. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { concat, jit, random, type Tensor, vmap } from "../../../src/index.js";
import {
  attentionCache,
  batchNorm,
  block,
  dense,
  embedding,
  type Layer,
  learnedPositions,
  multiHeadAttention,
  sequential,
  sinusoidalPositions,
  type TransformerDecoderOptions,
  transformerDecoder,
  type VariableTree,
} from "../../../src/nn/index.js";
import { assertNear } from "../../support/parameter-slopes.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";

const key = random.key(0, { device: "cpu" });

const decoderOf = (options: Partial<TransformerDecoderOptions>, positions?: Layer): Layer =>
  sequential({
    tokens: embedding(11, 8),
    ...(positions && { positions }),
    blocks: transformerDecoder(8, { heads: 4, layers: 2, hidden: 8, cross: false, ...options }),
    head: dense(11),
  }) as Layer;

const models: Readonly<Record<string, Layer>> = {
  "learned positions": decoderOf({}, learnedPositions(9)),
  "waves and shared heads": decoderOf({ keyValueHeads: 2 }, sinusoidalPositions()),
  "rotary positions, a window and norms": decoderOf({ rotary: true, window: 2, queryKeyNorm: true, norm: "rmsNorm" }),
  "linear biases and capped scores": decoderOf({ alibi: true, softcap: 1, activation: "swiglu" }),
};

describeOnTensorDevices("attentionCache", (device) => {
  const text = random.randint(random.key(3, { device }), [2, 7], 0, 11) as Tensor;
  for (const [name, model] of Object.entries(models)) {
    test(`a prompt and single tokens are the whole sequence: ${name}`, () => {
      const { params } = model.init(random.key(0, { device }), text);
      const whole = model.apply(params, text);
      const run = jit((p: VariableTree, x: Tensor, state: VariableTree) => model.applyWithState(p, x, { state }));
      let state = attentionCache(model, text, { capacity: 9, device });
      const outputs: Tensor[] = [];
      for (const [from, to] of [
        [0, 4],
        [4, 5],
        [5, 6],
        [6, 7],
      ]) {
        const [y, next] = run(params, text.at(":", `${from}:${to}`) as Tensor, state);
        outputs.push(y);
        state = next;
      }
      assertNear(numbersOf(concat(outputs, { axis: 1 })), numbersOf(whole), 2e-5);
    });
  }
});

describeOnTensorDevices("attentionCache of a memory", (device) => {
  test("keys and values of a memory are computed once; later runs read them", () => {
    const model = transformerDecoder(8, { heads: 2, layers: 2, rotary: true, hidden: 8 });
    const x = random.normal(random.key(1, { device }), [2, 5, 8]);
    const memory = random.normal(random.key(2, { device }), [2, 3, 8]);
    const { params } = model.init(random.key(0, { device }), { x, memory });
    const whole = model.apply(params, { x, memory });
    const empty = attentionCache(model, { x, memory }, { capacity: 6, device });
    const run = jit((p: VariableTree, now: Tensor, other: Tensor, state: VariableTree) =>
      model.applyWithState(p, { x: now, memory: other }, { state }),
    );
    const [first, one] = run(params, x.at(":", ":3") as Tensor, memory, empty);
    const [second, two] = run(params, x.at(":", "3:4") as Tensor, memory, one);
    // The memory's tokens are not looked at again.
    const [third] = run(params, x.at(":", "4:5") as Tensor, memory.mul(Number.NaN) as Tensor, two);
    assertNear(numbersOf(concat([first, second, third], { axis: 1 })), numbersOf(whole), 2e-5);
  });

  test("queries that look at a memory by rotary positions count on", () => {
    const model = multiHeadAttention(2, { headSize: 4, rotary: true, alibi: true });
    const x = random.normal(random.key(1, { device }), [1, 4, 8]);
    const memory = random.normal(random.key(2, { device }), [1, 3, 6]);
    const { params } = model.init(random.key(0, { device }), { x, memory });
    const state = attentionCache(model, { x, memory }, { capacity: 4, device });
    const [a, next] = model.applyWithState(params, { x: x.at(":", ":2") as Tensor, memory }, { state });
    const [b] = model.applyWithState(params, { x: x.at(":", "2:") as Tensor, memory }, { state: next });
    assertNear(numbersOf(concat([a, b], { axis: 1 })), numbersOf(model.apply(params, { x, memory })), 1e-5);
  });
});

test("a cache is state by the paths of layers, keys turned and of shared heads, in the dtype of the arithmetic", () => {
  const model = multiHeadAttention(4, { headSize: 2, keyValueHeads: 2 });
  const cache = attentionCache(model.withDTypes({ compute: "bf16" }), [3, 1, 8], { capacity: 5, device: "cpu" })
    .cache as VariableTree;
  assert.deepEqual(Object.keys(cache), ["length", "keys", "values"]);
  assert.deepEqual([cache.keys!.shape, cache.keys!.dtype, cache.length!.dtype], [[3, 2, 5, 2], "bf16", "i32"]);
  assert.deepEqual(numbersOf(cache.length as Tensor), [0]);
  const mixed = sequential({ norm: batchNorm(), attention: model });
  const input = random.normal(key, [1, 2, 8]);
  const { params, state } = mixed.init(key, input);
  assert.deepEqual(Object.keys(state), ["norm"]);
  const caches = attentionCache(mixed, input, { capacity: 4, device: "cpu" });
  assert.deepEqual(Object.keys(caches), ["attention"]);
  const [, next] = mixed.applyWithState(params, input, { state: { ...state, ...caches } });
  assert.deepEqual(Object.keys(next).sort(), ["attention", "norm"]);
  assert.deepEqual(numbersOf((next.attention as { cache: { length: Tensor } }).cache.length), [2]);
});

test("not causal, tokens see those before and beside them; padding is hidden by a mask over the cache", () => {
  const model = multiHeadAttention(2, { headSize: 4 });
  const x = random.normal(key, [1, 4, 8]);
  const { params } = model.init(key, x);
  const empty = attentionCache(model, x, { capacity: 6, device: "cpu" });
  const [first, state] = model.applyWithState(params, x.at(":", ":3"), { state: empty });
  const [last] = model.applyWithState(params, x.at(":", "3:"), { state });
  assertNear(numbersOf(first), numbersOf(model.apply(params, x.at(":", ":3"))), 1e-6);
  assertNear(numbersOf(last), numbersOf(model.apply(params, x).at(":", 3)), 1e-6);
  const mask = random.normal(key, [1, 6]).mul(0).add(1).greater(0).set(0, 0, false) as Tensor;
  const [masked] = model.applyWithState(params, { x: x.at(":", "3:") as Tensor, mask }, { state });
  const wanted = model.apply(params, { x, mask: mask.at(":", ":4") as Tensor }).at(":", 3);
  assertNear(numbersOf(masked), numbersOf(wanted), 1e-6);
});

test("examples of different lengths go by vmap, each with a cache of its own", () => {
  const model = multiHeadAttention(2, { headSize: 4, causal: true, rotary: true });
  const x = random.normal(key, [2, 4, 8]);
  const { params } = model.init(key, x);
  const one = (state: VariableTree, input: Tensor) => model.applyWithState(params, input, { state });
  const empty = attentionCache(model, [1, 8], { capacity: 4, device: "cpu" });
  const a = one(empty, x.at(0, ":3") as Tensor)[1];
  const b = one(empty, x.at(1, ":1") as Tensor)[1];
  const both = {
    cache: Object.fromEntries(
      Object.entries(a.cache as VariableTree).map(([name, value]) => [
        name,
        joined(value as Tensor, (b.cache as VariableTree)[name] as Tensor),
      ]),
    ),
  };
  const now = concat([x.at("0:1", 3), x.at("1:2", 1)], { axis: 0 }).expandDims(1);
  const [y] = vmap(one)(both, now);
  assertNear(numbersOf(y.at(0)), numbersOf(model.apply(params, x.at(0)).at(3)), 1e-6);
  assertNear(numbersOf(y.at(1)), numbersOf(model.apply(params, x.at(1)).at(1)), 1e-6);
});

const joined = (a: Tensor, b: Tensor): Tensor => concat([a.expandDims(0), b.expandDims(0)], { axis: 0 });

test("beyond the capacity outputs are NaN, and a prompt that cannot fit is refused", () => {
  const model = multiHeadAttention(1, { headSize: 2, causal: true });
  const x = random.normal(key, [1, 2, 2]);
  const { params } = model.init(key, x);
  const [, state] = model.applyWithState(params, x, {
    state: attentionCache(model, x, { capacity: 3, device: "cpu" }),
  });
  const [y] = model.applyWithState(params, x, { state });
  assert.ok(numbersOf(y).every(Number.isNaN));
  const small = attentionCache(model, x.at(":", ":1"), { capacity: 1, device: "cpu" });
  assert.throws(() => model.applyWithState(params, x, { state: small }), {
    name: "ShapeError",
    message: /2 tokens for a cache of 1/,
  });
  const table = learnedPositions(2);
  const { params: own } = table.init(key, x);
  const [, behind] = table.applyWithState(own, x, { state: attentionCache(table, x, { capacity: 9, device: "cpu" }) });
  assert.ok(numbersOf(table.applyWithState(own, x, { state: behind })[0]).every(Number.isNaN));
});

test("wrong uses are refused by name", () => {
  const attend = multiHeadAttention(1, { headSize: 2 });
  const x = random.normal(key, [1, 2, 2]);
  assert.throws(() => attentionCache(dense(2) as never, [1, 2], { capacity: 4 }), {
    message: /the model dense has no layers of attention/,
  });
  assert.throws(() => attentionCache(attend, x, { capacity: 0 }), {
    message: /attentionCache: the capacity is a whole number/,
  });
  const { params } = attend.init(key, x);
  const cache = attentionCache(attend, random.normal(key, [2, 1, 2]), { capacity: 4, device: "cpu" });
  assert.throws(() => attend.apply(params, x, { state: cache }), {
    message: /its state "keys" has shape \[2, 1, 4, 2\], but this input needs \[1, 1, 4, 2\]/,
  });
  const twice = block({ attend }, (parts, input: Tensor) => parts.attend(parts.attend(input)));
  assert.throws(() => attentionCache(twice, x, { capacity: 4, device: "cpu" }), {
    message: /multiHeadAttention "attend" is called twice/,
  });
});
