/** What the sampler finds out about its target, and what it notes: metrics, step sizes, acceptance, energies, divergences. */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { SampleOptions } from "../../../src/bayes/chains/options.js";
import { type Fit, model, mvNormal, normal } from "../../../src/bayes/index.js";
import { setDefaultDevice } from "../../../src/tensor/index.js";
import { expectDistribution, normalDistribution } from "../../support/goodness-of-fit.js";
import { f64 } from "../../support/tensors.js";
import { expectExact, normals, savedNumbers } from "./support.js";

before(() => setDefaultDevice("cpu"));
const options: SampleOptions = { chains: 8, draws: 500, warmup: 1000, seed: 8, dtype: "f64", device: "cpu" };
const sum = (values: ArrayLike<number>): number => Array.from(values).reduce((total, x) => total + x, 0);
const meanOf = (values: ArrayLike<number>): number => sum(values) / values.length;

/** Effective draws of the worst scalar for a hundred gradients. */
function efficiency(fit: Fit): number {
  const ess = Math.min(...fit.summary().rows.map(({ essBulk }) => essBulk));
  return (100 * ess) / sum(fit.draws.stat("leapfrogs")!.values);
}

describe("the warmup finds", () => {
  const scales = [0.01, 0.3, 1, 5, 100];

  test("the variances of the target, within their error, for each chain and for all together", async () => {
    const posterior = model(() => ({ x: normal(1, f64(scales)) })).given({});
    for (const pooled of [false, true]) {
      const fit = await posterior.sample({ ...options, pooled });
      const metric = await savedNumbers(fit, "metric");
      for (const [d, scale] of scales.entries()) {
        for (let c = 0; c < 8; c++) {
          // Of 500 draws, or 4000: a variance is known to √(2/n), and draws of NUTS are worth about as many.
          const off = Math.log(metric[d * 8 + c]! / (scale * scale)) / Math.sqrt(2 / (pooled ? 4000 : 500));
          assert.ok(Math.abs(off) < 5, `the variance of x[${d}] is off by ${off} standard errors`);
        }
      }
    }
  });

  test("a step size that is accepted as often as was asked, and alike in all chains", async () => {
    const posterior = model(() => ({ x: normal(0, 1).shape(10) })).given({});
    for (const targetAcceptance of [0.8, 0.9, 0.95]) {
      const fit = await posterior.sample({ ...options, targetAcceptance });
      const found = meanOf(fit.draws.stat("acceptance")!.values);
      const steps = fit.draws.stat("stepSize")!;
      const logs = Array.from({ length: 8 }, (_, c) => Math.log(steps.values[c * steps.draws]!));
      const spread = Math.sqrt(meanOf(logs.map((x) => (x - meanOf(logs)) ** 2)));
      // The last 50 draws of the warmup, as many as Stan has, leave it a little above.
      const most = targetAcceptance + 0.6 * (1 - targetAcceptance);
      assert.ok(found > targetAcceptance - 0.02 && found < most, `accepted ${found}, asked ${targetAcceptance}`);
      // From 0.04 to 0.11 with sixteen seeds.
      assert.ok(spread < 0.16, `step sizes differ by ${spread}`);
    }
  });

  /** Normal numbers with scales from 0.1 to 10 along directions that are not the axes: covariance and precision. */
  function tilted(dim: number): Readonly<Record<"covariance" | "precision", number[][]>> {
    // A diagonal matrix turned by a reflection: I - 2vv'.
    const v = Array.from({ length: dim }, (_, d) => Math.sin(3 * d + 1));
    const norm = Math.hypot(...v);
    const turn = (row: number, column: number) => (row === column ? 1 : 0) - (2 * v[row]! * v[column]!) / (norm * norm);
    const variances = Array.from({ length: dim }, (_, d) => 10 ** (-2 + (4 * d) / (dim - 1)));
    const turned = (of: (variance: number) => number) =>
      Array.from({ length: dim }, (_, row) =>
        Array.from({ length: dim }, (_, column) =>
          sum(variances.map((variance, d) => turn(row, d) * of(variance) * turn(column, d))),
        ),
      );
    return { covariance: turned((x) => x), precision: turned((x) => 1 / x) };
  }

  // Effective draws for a hundred gradients: with sixteen seeds at least 31, 4 and 2.8.
  for (const [kernel, least] of [
    ["nuts", 20],
    ["hmc", 2.5],
    ["chees", 1.5],
  ] as const) {
    test(`the covariance of the target by 32 chains together, in a short warmup: ${kernel}`, async () => {
      const dim = 8;
      const { covariance, precision } = tilted(dim);
      const chains = 32;
      const fit = await model(() => ({ x: mvNormal(new Array<number>(dim).fill(1), { precision: f64(precision) }) }))
        .given({})
        .sample({ ...options, kernel, chains, draws: 100, warmup: 250, metric: "dense", pooled: true });
      const metric = await savedNumbers(fit, "metric");
      const found = (row: number, column: number) => metric[(row * dim + column) * chains]!;
      // The last window has 100 draws of each chain.
      const error = Math.sqrt(2 / (100 * chains));
      const random = normals(6);
      for (let n = 0; n < 20; n++) {
        // Along any direction of the target's own scale: a = Λ·z has variance zᵀΛz.
        const z = Array.from({ length: dim }, random);
        const a = precision.map((row) => sum(row.map((value, j) => value * z[j]!)));
        const truth = sum(z.map((value, i) => value * a[i]!));
        const along = sum(a.flatMap((x, i) => a.map((y, j) => x * found(i, j) * y)));
        const off = Math.log(along / truth) / error;
        assert.ok(Math.abs(off) < 6, `the variance along ${a} is off by ${off} standard errors`);
      }
      for (let at = 0; at < dim * dim; at++) {
        assert.ok(metric.subarray(at * chains, (at + 1) * chains).every((value) => value === metric[at * chains]));
      }
      for (let d = 0; d < dim; d++) expectExact(fit, `x[${d}]`, 1, covariance[d]![d]!);
      assert.equal(sum(fit.draws.stat("divergent")!.values), 0);
      assert.ok(efficiency(fit) > least, `${efficiency(fit)} effective draws for 100 gradients`);
    });
  }

  test("how to walk through 50 dimensions that are correlated, with scales from 0.1 to 10", async () => {
    const dim = 50;
    const { covariance, precision } = tilted(dim);
    const mean = Array.from({ length: dim }, (_, d) => d / 10);
    const fit = await model(() => ({ x: mvNormal(mean, { precision: f64(precision) }) }))
      .given({})
      .sample({ ...options, chains: 4, draws: 500, metric: "dense" });
    for (const d of [0, 7, 24, 25, 49]) expectExact(fit, `x[${d}]`, mean[d]!, covariance[d]![d]!);
    assert.equal(sum(fit.draws.stat("divergent")!.values), 0);
    // Against what it costs to walk along 10 in steps of 0.1, hundreds of gradients for a draw.
    assert.ok(efficiency(fit) > 5, `${efficiency(fit)} effective draws for 100 gradients`);
  });
});

describe("trajectories are as long as they are worth", () => {
  for (const [title, dim, bound] of [
    ["1 dimension", 1, 12],
    ["10 dimensions", 10, 18],
    ["100 dimensions", 100, 10],
  ] as const) {
    test(`a normal distribution in ${title}`, async () => {
      const fit = await model(() => ({ x: normal(0, 1).shape(dim) }))
        .given({})
        .sample(options);
      assert.ok(efficiency(fit) > bound, `${efficiency(fit)} effective draws for 100 gradients`);
    });
  }
});

describe("of each draw", () => {
  const one = model(() => ({ x: normal(0, 1) })).given({});
  // A coarse step, so that energy is far from conserved.
  const coarse: SampleOptions = { ...options, draws: 1000, warmup: 0, stepSize: 1.6 };

  for (const kernel of ["nuts", "hmc"] as const) {
    test(`the energy is noted that it has: ${kernel}`, async () => {
      const { draws } = await one.sample({ ...coarse, kernel });
      const [x, lp, energy] = [draws.scalar("x"), draws.stat("lp")!, draws.stat("energy")!].map(({ values }) => values);
      const kinetic = Array.from(energy!, (h, i) => h + lp![i]!);
      for (const [i, value] of lp!.entries()) assert.ok(Math.abs(value + x![i]! ** 2 / 2) < 1e-12);
      assert.ok(Math.min(...kinetic) > -1e-12, `a kinetic energy of ${Math.min(...kinetic)}`);
      if (kernel === "nuts") {
        // The momentum that comes with a draw is as normal as any.
        const tenth = kinetic.filter((_, i) => i % 10 === 0);
        expectDistribution(tenth, (k) => 2 * normalDistribution(Math.sqrt(2 * Math.max(0, k))) - 1, "kinetic energy");
      }
    });
  }

  test("an energy that is off by less than 1000 is no divergence, and one by more is", async () => {
    const stiff = { ...coarse, stepSize: 1.99, inits: Array.from({ length: 8 }, () => [12]), draws: 100 };
    const stable = await one.sample(stiff);
    assert.equal(sum(stable.draws.stat("divergent")!.values), 0);
    const acceptance = stable.draws.stat("acceptance")!.values;
    assert.ok(Math.min(...acceptance) < 0.3, "energy was conserved too well to tell");
    const unstable = await one.sample({ ...stiff, stepSize: 4 });
    assert.ok(meanOf(unstable.draws.stat("divergent")!.values) > 0.9);
  });
});
