/** Transforms without a rate: the optimisers that they are part of, put together again by hand. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { tensor } from "../../../src/index.js";
import { optimizers } from "../../../src/nn/index.js";
import { describeOnTensorDevices } from "../../support/tensors.js";
import { assertPlain, assertTracks, keptOf, norm, paramsOn, track } from "./trajectories.js";

const { chain, scale, scaleByAdam, scaleByBelief, scaleByRadam, scaleByRms, scaleByRss } = optimizers;
const { scaleByStddev, scaleByTrustRatio, scaleByYogi, trace, addDecayedWeights } = optimizers;

/** A transform, and the optimiser whose direction it gives, for each rate. */
const PAIRS: readonly (readonly [name: string, optimizers.Optimizer, (rate: number) => optimizers.Optimizer])[] = [
  ["scaleByAdam", scaleByAdam({ decays: [0.8, 0.9] }), (rate) => optimizers.adam(rate, { decays: [0.8, 0.9] })],
  ["scaleByAdam, amsgrad", scaleByAdam({ amsgrad: true }), (rate) => optimizers.adam(rate, { amsgrad: true })],
  ["scaleByRadam", scaleByRadam(), (rate) => optimizers.radam(rate)],
  ["scaleByBelief", scaleByBelief(), (rate) => optimizers.adabelief(rate)],
  ["scaleByYogi", scaleByYogi({ initial: 0.1 }), (rate) => optimizers.yogi(rate, { initial: 0.1 })],
  ["scaleByRms", scaleByRms({ decay: 0.8 }), (rate) => optimizers.rmsprop(rate, { decay: 0.8 })],
  ["scaleByStddev", scaleByStddev(), (rate) => optimizers.rmsprop(rate, { centered: true })],
  ["scaleByRss", scaleByRss({ initial: 0.1 }), (rate) => optimizers.adagrad(rate, { initial: 0.1 })],
  ["trace", trace(0.7, { nesterov: true }), (rate) => optimizers.sgd(rate, { momentum: 0.7, nesterov: true })],
];

test("each, scaled by a negative rate, is its optimiser, with the same names in its state", async () => {
  for (const [name, transform, whole] of PAIRS) {
    const [found, wanted] = [chain(transform, scale(-2e-3)), whole(2e-3)];
    assertTracks(await track(found, "cpu", "f64", 5), await track(wanted, "cpu", "f64", 5), 1e-12);
    const params = paramsOn("cpu", "f32");
    assert.deepEqual(Object.keys(transform.init(params)), Object.keys(wanted.init(params)), name);
  }
});

describeOnTensorDevices("transforms without a rate", (device) => {
  test("moments, decay and the trust ratio make lamb", () =>
    assertPlain(
      chain(scaleByAdam({ epsilon: 1e-6 }), addDecayedWeights(0.1), scaleByTrustRatio(), scale(-0.02)),
      (leaf, count) => {
        const [mean, square] = [keptOf(leaf, "mean"), keptOf(leaf, "square")];
        const direction = leaf.g.map((g, i) => {
          mean[i] = 0.9 * mean[i]! + (1 - 0.9) * g;
          square[i] = 0.999 * square[i]! + (1 - 0.999) * g * g;
          const root = Math.sqrt(square[i]! / (1 - 0.999 ** count)) + 1e-6;
          return mean[i]! / (1 - 0.9 ** count) / root + 0.1 * leaf.p[i]!;
        });
        const ratio = norm(leaf.p) / norm(direction);
        direction.forEach((d, i) => {
          leaf.p[i]! -= 0.02 * ratio * d;
        });
      },
      device,
    ));

  test("a trust ratio is 1 where the parameter or its update is zero", async () => {
    const at = (values: number[]) => tensor(values, { device });
    const params = { zero: at([0, 0]), still: at([3, 4]), both: at([3, 4]), none: at([]) };
    const updates = { zero: at([1, 2]), still: at([0, 0]), both: at([0, 2]), none: at([]) };
    const [scaled] = scaleByTrustRatio().update(updates, {}, params);
    const found = await Promise.all(Object.values(scaled).map((each) => each.array()));
    assert.deepEqual(found, [[1, 2], [0, 0], [0, 5], []]);
  });
});

test("misuse is refused by name", () => {
  assert.throws(() => trace(1), { message: /^trace: the option decay is at least 0 and below 1/ });
  assert.throws(() => scaleByAdam({ decays: [0.9] as never }), {
    message: /^scaleByAdam: the option decays is two numbers/,
  });
  assert.throws(() => scaleByRms({ centered: true } as never), {
    message: /^scaleByRms: there is no option "centered"/,
  });
  assert.throws(() => scaleByYogi({ initial: -1 }), { message: /^scaleByYogi: the option initial/ });
});
