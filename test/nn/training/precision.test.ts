/** Mixed precision, accumulation and rematerialisation: the same training by other arithmetic. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { grad, random, type Tensor, tensor, tree } from "../../../src/index.js";
import {
  activations,
  type Batches,
  batchNorm,
  dense,
  dropout,
  type Layer,
  loader,
  losses,
  NonFiniteLossError,
  optimizers,
  rematerialize,
  sequential,
  type TrainOptions,
  train,
} from "../../../src/nn/index.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";

const bits = (value: unknown): number[] => tree.leaves(value).flatMap(numbersOf);

const given = (device: string) => {
  const x = random.normal(random.key(1, { device }), [32, 4]).realize();
  return { x, y: x.sum({ axis: 1, keepDims: true }).tanh().realize() };
};
const whole = (data: ReturnType<typeof given>): Batches<typeof data> => ({
  batchesPerEpoch: 1,
  async *epoch(_, from = 0) {
    if (from === 0) yield data;
  },
});
const options = (device: string): TrainOptions<Tensor> => ({
  data: whole(given(device)),
  loss: "meanSquaredError",
  optimizer: optimizers.adam(0.02),
  epochs: 30,
});

describeOnTensorDevices("precision", (device) => {
  test("bf16 computes in bf16, keeps parameters in f32, and learns the same to its digits", async () => {
    const model = sequential(dense(8), activations.tanh, dense(1));
    const seen = new Set<string>();
    const spy = (x: Tensor) => {
      seen.add(x.dtype);
      return x;
    };
    const trained = await train(sequential(dense(8), spy, activations.tanh, dense(1)), {
      ...options(device),
      precision: "bf16",
    });
    assert.ok(seen.has("bf16"));
    assert.deepEqual([...new Set(tree.leaves(trained.params).map(({ dtype }) => dtype))], ["f32"]);
    const plain = await train(model, options(device));
    assert.ok(Math.abs(trained.metrics.loss! - plain.metrics.loss!) < 0.1 * plain.metrics.loss! + 0.005);
  });

  test("f16 skips steps whose gradients overflow, and halves its scale until they do not", async () => {
    const model = sequential({ line: dense(1, { useBias: false }) });
    const [x, y] = [tensor([[1], [2]], { device }), tensor([[2], [4]], { device })];
    // Slopes of 8 times the scale of 2^15 overflow in f16.
    const steep = (p: Tensor, t: Tensor) => p.sub(t).square().sum().mul(4) as Tensor;
    const variables = { params: { line: { weights: tensor([[1]], { device }) } }, state: {} };
    const scales: number[] = [];
    const trained = await train(model, {
      data: whole({ x, y }),
      loss: steep,
      optimizer: optimizers.sgd(0.01),
      precision: "f16",
      variables,
      epochs: 8,
      on: { step: async ({ carry }) => void scales.push(Number(await (carry.optimizer.scale as Tensor).item())) },
    });
    // The slope of the loss by the prediction is at most 8 · 2, so 2^11 · 16 = 2^15 is the first that fits.
    const skipped = scales.filter((scale, i) => scale < (scales[i - 1] ?? 2 ** 15)).length;
    assert.ok(skipped >= 1 && skipped <= 5, `${scales}`);
    assert.equal(scales.at(-1), 2 ** (15 - skipped));
    const weight = numbersOf((trained.params as unknown as { line: { weights: Tensor } }).line.weights)[0]!;
    // Each step that counts brings the weight 40 % nearer to 2.
    const expected = 2 - 0.6 ** (8 - skipped);
    assert.ok(Math.abs(weight - expected) < 0.01, `${weight} for ${expected}`);
  });
});

describe("other ways to the same", () => {
  const device = "cpu";
  const model = sequential({ a: dense(6), norm: batchNorm(), drop: dropout(0.2), act: activations.relu, b: dense(1) });

  test("parameters in bf16 have copies in f32, which take small updates", async () => {
    const narrow = sequential({ line: dense(1, { useBias: false }) }).withDTypes({ parameters: "bf16" });
    const { x, y } = { x: tensor([[1]], { device }), y: tensor([[1e6]], { device }) };
    const small = (p: Tensor) => p.sum().mul(2 ** -12) as Tensor;
    const trained = await train(narrow, {
      data: whole({ x, y }),
      loss: small,
      optimizer: optimizers.sgd(1),
      epochs: 64,
    });
    const first = await train(narrow, { data: whole({ x, y }), loss: small, optimizer: optimizers.sgd(1), steps: 0 });
    assert.equal(tree.leaves(trained.params)[0]!.dtype, "bf16");
    const moved = bits(first.params)[0]! - bits(trained.params)[0]!;
    assert.ok(Math.abs(moved - 64 * 2 ** -12) < 0.005, `${moved}`);
  });

  test("accumulated gradients of parts are the gradient of the whole batch", async () => {
    const { x, y } = given(device);
    const plain = sequential(dense(6), activations.tanh, dense(1));
    const parts = { data: { x, y }, batchSize: 8, loss: "meanSquaredError", optimizer: optimizers.sgd(0.1) } as const;
    const accumulated = await train(plain, { ...parts, accumulate: 4, epochs: 3 });
    const large = await train(plain, { ...parts, batchSize: 32, epochs: 3 });
    bits(large.params).forEach((value, i) => {
      assert.ok(Math.abs(value - bits(accumulated.params)[i]!) < 1e-5);
    });
    const between = await train(plain, { ...parts, accumulate: 4, steps: 3 });
    assert.deepEqual(bits(between.params), bits((await train(plain, { ...parts, steps: 0 })).params));
  });

  test("accumulated batches count by what their losses were divided by, whatever their sizes", async () => {
    // Of 20 labels a part is ignored: all of the first batch, some of others; the last batch is smaller.
    const x = random.normal(random.key(5, { device }), [20, 3]);
    const labels = Array.from({ length: 20 }, (_, i) => (i < 6 || i % 5 === 0 ? 9 : i % 2));
    const y = tensor(labels, { dtype: "i32", device });
    const plain = sequential(dense(4), activations.tanh, dense(2));
    const loss = ["categoricalCrossEntropy", { fromLogits: true, ignoreIndex: 9 }] as const;
    const options = { loss, optimizer: optimizers.sgd(0.5), epochs: 3 };
    const whole = await train(plain, { ...options, data: loader({ x, y }, { batchSize: 20 }) });
    const parts = await train(plain, { ...options, data: loader({ x, y }, { batchSize: 6 }), accumulate: 4 });
    bits(whole.params).forEach((value, i) => {
      assert.ok(Math.abs(value - bits(parts.params)[i]!) < 1e-5);
    });
  });

  test("rematerialised layers give the same gradients and state", async () => {
    const { x, y } = given(device);
    const { params, state } = model.init(random.key(3, { device }), x);
    const key = random.key(4, { device });
    const gradients = (m: typeof model) =>
      grad((p: typeof params) => losses.meanSquaredError(m.apply(p, x, { training: true, key, state }), y))(params);
    const again = rematerialize(model.replace("a", rematerialize as never));
    bits(gradients(again)).forEach((value, i) => {
      assert.ok(Math.abs(value - bits(gradients(model))[i]!) < 1e-6);
    });
    const [, next] = again.applyWithState(params, x, { training: true, key, state });
    assert.deepEqual(bits(next), bits(model.applyWithState(params, x, { training: true, key, state })[1]));
    for (const chosen of [true, ["a", "norm"]] as const) {
      const trained = await train(model, { ...options(device), rematerialize: chosen, epochs: 3 });
      const plain = await train(model, { ...options(device), epochs: 3 });
      bits(plain.carry).forEach((value, i) => {
        assert.ok(Math.abs(value - bits(trained.carry)[i]!) < 1e-5);
      });
    }
  });
});

describeOnTensorDevices("f16 stops", (device) => {
  const refused = (model: Layer, more: object, message: RegExp) =>
    assert.rejects(
      async () =>
        void (await train(model, { ...options(device), data: whole(given(device)), precision: "f16", ...more })),
      (error: Error) => {
        assert.ok(error instanceof NonFiniteLossError, String(error));
        assert.match(error.message, message);
        return true;
      },
    );
  const log = (h: Tensor) => h.abs().neg().sub(1).log();

  test("at the first step whose forward pass is not finite, with the layer named, whatever the scale is", async () => {
    const model = sequential({ body: dense(4), log, head: dense(1) });
    const first =
      /the loss or a gradient of step 1 \(epoch 1\) is not finite: first, the output of log "log" has .*NaN among 128/;
    await refused(model, {}, first);
    // The scale of a training that went on long, and of one whose gradients overflowed often.
    const { params, state } = model.init(random.key(1, { device }), [null, 4]);
    const { optimizerState } = await train(sequential({ body: dense(4), log: activations.tanh, head: dense(1) }), {
      ...options(device),
      precision: "f16",
      steps: 1,
    });
    for (const scale of [1, 2 ** 24]) {
      const scaled = { ...optimizerState, scale: tensor(scale, { device }) } as never;
      await refused(model, { variables: { params, state }, optimizerState: scaled }, first);
    }
  });

  test("at gradients that are not finite without any scale, which are named; overflow by the scale is skipped", async () => {
    // The slope of a root at zero is infinite; the loss is not.
    const root = (p: Tensor, t: Tensor) => p.sub(p).abs().sqrt().mean().add(t.square().mean()) as Tensor;
    const model = sequential({ head: dense(1) });
    await refused(
      model,
      { loss: root },
      // 2^15 is halved 15 times; then a step without a scale.
      /of step 16 \(epoch 16\) is not finite: first, the gradient of head\.biases is NaN/,
    );
    const trained = await train(model, {
      ...options(device),
      loss: root,
      precision: "f16",
      stopOnNonFinite: false,
      epochs: 20,
    });
    assert.ok(Number.isFinite(trained.metrics.loss));
    assert.equal(await (trained.optimizerState.scale as Tensor).item(), 1);
  });
});

test("a mean of no step is NaN and reaches nothing", async () => {
  const { x, y } = given("cpu");
  const model = sequential(dense(4), (h: Tensor) => h.abs().neg().sub(1).log(), dense(1));
  const trained = await train(model, {
    ...options("cpu"),
    data: whole({ x, y }),
    precision: "f16",
    stopOnNonFinite: false,
    epochs: 3,
    until: { loss: 0.1 },
  });
  assert.ok(Number.isNaN(trained.metrics.loss));
  assert.equal(trained.ending, "completed");
});
