/** A consumer's program: training runs of `pumice/nn`. */
import { random, type Tensor, tensor } from "pumice";
import * as nn from "pumice/nn";
import { path } from "./folder.js";
import type { Calls } from "./methods.js";

const x = (): Tensor => tensor([[1], [2], [3]], { device: "cpu" });
const model = nn.sequential(nn.dense(1));

const options = (): nn.TrainOptions<Tensor> => ({
  data: { x: x(), y: x() },
  batchSize: 2,
  loss: "meanSquaredError",
  optimizer: nn.optimizers.sgd(0.01),
  metrics: ["meanAbsoluteError"],
  epochs: 1,
});

const run = (more: Partial<nn.TrainOptions<Tensor>> = {}): nn.TrainingRun<nn.Trained<Tensor, Tensor>> =>
  nn.train(model, { ...options(), ...more });

/** A number that is halved in each step. */
const halving: nn.Trainer<{ readonly w: Tensor }, { readonly x: Tensor }> = {
  init: () => ({ w: tensor([8], { device: "cpu" }) }),
  step: ({ w }) => [{ w: w.mul(0.5) as Tensor }, { loss: w.sum() as Tensor }],
};
const batches: nn.Batches<{ readonly x: Tensor }> = {
  batchesPerEpoch: 1,
  async *epoch() {
    yield { x: x() };
  },
};

export const trainingCalls: Calls = {
  train: async () => {
    const epochs: number[] = [];
    const on: nn.Handlers<nn.ModelCarry> = { epoch: (event: nn.TrainingEvent) => void epochs.push(event.epoch) };
    const more = { epochs: 1, on, checkpoint: path("run.safetensors"), keepBest: true };
    const trained = await nn.train(model, { ...options(), ...more });
    const metrics: nn.Metrics = trained.metrics;
    return metrics.loss;
  },
  TrainingRun: async () => {
    const steps: number[] = [];
    const watched = run();
    for await (const progress of watched) steps.push(progress.step);
    return watched instanceof nn.TrainingRun;
  },
  Trained: async () => {
    const trained = await run();
    return trained instanceof nn.Trained && trained.predict(x());
  },
  trainer: async () => (await nn.train(nn.trainer(halving), { data: batches, steps: 3 })).carry.w,
  TrainingResult: async () => (await nn.train(halving, { data: batches, steps: 1 })) instanceof nn.TrainingResult,
  evaluate: () => {
    const variables = model.init(random.key(0, { device: "cpu" }), x());
    return nn.evaluate(model, variables, { data: { x: x(), y: x() }, metrics: ["r2"] });
  },
  predict: () => nn.predict(model, model.init(random.key(0, { device: "cpu" }), x()), x(), { batchSize: 2 }),
  rematerialize: () => nn.rematerialize(model).kind,
  NonFiniteLossError: async () => {
    const failed = await run({ optimizer: nn.optimizers.sgd(1e30), epochs: 9 }).catch((error) => error);
    return failed instanceof nn.NonFiniteLossError && failed.step;
  },
};
