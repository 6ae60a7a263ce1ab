/**
 * Simulation-based calibration (Talts, Betancourt, Simpson, Vehtari, Gelman 2018): parameters from the prior, data from
 * them, draws given the data. The rank of the true value among the draws is uniform if the draws are right.
 */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import {
  bernoulliLogits,
  beta,
  binomial,
  halfNormal,
  model,
  normal,
  type Posterior,
} from "../../../src/bayes/index.js";
import { key } from "../../../src/random/key.js";
import { setDefaultDevice, type Tensor } from "../../../src/tensor/index.js";
import { expectFrequencies } from "../../support/goodness-of-fit.js";
import { f64 } from "../../support/tensors.js";
import { normals } from "../chains/support.js";

const RUNS = 320;
/** Ranks among this many draws, far enough apart to be independent. */
const DRAWS = 63;
const THINNING = 6;
const BINS = 8;

before(() => setDefaultDevice("cpu"));

type Simulated = Readonly<Record<string, Tensor>>;

async function calibrate(
  simulate: (seed: number) => Simulated,
  posteriorOf: (y: Tensor) => Posterior<Readonly<Record<string, Tensor>>, string>,
  names: readonly string[],
  runs = RUNS,
): Promise<void> {
  const counts = new Map(names.map((name) => [name, new Array<number>(BINS).fill(0)]));
  for (let run = 0; run < runs; run++) {
    const truth = simulate(run);
    const posterior = posteriorOf(truth.y!.cast("f64").realize());
    const fit = await posterior.sample({
      chains: 1,
      draws: DRAWS * THINNING,
      warmup: 300,
      seed: 1000 + run,
      dtype: "f64",
      device: "cpu",
    });
    for (const name of names) {
      const value = Number(truth[name]!.flatten().at(0).itemSync());
      const scalar = fit.draws.variables.get(name)!.length === 0 ? name : `${name}[0]`;
      const { values } = fit.draws.scalar(scalar);
      const rank = values.filter((x, i) => i % THINNING === 0 && x < value).length;
      counts.get(name)![Math.floor((rank * BINS) / (DRAWS + 1))]!++;
    }
  }
  for (const [name, found] of counts) expectFrequencies(found, new Array<number>(BINS).fill(1 / BINS), name);
}

describe("ranks of true values are uniform", () => {
  const random = normals(8);
  const x = f64(Array.from({ length: 20 }, () => [1, random()]));

  test("a mean and a scale", async () => {
    const one = model(() => {
      const mu = normal(0, 2);
      const sigma = halfNormal(1);
      return { mu, sigma, y: normal(mu, sigma).shape(10) };
    });
    await calibrate(
      (seed) => one.simulate(key(seed), undefined, { dtype: "f64" }),
      (y) => one.given({ y }),
      ["mu", "sigma"],
    );
  });

  test("but not where the posterior is that of another model", async () => {
    const noise = (factor: number) =>
      model(() => {
        const mu = normal(0, 2);
        const sigma = halfNormal(1);
        return { mu, sigma, y: normal(mu, sigma.mul(factor)).shape(10) };
      });
    const [one, other] = [noise(1), noise(1.5)];
    const simulate = (seed: number) => one.simulate(key(seed), undefined, { dtype: "f64" });
    await assert.rejects(
      calibrate(simulate, (y) => other.given({ y }), ["sigma"], 80),
      /sigma: χ² of/,
    );
  });

  test("groups, non-centred", async () => {
    const groups = model(() => {
      const mu = normal(0, 1);
      const tau = halfNormal(1);
      const theta = normal(mu, tau).shape(4).noncentered();
      return { mu, tau, theta, y: normal(theta, 0.5) };
    });
    await calibrate(
      (seed) => groups.simulate(key(seed), undefined, { dtype: "f64" }),
      (y) => groups.given({ y }),
      ["mu", "tau", "theta"],
    );
  });

  test("a logistic regression", async () => {
    const logistic = model(({ x }: { x: Tensor }) => {
      const b = normal(0, 1).shape(2);
      return { b, y: bernoulliLogits(x.matmul(b)) };
    });
    await calibrate(
      (seed) => logistic.simulate(key(seed), { x }),
      (y) => logistic.given({ y }, { x }),
      ["b"],
    );
  });

  test("the share of successes", async () => {
    const shares = model(() => {
      const p = beta(2, 2);
      return { p, y: binomial(12, p).shape(3) };
    });
    await calibrate(
      (seed) => shares.simulate(key(seed), undefined, { dtype: "f64" }),
      (y) => shares.given({ y }),
      ["p"],
    );
  });
});
