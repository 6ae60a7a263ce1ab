/** Chains that start where the density is steep: they find a step size however small, and where there is none, the error says where. */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { factor, halfCauchy, model, normal } from "../../../src/bayes/index.js";
import { setDefaultDevice, type Tensor, where } from "../../../src/tensor/index.js";
import { scan } from "../../../src/transforms/control.js";
import { describeOnTensorDevices, f64 } from "../../support/tensors.js";

before(() => setDefaultDevice("cpu"));

/** 200 values of an ARMA(1, 1) of mean 0, φ = 0.9, θ = 0.2 and noise of 0.15, by a linear congruential generator. */
function armaSeries(): number[] {
  let state = 7;
  const unit = () => {
    state = (state * 1103515245 + 12345) % 2 ** 31;
    return (state + 0.5) / 2 ** 31;
  };
  const noise = () => 0.15 * Math.sqrt(-2 * Math.log(unit())) * Math.cos(2 * Math.PI * unit());
  const values = [noise()];
  for (let before = values[0]!, t = 1; t < 200; t++) {
    const now = noise();
    values.push(0.9 * values[t - 1]! + 0.2 * before + now);
    before = now;
  }
  return values;
}

/** posteriordb's arma11: the errors grow like θ^t, and the log density at θ = 1.9 is about -1e110. */
const arma = model(({ y }: { y: Tensor }) => {
  const mu = normal(0, 10),
    phi = normal(0, 2),
    theta = normal(0, 2),
    sigma = halfCauchy(2.5);
  const first = y.at(0).sub(mu.add(phi.mul(mu)));
  const step = (error: Tensor, [now, before]: readonly [Tensor, Tensor]) => {
    const next = now.sub(mu.add(phi.mul(before)).add(theta.mul(error)));
    return [next, next] as const;
  };
  const [, errors] = scan(step, first, [y.at("1:"), y.at(":-1")] as const);
  factor(normal(0, sigma).distribution.logDensity(first));
  factor(normal(0, sigma).distribution.logDensity(errors));
  return { mu, phi, theta, sigma };
});

describeOnTensorDevices("a chain that starts at a log density of -1e100", (device) => {
  test("finds its step size and its way out, whatever the seed", async () => {
    const posterior = arma.given({}, { y: f64(armaSeries()) });
    const seeds = device === "cpu" ? Array.from({ length: 11 }, (_, i) => i + 1) : [1, 2];
    for (const seed of seeds) {
      const fit = await posterior.sample({ chains: 4, warmup: 300, draws: 50, seed, device });
      const phis = Array.from(fit.draws.values("phi") as ArrayLike<number>);
      assert.ok(phis.every(Number.isFinite), `seed ${seed}`);
    }
  });
});

test("a chain in a valley that floats are too coarse for goes on with the smallest step that moves it", async () => {
  // Across the valley the density changes by 1e27 from one float to the next.
  const valley = model(() => {
    const a = normal(0, 1),
      b = normal(0, 1);
    factor(a.sub(b).square().mul(-1e60));
    return { a, b };
  }).given({});
  const inits = Array.from({ length: 2 }, () => [0.3, 0.3]);
  const fit = await valley.sample({ chains: 2, warmup: 50, draws: 5, inits, dtype: "f64" });
  assert.ok(Array.from(fit.draws.values("a") as ArrayLike<number>).every(Number.isFinite));
});

describe("where no step size suits", () => {
  test("the error names the chain, the point, the density and the gradient there", async () => {
    // Steeper than the smallest of steps can follow.
    const cliff = model(() => {
      const a = normal(0, 1),
        b = normal(0, 1);
      factor(where(a.equal(0), a, -1e300));
      return { a, b };
    }).given({});
    const inits = Array.from({ length: 2 }, () => [0, -1]);
    await assert.rejects(async () => await cliff.sample({ chains: 2, warmup: 20, draws: 5, inits, dtype: "f64" }), {
      name: "ArgumentError",
      message:
        /^sample: no step size suits chain 0: at a = 0, b = -1 the log density is -2.338, .* is 1 by a, 1 by b; from there the density falls off within steps of [\d.]+e-30\d/,
    });
  });

  test("a density that does not fall off says so, with the point", async () => {
    const endless = model(() => {
      const a = normal(0, 1e12);
      return { a };
    }).given({});
    await assert.rejects(async () => await endless.sample({ chains: 1, warmup: 20, draws: 5, dtype: "f64" }), {
      message:
        /^sample: no step size suits chain 0: at a = .* the log density is -28.55, .* does not fall off within millions/,
    });
  });
});
