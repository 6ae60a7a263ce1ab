/** Transformers: numbers against PyTorch by sequence-cases.json; gates, norms, dropout, experts, memory, options and errors here. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { grad, jit, random, type Tensor, tree } from "../../../src/index.js";
import {
  auxiliaryLoss,
  decoderBlock,
  encoderBlock,
  feedForward,
  layerNorm,
  summary,
  transformerDecoder,
  transformerEncoder,
  type VariableTree,
} from "../../../src/nn/index.js";
import { describeLayerCases } from "../../support/layer-cases.js";
import { assertNear, assertSlopes } from "../../support/parameter-slopes.js";
import { numbersOf } from "../../support/tensors.js";

describeLayerCases("encoderBlock", "decoderBlock", "transformerEncoder");

const key = random.key(0, { device: "cpu" });
const x = random.normal(key, [2, 4, 6]);
const sigmoid = (v: number): number => 1 / (1 + Math.exp(-v));

test("feed-forward parts with a gate are down(f(gate) · up)", async () => {
  const gates = { swiglu: (v: number) => v * sigmoid(v), reglu: (v: number) => Math.max(0, v), glu: sigmoid } as const;
  for (const [activation, curve] of Object.entries(gates)) {
    const model = feedForward(6, 5, { activation: activation as "glu", useBias: false });
    const { params } = model.init(key, x);
    assert.deepEqual(Object.keys(params), ["up", "gate", "down"]);
    const [up, gate] = ["up", "gate"].map((name) => x.matmul((params[name] as VariableTree).weights as Tensor));
    const open = numbersOf(gate!).map(curve);
    const between = numbersOf(up!).map((value, i) => value * open[i]!);
    const result = numbersOf(model.apply(params, x));
    const down = (await ((params.down as VariableTree).weights as Tensor).array()) as number[][];
    for (let row = 0; row < 8; row++) {
      for (let j = 0; j < 6; j++) {
        const sum = down.reduce((all, weights, i) => all + between[5 * row + i]! * weights[j]!, 0);
        assert.ok(Math.abs(result[6 * row + j]! - sum) < 1e-5, activation);
      }
    }
  }
});

test("a block is the sum of its parts, with norms before them or after", () => {
  for (const preNorm of [true, false]) {
    const model = encoderBlock(6, { heads: 2, hidden: 8, norm: "rmsNorm", preNorm, causal: true, rotary: true });
    const { params } = model.init(key, x);
    const part = (name: string, input: Tensor): Tensor =>
      (model.at(name) as unknown as typeof model).apply(params[name] as VariableTree, input);
    const plus = (sum: Tensor, name: string): Tensor =>
      preNorm ? sum.add(part(name, part(`${name}Norm`, sum))) : part(`${name}Norm`, sum.add(part(name, sum)));
    assertNear(numbersOf(model.apply(params, x)), numbersOf(plus(plus(x, "attention"), "feedForward")), 1e-5);
  }
});

test("the memory's attention has neither order nor positions; rotary, windows and causality are for tokens", () => {
  const model = decoderBlock(6, { heads: 2, rotary: true, alibi: true, window: 1, queryKeyNorm: true });
  const cross = model.at("crossAttention").options;
  assert.deepEqual(
    [cross.rotary, cross.alibi, cross.window, cross.causal, cross.queryKeyNorm],
    [undefined, undefined, undefined, undefined, true],
  );
  const own = model.at("attention").options;
  assert.deepEqual([own.rotary, own.alibi, own.window, own.causal], [true, true, 1, true]);
  const memory = random.normal(random.key(4, { device: "cpu" }), [2, 3, 6]);
  const { params } = model.init(key, { x, memory });
  assertNear(
    numbersOf(model.apply(params, { x, memory: memory.flip(1) })),
    numbersOf(model.apply(params, { x, memory })),
    1e-5,
  );
});

test("a decoder without memory is causal; gradients of a stack with experts are those of differences", () => {
  const model = transformerDecoder(4, {
    heads: 2,
    layers: 2,
    hidden: 3,
    cross: false,
    experts: { count: 3, top: 2 },
    norm: "rmsNorm",
  });
  const wide = model.withDTypes({ parameters: "f64" });
  const tokens = random.normal(key, [1, 4, 4], { dtype: "f64" });
  const { params, state } = wide.init(key, tokens);
  const changed = tokens.set(0, 3, 5) as Tensor;
  assertNear(
    numbersOf(wide.apply(params, changed).at(0, ":3")),
    numbersOf(wide.apply(params, tokens).at(0, ":3")),
    1e-12,
  );
  const loss = (p: VariableTree): Tensor => {
    const [y, next] = wide.applyWithState(p, tokens, { state, training: true });
    return y.square().sum().add(auxiliaryLoss(next));
  };
  assertSlopes(loss, params, 1e-6);
});

test("dropout drops while training, in all places; attention weights have a rate of their own", () => {
  const model = encoderBlock(6, { heads: 2, dropout: 0.5, attentionDropout: 0.2 });
  const { params } = model.init(key, x);
  assert.equal(model.at("attention").options.dropout, 0.2);
  assert.equal(model.at("feedForward").options.dropout, 0.5);
  const plain = numbersOf(encoderBlock(6, { heads: 2 }).apply(params, x));
  assertNear(numbersOf(model.apply(params, x)), plain, 1e-6);
  const [a, b, c] = [1, 1, 2].map((seed) =>
    numbersOf(model.apply(params, x, { training: true, key: random.key(seed, { device: "cpu" }) })),
  );
  assert.deepEqual(a, b);
  assert.notDeepEqual(a, c);
  assert.throws(() => model.apply(params, x, { training: true }), { message: /dropout needs random numbers/ });
});

test("summaries, jit, bf16, freezing and rewriting by path", () => {
  const model = transformerEncoder(8, { heads: 2, layers: 3, hidden: 16 });
  assert.deepEqual(Object.keys(model.parts), ["block0", "block1", "block2", "norm"]);
  const each = 4 * (64 + 8) + 2 * 16 + (8 * 16 + 16) + (16 * 8 + 8);
  const table = summary(model, [1, 5, 8]);
  assert.equal(table.parameters, 3 * each + 16);
  assert.equal(table.multiplyAdds, 3 * (5 * (4 * 64 + 2 * 128) + 2 * 25 * 2 * 4));
  const input = random.normal(key, [1, 5, 8]);
  const { params } = model.init(key, input);
  const wanted = numbersOf(model.apply(params, input));
  assertNear(numbersOf(jit((p: VariableTree) => model.apply(p, input))(params)), wanted, 1e-5);
  const narrow = model.withDTypes({ compute: "bf16", output: "f32" }).apply(params, input);
  assert.equal(narrow.dtype, "f32");
  assertNear(numbersOf(narrow), wanted, 0.1);
  const partly = model.replace("block1", (part) => part.frozen());
  const slopes = grad((p: VariableTree) => partly.apply(p, input).square().sum())(params);
  const isZero = (name: string) =>
    tree.leaves(slopes[name]).every((leaf) => numbersOf(leaf).every((value) => value === 0));
  assert.deepEqual(["block0", "block1", "block2"].map(isZero), [false, true, false]);
  const without = transformerEncoder(8, { heads: 2, layers: 1, finalNorm: false, preNorm: true });
  assert.deepEqual(Object.keys(without.parts), ["block0"]);
  assert.deepEqual(JSON.parse(JSON.stringify(model.options)), { features: 8, heads: 2, layers: 3, hidden: 16 });
  assert.equal(model.replace("norm", layerNorm({ eps: 1 }) as never).at("norm").options.eps, 1);
});

test("mixed precision: products in bf16, the sum in the dtype of the input", () => {
  const options = { heads: 2, layers: 2, hidden: 8, fused: true, finalNorm: false } as const;
  const mixed = transformerDecoder(6, { ...options, products: "bf16" });
  const memory = random.normal(random.key(4, { device: "cpu" }), [2, 3, 6]);
  const { params } = mixed.init(key, { x, memory });
  assert.deepEqual(Object.keys((params.block0 as VariableTree).attention as VariableTree), ["projection", "output"]);
  assert.equal(Object.keys((params.block0 as VariableTree).crossAttention as VariableTree)[0], "query");
  const y = mixed.apply(params, { x, memory });
  assert.equal(y.dtype, "f32");
  const exact = numbersOf(transformerDecoder(6, options).apply(params, { x, memory }));
  assertNear(numbersOf(y), exact, 0.06);
  assert.notDeepEqual(numbersOf(y), exact);
  const seen: string[] = [];
  mixed.apply(
    params,
    { x, memory },
    {
      hooks: {
        "*": (output, path) => void (path.startsWith("block0.") && seen.push(`${path} ${(output as Tensor).dtype}`)),
      },
    },
  );
  for (const each of ["block0.attention bf16", "block0.attentionNorm f32", "block0.feedForward bf16"])
    assert.ok(seen.includes(each), each);
});

test("wrong arguments are refused by name", () => {
  assert.throws(() => encoderBlock(6, { heads: 4 }), {
    message: /encoderBlock: 6 features do not divide into 4 heads; give \{ headSize \}/,
  });
  assert.throws(() => encoderBlock(6, { heads: 2, norm: "batchNorm" as "rmsNorm" }), {
    message: /the option norm is "batchNorm"/,
  });
  assert.throws(() => encoderBlock(6, { heads: 2, activation: "tanh" as "relu" }), {
    message: /the option activation is "tanh"/,
  });
  assert.throws(() => transformerEncoder(6, { heads: 2 } as never), {
    message: /transformerEncoder: the option layers/,
  });
  assert.throws(() => transformerEncoder(6, { heads: 2, layers: 1, cross: true } as never), {
    message: /there is no option "cross"/,
  });
  const model = decoderBlock(6, { heads: 2 });
  const stack = transformerEncoder(8, { heads: 2, layers: 1 });
  for (const features of [1, 6]) {
    assert.throws(() => stack.init(key, [2, 3, features]), {
      name: "ShapeError",
      message: new RegExp(
        `encoderBlock "block0" takes \\[batch, tokens, 8\\], but the input is \\[2, 3, ${features}\\]`,
      ),
    });
  }
  assert.throws(() => model.init(key, x), { message: /decoderBlock: there is no memory; give \{ x, memory \}/ });
  const encoder = encoderBlock(6, { heads: 2 });
  assert.throws(() => encoder.init(key, { x, memory: x }), { message: /encoderBlock: the input has a memory/ });
  assert.throws(() => encoder.init(key, { x, keys: x }), {
    message: /encoderBlock: the input's keys is a tensor; it takes/,
  });
  const other = encoderBlock(6, { heads: 2 });
  const { params } = other.init(key, x);
  assert.throws(
    () => transformerEncoder(6, { heads: 2, layers: 1 }).apply({ block0: params }, random.normal(key, [1, 2, 4])),
    {
      message: /encoderBlock "block0" takes \[batch, tokens, 6\], but the input is \[1, 2, 4\]/,
    },
  );
});
