/** Draws as they come without being told a dtype, and log densities where arguments have axes that values have not. */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { censored, custom, mixture, model, normal, poisson, uniform } from "../../../src/bayes/index.js";
import { key } from "../../../src/random/key.js";
import { setDefaultDevice } from "../../../src/tensor/devices.js";
import type { Tensor } from "../../../src/tensor/tensor.js";
import { numbersOf } from "../../support/tensors.js";

before(() => setDefaultDevice("cpu"));

const own = key(3, { device: "cpu" });
const isWhole = (x: Tensor): boolean => numbersOf(x).every(Number.isInteger);

describe("draws come as floats", () => {
  const half = () => censored(normal(0, 1), { high: 2 });

  test("of a censored variable, wherever they are made", () => {
    const measured = model(() => ({ mu: normal(0, 1), y: half().shape(40) }));
    const posterior = measured.given({ y: new Float64Array(40) });
    const drawn = [
      half().distribution.sample(own, [40]),
      measured.simulate(own).y,
      posterior.priorPredictive(own).y,
      posterior.posteriorPredictive(own, { mu: 0 }).y,
    ];
    for (const y of drawn) {
      assert.equal(y.dtype, "f32");
      assert.equal(isWhole(y), false);
    }
  });

  test("of a support that no smooth map leads to, and of mixtures with it", () => {
    const ring = custom({
      support: { name: "ring", description: "numbers around 1 or -1", eventRank: 0, holds: (x) => x.abs().less(2) },
      logDensity: (x) => x.mul(0),
      sample: ({ key: k, shape, dtype }) => normal(0, 1).distribution.sample(k, shape, { dtype }),
    });
    assert.equal(ring.distribution.sample(own, [5]).dtype, "f32");
    assert.equal(mixture([0.5, 0.5], [half(), uniform(0, 1)]).distribution.sample(own, [5]).dtype, "f32");
    assert.equal(mixture([0.5, 0.5], [poisson(3), uniform(0, 1)]).distribution.sample(own, [5]).dtype, "f32");
  });

  test("but counts as integers", () => {
    assert.equal(mixture([0.5, 0.5], [poisson(3), poisson(5)]).distribution.sample(own, [5]).dtype, "i32");
    assert.equal(mixture([0.5, 0.5], poisson([3, 5])).distribution.sample(own, [5]).dtype, "i32");
  });
});
