/** Multi-head attention: numbers against PyTorch by sequence-cases.json; shared heads, positions, windows, caps, dropout and errors here. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { concat, grad, jit, random, type Tensor, tensor, tree, vmap } from "../../../src/index.js";
import {
  alibiSlopes,
  dense,
  type Layer,
  lora,
  type MultiHeadAttentionOptions,
  multiHeadAttention,
  rotary,
  summary,
  type VariableTree,
} from "../../../src/nn/index.js";
import { describeLayerCases } from "../../support/layer-cases.js";
import { assertNear, assertSlopes } from "../../support/parameter-slopes.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";

describeLayerCases("multiHeadAttention");

const key = random.key(0, { device: "cpu" });

type Row = readonly number[];
const dot = (a: Row, b: Row): number => a.reduce((sum, value, i) => sum + value * b[i]!, 0);

/** Attention written plainly: `sees` and `bias` by head, query and key. */
async function plainly(
  parts: { q: Tensor; k: Tensor; v: Tensor },
  rule: {
    sees?: (query: number, other: number, example: number) => boolean;
    bias?: (head: number, query: number, other: number) => number;
    cap?: number;
  },
): Promise<number[]> {
  const [q, k, v] = (await Promise.all([parts.q, parts.k, parts.v].map((x) => x.array()))) as number[][][][][];
  const { sees = () => true, bias = () => 0, cap } = rule;
  return q!.flatMap((heads, example) =>
    heads[0]!.flatMap((_, i) =>
      heads.flatMap((rows, h) => {
        const shared = Math.floor((h * k![example]!.length) / heads.length);
        const [keys, values] = [k![example]![shared]!, v![example]![shared]!];
        const weights = keys.map((other, j) => {
          if (!sees(i, j, example)) return 0;
          const score = dot(rows[i]!, other) / Math.sqrt(other.length);
          return Math.exp((cap === undefined ? score : cap * Math.tanh(score / cap)) + bias(h, i, j));
        });
        const sum = weights.reduce((a, b) => a + b, 0);
        return values[0]!.map((_, d) =>
          sum === 0 ? 0 : weights.reduce((all, w, j) => all + w * values[j]![d]!, 0) / sum,
        );
      }),
    ),
  );
}

/** Queries, keys and values of a layer, [batch, heads, tokens, size], by its dense parts. */
function projected(params: VariableTree, x: Tensor, size: number): { q: Tensor; k: Tensor; v: Tensor } {
  const one = (name: string): Tensor => {
    const { weights, biases } = params[name] as Record<string, Tensor>;
    const z = x.matmul(weights!).add(biases!);
    return z.reshape([x.shape[0]!, x.shape[1]!, -1, size]).moveAxis(2, 1);
  };
  return { q: one("query"), k: one("key"), v: one("value") };
}

describeOnTensorDevices("multiHeadAttention", (device) => {
  const x = random.normal(random.key(1, { device }), [2, 5, 12]);

  /** A layer without its last product, so that heads can be compared. */
  const headsOf = (options: MultiHeadAttentionOptions & { heads?: number }) => {
    const { heads = 4, ...own } = options;
    const model = multiHeadAttention(heads, own).replace("output", dense(heads * own.headSize) as never);
    const made = model.init(random.key(0, { device }), x).params;
    const width = heads * own.headSize;
    const one = tensor(
      Array.from({ length: width * width }, (_, i) => (i % (width + 1) === 0 ? 1 : 0)),
      { shape: [width, width], device },
    );
    const params = { ...made, output: { weights: one, biases: one.at(0).mul(0) } } as VariableTree;
    return { model, params };
  };
  const mask = tensor([true, true, false, true, false, false, false, false, false, false], { shape: [2, 5], device });
  const seen = (example: number, j: number): boolean => example === 0 && (j < 2 || j === 3);

  test("heads that share keys and values; masks of keys, of queries and keys, of heads; a query without keys gives zeros", async () => {
    const { model, params } = headsOf({ headSize: 3, keyValueHeads: 2 });
    assert.deepEqual((params.key as VariableTree).weights!.shape, [12, 6]);
    const parts = projected(params, x, 3);
    assertNear(numbersOf(model.apply(params, x)), await plainly(parts, {}), 1e-5, "all");
    const wanted = await plainly(parts, { sees: (_, j, example) => seen(example, j) });
    assertNear(numbersOf(model.apply(params, { x, mask })), wanted, 1e-5, "keys");
    const full = mask.expandDims(1).broadcastTo([2, 5, 5]) as Tensor;
    assertNear(numbersOf(model.apply(params, { x, mask: full })), wanted, 1e-5, "queries and keys");
    const whole = full.expandDims(1).broadcastTo([2, 4, 5, 5]) as Tensor;
    assertNear(numbersOf(model.apply(params, { x, mask: whole })), wanted, 1e-5, "heads");
    const zeros = numbersOf(model.apply(params, { x, mask }).at(1));
    assert.ok(zeros.every((value) => value === 0));
  });

  test("causal, windows, linear biases and a bias of one's own", async () => {
    const causal = headsOf({ headSize: 3, causal: true, window: 2 });
    const parts = projected(causal.params, x, 3);
    assertNear(
      numbersOf(causal.model.apply(causal.params, x)),
      await plainly(parts, { sees: (i, j) => j <= i && i - j <= 2 }),
      1e-5,
    );
    const { model } = headsOf({ headSize: 3, alibi: true });
    const slopes = alibiSlopes(4);
    const alibi = (h: number, i: number, j: number) => -slopes[h]! * Math.abs(i - j);
    assertNear(numbersOf(model.apply(causal.params, x)), await plainly(parts, { bias: alibi }), 1e-5, "alibi");
    const forward = headsOf({ headSize: 3, alibi: true, causal: true }).model;
    const past = await plainly(parts, { sees: (i, j) => j <= i, bias: alibi });
    assertNear(numbersOf(forward.apply(causal.params, x)), past, 1e-5, "causal alibi");
    const bias = random.normal(random.key(7, { device }), [1, 1, 5, 5]);
    const added = (await bias.array()) as number[][][][];
    const both = (h: number, i: number, j: number) => alibi(h, i, j) + added[0]![0]![i]![j]!;
    assertNear(numbersOf(model.apply(causal.params, { x, bias })), await plainly(parts, { bias: both }), 1e-5, "bias");
  });

  test("rotary positions turn queries and keys; norms bring them to mean square 1; a cap bends scores", async () => {
    const { model, params } = headsOf({
      headSize: 4,
      rotary: { base: 100, fraction: 0.5 },
      queryKeyNorm: true,
      softcap: 0.5,
      causal: true,
    });
    const { q, k, v } = projected(params, x, 4);
    const places = tensor([0, 1, 2, 3, 4], { dtype: "i32", device }) as Tensor;
    const norm = (y: Tensor): Tensor => y.div(y.square().mean({ axis: -1, keepDims: true }).add(1e-6).sqrt());
    const turn = (y: Tensor): Tensor => rotary(norm(y), places, { base: 100, fraction: 0.5 });
    const wanted = await plainly({ q: turn(q), k: turn(k), v }, { sees: (i, j) => j <= i, cap: 0.5 });
    assertNear(numbersOf(model.apply(params, x)), wanted, 2e-5);
    const { params: made } = multiHeadAttention(4, { headSize: 4, queryKeyNorm: true }).init(
      random.key(0, { device }),
      x,
    );
    assert.deepEqual(Object.keys(made), ["query", "queryNorm", "key", "keyNorm", "value", "output"]);
  });

  test("a memory of other features, queries apart from keys, without a batch, jitted and vectorised", () => {
    const memory = random.normal(random.key(2, { device }), [2, 3, 7]);
    const model = multiHeadAttention(2, { headSize: 4, outputs: 6 });
    const { params } = model.init(random.key(0, { device }), { x, memory });
    const y = model.apply(params, { x, memory });
    assert.deepEqual(y.shape, [2, 5, 6]);
    const wanted = numbersOf(y);
    assertNear(numbersOf(model.apply(params, { query: x, key: memory, value: memory })), wanted, 1e-6);
    assertNear(
      numbersOf(jit((p: VariableTree, a: Tensor, b: Tensor) => model.apply(p, { x: a, memory: b }))(params, x, memory)),
      wanted,
      1e-6,
    );
    const each = vmap((a: Tensor, b: Tensor) => model.apply(params, { x: a, memory: b }))(x, memory);
    assertNear(numbersOf(each), wanted, 1e-6);
  });

  test("one product for queries, keys and values gives what three give", () => {
    const options = { headSize: 3, keyValueHeads: 2, causal: true, rotary: true };
    const three = multiHeadAttention(4, options);
    const { params } = three.init(random.key(0, { device }), x);
    const joined = (name: string) =>
      concat(
        ["query", "key", "value"].map((part) => (params[part] as VariableTree)[name] as Tensor),
        { axis: -1 },
      );
    const one = multiHeadAttention(4, { ...options, fused: true });
    const projection = { weights: joined("weights"), biases: joined("biases") };
    assert.deepEqual(Object.keys(one.init(random.key(0, { device }), x).params), ["projection", "output"]);
    const wanted = numbersOf(three.apply(params, x));
    assertNear(numbersOf(one.apply({ projection, output: params.output as VariableTree }, x)), wanted, 1e-5);
    assert.throws(() => one.init(key, { x, memory: x }), {
      message: /with \{ fused: true \} tokens look at each other only/,
    });
  });

  test("bf16 by the policy", () => {
    const model = multiHeadAttention(2, { headSize: 8, causal: true, rotary: true });
    const { params } = model.init(random.key(0, { device }), x);
    const narrow = model.withDTypes({ compute: "bf16" }).apply(params, x);
    assert.equal(narrow.dtype, "bf16");
    assertNear(numbersOf(narrow), numbersOf(model.apply(params, x)), 0.05);
  });
});

test("gradients of options that PyTorch lacks are those of differences", () => {
  const x = random.normal(key, [2, 4, 6], { dtype: "f64" });
  const mask = tensor([true, true, false, true, false, false, false, false], { shape: [2, 4], device: "cpu" });
  const choices: readonly MultiHeadAttentionOptions[] = [
    { headSize: 2, keyValueHeads: 1, rotary: true, causal: true },
    { headSize: 2, alibi: true, queryKeyNorm: true, window: 1 },
    { headSize: 2, softcap: 2 },
  ];
  for (const options of choices) {
    const model = multiHeadAttention(2, options).withDTypes({ parameters: "f64" });
    const { params } = model.init(key, x);
    assertSlopes((p) => model.apply(p, { x, mask }).square().sum(), params);
  }
});

test("dropout of weights needs a key while training, keeps the mean, and hides what the mask hides", () => {
  const x = random.normal(key, [64, 6, 4]);
  const model = multiHeadAttention(2, { headSize: 2, dropout: 0.3, causal: true });
  const { params } = model.init(key, x);
  const plain = multiHeadAttention(2, { headSize: 2, causal: true }).apply(params, x);
  assertNear(numbersOf(model.apply(params, x)), numbersOf(plain), 1e-6);
  assert.throws(() => model.apply(params, x, { training: true }), {
    message: /multiHeadAttention: dropout needs random numbers/,
  });
  const draws = Array.from(
    { length: 40 },
    (_, i) =>
      numbersOf(
        model
          .apply(params, x, { training: true, key: random.key(i, { device: "cpu" }) })
          .sub(plain)
          .mean(),
      )[0]!,
  );
  const mean = draws.reduce((a, b) => a + b, 0) / 40;
  const deviation = Math.sqrt(draws.reduce((a, b) => a + (b - mean) ** 2, 0) / 39 / 40);
  assert.ok(Math.abs(mean) < 4 * deviation, `${mean} with a standard error of ${deviation}`);
  const changed = x.set(":", 5, 1);
  const at = (input: Tensor) => numbersOf(model.apply(params, input, { training: true, key }).at(":", ":5"));
  assertNear(at(changed), at(x), 1e-6, "a causal mask holds");
});

test("the products are parts: LoRA, freezing, summaries", () => {
  const model = multiHeadAttention(2, { headSize: 4, keyValueHeads: 1, useBias: false });
  const table = summary(model, [3, 5, 8]);
  assert.equal(table.parameters, 8 * 8 + 8 * 4 * 2 + 8 * 8);
  assert.equal(table.multiplyAdds, 15 * (64 + 64 + 64) + 3 * 2 * 25 * 2 * 4);
  const adapted = model.replace("query", (layer) => lora(layer as unknown as Layer, { rank: 2 }) as never);
  const x = random.normal(key, [1, 3, 8]);
  const { params } = adapted.init(key, x);
  const slopes = grad((p: VariableTree) => adapted.apply(p, x).sum())(params);
  const { base, up } = slopes.query as { base: VariableTree; up: Tensor };
  assert.ok(tree.leaves(base).every((leaf) => numbersOf(leaf).every((value) => value === 0)));
  assert.ok(numbersOf(up).some((value) => value !== 0));
});

test("wrong arguments are refused by name", () => {
  const x = random.normal(key, [2, 3, 4]);
  const model = multiHeadAttention(2, { headSize: 2 });
  const { params } = model.init(key, x);
  const run = (input: unknown) => () => model.apply(params, input as Tensor);
  assert.throws(() => multiHeadAttention(2, {} as never), {
    message: /multiHeadAttention: the option headSize is a whole number/,
  });
  assert.throws(() => multiHeadAttention(3, { headSize: 2, keyValueHeads: 2 }), { message: /3 heads cannot share 2/ });
  assert.throws(() => multiHeadAttention(2, { headSize: 2, softcap: 0 }), { message: /softcap is a positive number/ });
  assert.throws(() => multiHeadAttention(2, { headSize: 2, window: -1 }), {
    message: /the option window counts tokens/,
  });
  assert.throws(() => multiHeadAttention(2, { headSize: 2, rotary: 3 as never }), {
    message: /the option rotary is true or its options/,
  });
  assert.throws(() => multiHeadAttention(2, { headSize: 2, dropout: 2 }), {
    message: /multiHeadAttention: the rate is a probability/,
  });
  assert.throws(run({ x, keys: x }), { message: /the input's keys is a tensor; it takes/ });
  assert.throws(run({ query: x }), { message: /the input has query; it takes/ });
  assert.throws(run({ x, memory: x.at(0) }), { name: "ShapeError", message: /queries \[2, 3, 4\], keys \[3, 4\]/ });
  assert.throws(run({ x, mask: x.at("...", 0) }), { name: "DTypeError", message: /the mask takes bools/ });
  assert.throws(run({ x, mask: x.at(0, 0).greater(0) }), { message: /a mask of \[4\]; it is \[batch, keys\]/ });
  assert.throws(run({ x, mask: x.at(":", ":2", 0).greater(0) }), { message: /does not broadcast to the scores/ });
});
