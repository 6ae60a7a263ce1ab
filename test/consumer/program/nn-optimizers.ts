/** A consumer's program: the optimisers and schedules of `pumice/nn`. */
import { arange, random, type Tensor, tensor } from "pumice";
import { optimizers, schedules } from "pumice/nn";
import type { Calls } from "./methods.js";

const params = () => ({
  weights: tensor(
    [
      [1, 2],
      [3, 4],
    ],
    { device: "cpu" },
  ),
  biases: tensor([1, 2], { device: "cpu" }),
});
const key = (): random.Key => random.key(0, { device: "cpu" });

/** The weights after a step whose gradients are the parameters. */
const step = (optimizer: optimizers.Optimizer): Tensor => {
  const before = params();
  const state: optimizers.OptimizerState = optimizer.init(before);
  const [updates] = optimizer.update(before, state, before, { value: tensor(1, { device: "cpu" }) });
  return optimizers.applyUpdates(before, updates).weights;
};

const values = (schedule: schedules.StepSchedule): Tensor => schedule(arange(0, 10, 1, { device: "cpu" }) as Tensor);

const { adam, sgd, chain } = optimizers;

export const optimizerCalls: Calls = {
  "optimizers.accumulate": () => step(optimizers.accumulate(adam(), 2)),
  "optimizers.adabelief": () => step(optimizers.adabelief(1e-3)),
  "optimizers.adadelta": () => step(optimizers.adadelta(1)),
  "optimizers.adafactor": () => step(optimizers.adafactor(1e-2, { clip: 1 })),
  "optimizers.adagrad": () => step(optimizers.adagrad(1e-2)),
  "optimizers.adam": () => step(adam(1e-3, { decays: [0.9, 0.99], amsgrad: true })),
  "optimizers.adamax": () => step(optimizers.adamax()),
  "optimizers.adamw": () => step(optimizers.adamw(schedules.cosine(1e-3, 100), { mask: (path) => path === "weights" })),
  "optimizers.addDecayedWeights": () => step(chain(optimizers.addDecayedWeights(0.1), sgd(0.1))),
  "optimizers.addNoise": () => step(chain(optimizers.addNoise(key(), { eta: 0.1 }), sgd(0.1))),
  "optimizers.applyUpdates": () => optimizers.applyUpdates(params(), params()).biases,
  "optimizers.averagedWeights": () => {
    const state = optimizers.emaOfWeights().init(params());
    return optimizers.averagedWeights<ReturnType<typeof params>>(state).weights;
  },
  "optimizers.centralize": () => step(optimizers.centralize()),
  "optimizers.chain": () => step(chain(optimizers.clip(1), sgd(0.1))),
  "optimizers.clip": () => step(optimizers.clip(1)),
  "optimizers.clipByGlobalNorm": () => step(optimizers.clipByGlobalNorm(1)),
  "optimizers.clipByNorm": () => step(optimizers.clipByNorm(1)),
  "optimizers.emaOfWeights": () => step(chain(sgd(0.1), optimizers.emaOfWeights({ decay: 0.9 }))),
  "optimizers.freeze": () => step(optimizers.freeze()),
  "optimizers.globalNorm": () => optimizers.globalNorm(params()),
  "optimizers.identity": () => step(optimizers.identity()),
  "optimizers.lamb": () => step(optimizers.lamb()),
  "optimizers.lbfgs": () =>
    optimizers.lbfgs({ memory: 3 }).minimize((p) => p.biases.square().sum(), params(), { steps: 3 }).value,
  "optimizers.lion": () => step(optimizers.lion()),
  "optimizers.lookahead": () => step(optimizers.lookahead(sgd(0.1), { every: 5 })),
  "optimizers.lossScale": () => step(optimizers.lossScale(sgd(0.1))),
  "optimizers.mask": () => step(optimizers.mask(optimizers.clip(1), { weights: true, biases: false })),
  "optimizers.masterWeights": () => step(optimizers.masterWeights(sgd(0.1))),
  "optimizers.muon": () => step(optimizers.muon(0.02, { otherRate: 1e-3 })),
  "optimizers.nadam": () => step(optimizers.nadam()),
  "optimizers.noisySgd": () => step(optimizers.noisySgd(key(), 0.1)),
  "optimizers.partition": () =>
    step(optimizers.partition((path) => path, { weights: sgd(0.1), biases: optimizers.freeze() })),
  "optimizers.radam": () => step(optimizers.radam()),
  "optimizers.rmsprop": () => step(optimizers.rmsprop(1e-2, { centered: true })),
  "optimizers.scale": () => step(optimizers.scale(0.5)),
  "optimizers.scaleByAdam": () => step(chain(optimizers.scaleByAdam({ amsgrad: true }), optimizers.scale(-0.1))),
  "optimizers.scaleByBelief": () => step(chain(optimizers.scaleByBelief(), optimizers.scale(-0.1))),
  "optimizers.scaleByPlateau": () => step(chain(sgd(0.1), optimizers.scaleByPlateau())),
  "optimizers.scaleByRadam": () => step(chain(optimizers.scaleByRadam(), optimizers.scale(-0.1))),
  "optimizers.scaleByRms": () => step(chain(optimizers.scaleByRms({ decay: 0.9 }), optimizers.scale(-0.1))),
  "optimizers.scaleByRss": () => step(chain(optimizers.scaleByRss(), optimizers.scale(-0.1))),
  "optimizers.scaleBySchedule": () => step(optimizers.scaleBySchedule(schedules.linear(1, 0, 10))),
  "optimizers.scaleByStddev": () => step(chain(optimizers.scaleByStddev(), optimizers.scale(-0.1))),
  "optimizers.scaleByTrustRatio": () => step(chain(optimizers.scaleByTrustRatio(), optimizers.scale(-0.1))),
  "optimizers.scaleByYogi": () => step(chain(optimizers.scaleByYogi(), optimizers.scale(-0.1))),
  "optimizers.sgd": () => step(sgd(0.1, { momentum: 0.9, nesterov: true })),
  "optimizers.trace": () => step(chain(optimizers.trace(0.9), optimizers.scale(-0.1))),
  "optimizers.yogi": () => step(optimizers.yogi()),
  "optimizers.zeroNaNs": () => step(optimizers.zeroNaNs()),
  "schedules.constant": () => values(schedules.constant(0.1)),
  "schedules.cosine": () => values(schedules.cosine(0.1, 10)),
  "schedules.cosineRestarts": () => values(schedules.cosineRestarts(0.1, 5, { growth: 2 })),
  "schedules.exponential": () => values(schedules.exponential(0.1, 0.5, 5)),
  "schedules.inverseSquareRoot": () => values(schedules.inverseSquareRoot(0.1, 4)),
  "schedules.linear": () => values(schedules.linear(0.1, 0, 10)),
  "schedules.oneCycle": () => values(schedules.oneCycle(0.1, 10)),
  "schedules.piecewise": () => values(schedules.piecewise(0.1, { 5: 0.01 })),
  "schedules.plateau": () => {
    const follower: schedules.Plateau = schedules.plateau({ patience: 2 });
    return follower.update(tensor(1, { device: "cpu" }), follower.init({ device: "cpu" })).scale;
  },
  "schedules.polynomial": () => values(schedules.polynomial(0.1, 0, 10, { power: 2 })),
  "schedules.warmup": () => values(schedules.warmup(3, schedules.cosine(0.1, 7))),
};
