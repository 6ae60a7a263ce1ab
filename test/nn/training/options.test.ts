/** Misuse of `train`: each mistake has a message that names it and says what would work. */
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { ArgumentError, ShapeError } from "../../../src/core/errors.js";
import { random, setDefaultDevice, tensor } from "../../../src/index.js";
import { dense, dropout, optimizers, sequential, type TrainOptions, train } from "../../../src/nn/index.js";
import type { Tensor } from "../../../src/tensor/index.js";

before(() => setDefaultDevice("cpu"));
const model = sequential(dense(4), dropout(0.5), dense(1));
const good = (): TrainOptions<Tensor> => {
  const x = random.normal(random.key(1), [8, 3]);
  return {
    data: { x, y: x.sum({ axis: 1, keepDims: true }) },
    loss: "meanSquaredError",
    optimizer: optimizers.sgd(0.1),
    epochs: 1,
  };
};

/** Options that are refused before anything runs. */
const AT_ONCE: readonly (readonly [object, RegExp])[] = [
  [{ loss: undefined }, /the option loss is missing; give one, as \{ loss: "meanSquaredError" \}/],
  [{ loss: "mse" }, /the option loss is "mse"; it is a function .*, or one of .*meanSquaredError/],
  [{ loss: {} }, /loss names no output/],
  [{ optimizer: undefined }, /the option optimizer is missing/],
  [{ optimizer: "adam" }, /takes optimisers and gradient transforms/],
  [{ metrics: ["acuracy"] }, /the metric "acuracy" is no function .* one of accuracy/],
  [{ metrics: { loss: "accuracy" } }, /no metric can be called "loss"/],
  [{ epochs: undefined }, /nothing says when to end; give \{ epochs \}, \{ steps \}/],
  [{ epochs: -1 }, /epochs is a whole number from 0 on, not -1/],
  [{ epoch: 5 }, /there is no option "epoch"; there are/],
  [{ validateEvery: 5 }, /validateEvery needs the option validation/],
  [{ earlyStop: { monitor: "validation.loss" } }, /"validation\.loss" needs the option validation/],
  [{ earlyStop: { patience: 0 } }, /patience is a whole number from 1 on/],
  [{ keepBest: { mode: "least" } }, /mode is "least"; it is "min" or "max"/],
  [{ reduceOnPlateau: { factor: 0 } }, /factor is a finite number above 0/],
  [{ until: {} }, /until is \{ loss: 0\.1 \} or a function/],
  [{ precision: "f8" }, /precision is "f8"; it is "f32" or "bf16" or "f16"/],
  [{ accumulate: 0 }, /accumulate is a whole number from 1 on/],
  [{ rematerialize: "a" }, /rematerialize is true or paths of layers/],
  [{ rematerialize: ["head"] }, /No layer "head"/],
  [{ seed: 1, key: random.key(1, { device: "cpu" }) }, /seed and key say the same/],
  [{ key: 5 }, /train: the option key is a key, as random\.key\(seed\) makes, not 5/],
  [{ resume: true }, /resume needs the option checkpoint/],
  [{ checkpointSeconds: 5 }, /checkpointSeconds says how often, and checkpoint not where/],
  [{ checkpoint: "/nowhere/run" }, /train: checkpoint cannot be written to \/nowhere\/run/],
  [{ batchSize: 0 }, /batchSize is a whole number from 1 on/],
  [{ variables: 5 }, /variables is \{ params, state \}/],
  [{ data: { x: tensor([1, 2]), y: tensor([1]) } }, /all have one first extent/],
];

for (const [options, message] of AT_ONCE) {
  test(`refused at once: ${message.source}`, () => {
    assert.throws(() => train(model, { ...good(), ...options } as never), message);
  });
}

const rejected = (options: object, Class: typeof ArgumentError | typeof ShapeError, message: RegExp): Promise<void> =>
  assert.rejects(
    async () => void (await train(model, { ...good(), ...options } as never)),
    (error: Error) => {
      assert.ok(error instanceof Class, String(error));
      assert.match(error.message, message);
      return true;
    },
  );

test("a model without parameters is named", async () => {
  const { loss, optimizer, data } = good();
  const empty = train(sequential(dropout(0.5)), { loss, optimizer, data, epochs: 1 });
  await assert.rejects(async () => void (await empty), /train: the model, sequential, has no parameters to train/);
});

test("data of another form, shape or length are named when they come", async () => {
  const batches = (...all: object[]) => ({
    batchesPerEpoch: all.length,
    epoch: async function* () {
      yield* all;
    },
  });
  const x = random.normal(random.key(1), [8, 3]);
  await rejected({ data: batches({ input: x }) }, ArgumentError, /a batch is \{ x, y \} .*, not \{ input \}/);
  await rejected({ data: batches() }, ArgumentError, /the data have no batches/);
  await rejected({ data: { x, y: x } }, ShapeError, /meanSquaredError: predictions \[8, 1\] and targets \[8, 3\]/);
  const wide = random.normal(random.key(1), [8, 5]);
  await rejected(
    {
      data: batches(
        { x, y: x.sum({ axis: 1, keepDims: true }) },
        { x: wide, y: wide.sum({ axis: 1, keepDims: true }) },
      ),
    },
    ShapeError,
    /dense "dense0": its parameter "weights" has shape \[3, 4\], but this input needs \[5, 4\]/,
  );
  await rejected({ earlyStop: { monitor: "los" } }, ArgumentError, /no metric "los"; there are loss/);
  await rejected({ loss: (p: Tensor) => p }, ArgumentError, /the loss is one number, not a tensor of shape \[8, 1\]/);
});

test("metrics of a list may have options", async () => {
  const x = random.normal(random.key(1), [8, 3]);
  const trained = await train(sequential(dense(3)), {
    data: { x, y: x.argmax({ axis: 1 }) },
    loss: ["categoricalCrossEntropy", { fromLogits: true }],
    metrics: ["accuracy", ["topKAccuracy", { k: 3 }]],
    optimizer: optimizers.sgd(0.1),
    epochs: 1,
  });
  assert.equal(trained.metrics.topKAccuracy, 1);
  assert.throws(() => train(model, { ...good(), metrics: [() => tensor(1)] } as never), /Functions come by name/);
});
