/** NUTS against exact distributions, one step from exact draws and from start to end; and samplers with mistakes in them. */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { lanesFor } from "../../../src/bayes/chains/lanes.js";
import type { SampleOptions } from "../../../src/bayes/chains/options.js";
import { warmupSchedule } from "../../../src/bayes/chains/warmup.js";
import type { Draws } from "../../../src/bayes/draws/draws.js";
import { beta, binomial, flat, halfNormal, model, mvNormal, normal, poisson } from "../../../src/bayes/index.js";
import type { ChainDensity } from "../../../src/bayes/kernels/density.js";
import { NUTS, type Trajectories } from "../../../src/bayes/kernels/nuts/trajectories.js";
import { choleskyFactor } from "../../../src/bayes/numerics/cholesky.js";
import { nextBudget } from "../../../src/runs/pace.js";
import { backendFor, setDefaultDevice, type Tensor, tensor } from "../../../src/tensor/index.js";
import { expectDistribution, normalDistribution } from "../../support/goodness-of-fit.js";
import { f64, testDevices } from "../../support/tensors.js";
import { NUTS_WITH_TURNED_SUBTREES, samplerWith, withStaleDensity } from "./broken-samplers.js";
import { correlated, exactDraws, expectExact, runToEnd, sampled, worstMoment } from "./support.js";

before(() => setDefaultDevice("cpu"));

describe("a transition leaves the distribution as it is, from exact draws", () => {
  /** The largest |z| of means and mean squares of the last of four draws, one per chain. */
  async function worst(chains: number, more: SampleOptions, broken?: Trajectories): Promise<number> {
    const inits = exactDraws(chains);
    const own = { chains, draws: 4, warmup: 0, stepSize: 0.4, seed: 5, dtype: "f64", device: "cpu" } as const;
    const options: SampleOptions = { ...own, ...more, inits };
    const fit = await (broken ? runToEnd(samplerWith(broken, correlated(), options)) : sampled(correlated(), options));
    const zs = fit.draws.names.map((name) => {
      const last = fit.draws.scalar(name).values.filter((_, i) => i % 4 === 3);
      if (!broken) expectDistribution(last, normalDistribution, name);
      return worstMoment(last);
    });
    return Math.max(...zs);
  }
  const variants: Readonly<Record<string, SampleOptions>> = {
    "f64, on the CPU": {},
    "f32 with energies in f64": { dtype: "f32" },
    "all in f32": { dtype: "f32", energies: "f32" },
    "a dense metric": { metric: "dense" },
    "trajectories that are cut short": { maxTreeDepth: 2 },
    "trajectories of known length": { kernel: "hmc", steps: 5 },
    "trajectories of known length and a dense metric": { kernel: "hmc", steps: 5, metric: "dense" },
    // At the limit of what is stable, points of a trajectory have very different weights, and choices among them matter.
    "a coarse step": { stepSize: 0.6 },
    "a coarse step, trajectories of one or two doublings": { stepSize: 0.6, maxTreeDepth: 2 },
    "a coarse step, trajectories of known length": { stepSize: 0.6, kernel: "hmc", steps: 5 },
  };
  for (const [title, options] of Object.entries(variants)) {
    test(title, async () => assert.ok((await worst(8192, options)) < 4));
  }
  const skip = testDevices().includes("vulkan") ? false : "missing: a Vulkan device";
  test("a thread per chain on Vulkan", { skip }, async () => {
    assert.ok((await worst(4096, { device: "vulkan", dtype: "f32" })) < 4);
  });
  test("a workgroup per chain on Vulkan", { skip }, async () => {
    assert.ok((await worst(256, { device: "vulkan", dtype: "f32", lanes: 32 })) < 4);
  });
  for (const [title, options] of Object.entries({
    "in f64": { dtype: "f64" },
    "with a dense metric": { metric: "dense", dtype: "f32" },
  } as Readonly<Record<string, SampleOptions>>)) {
    test(`a thread per chain on Vulkan, ${title}`, { skip }, async (t) => {
      if (options.dtype === "f64" && !backendFor("vulkan").hasDoubles) return t.skip("the device has no doubles");
      assert.ok((await worst(4096, { device: "vulkan", ...options })) < 4);
    });
  }
  test("a density that is a step behind does not", async () => {
    assert.ok((await worst(8192, {}, withStaleDensity(NUTS))) > 8);
  });
  test("doublings that are accepted though they turned do not", async () => {
    assert.ok((await worst(8192, {}, NUTS_WITH_TURNED_SUBTREES)) > 8);
  });
});

describe("exact posteriors", () => {
  /** Draws that are far enough apart to be taken for independent. */
  const everyFifth = ({ draws }: { readonly draws: Draws }, name: string): Float64Array =>
    draws.scalar(name).values.filter((_, i) => i % 5 === 0);
  const options: SampleOptions = { chains: 4, draws: 1000, warmup: 500, seed: 11, dtype: "f64", device: "cpu" };

  test("normal, in 1 and 100 dimensions", async () => {
    const one = await model(() => ({ x: normal(3, 2) }))
      .given({})
      .sample(options);
    expectExact(one, "x", 3, 4);
    expectDistribution(everyFifth(one, "x"), (x) => normalDistribution((x - 3) / 2), "x");
    const many = await model(() => ({ x: normal(0, 1).shape(100) }))
      .given({})
      .sample({ ...options, draws: 500 });
    for (const d of [0, 31, 99]) expectExact(many, `x[${d}]`, 0, 1);
    assert.equal(
      many.draws.stat("divergent")!.values.reduce((a, b) => a + b),
      0,
    );
  });

  test("normal with scales from 0.01 to 100, and with correlations under a dense metric", async () => {
    const scales = [0.01, 0.1, 1, 10, 100];
    const uneven = await model(() => ({ x: normal(0, f64(scales)) }))
      .given({})
      .sample({ ...options, warmup: 1000 });
    for (const [d, scale] of scales.entries()) expectExact(uneven, `x[${d}]`, 0, scale * scale);
    const covariance = [
      [1, 0.99],
      [0.99, 1],
    ];
    const narrow = await model(() => ({ x: mvNormal([1, 2], { covariance: f64(covariance) }) }))
      .given({})
      .sample({ ...options, metric: "dense" });
    expectExact(narrow, "x[0]", 1, 1);
    expectExact(narrow, "x[1]", 2, 1);
  });

  test("beta and gamma posteriors of counts", async () => {
    const share = await model(() => {
      const p = beta(2, 3);
      return { p, y: binomial(20, p) };
    })
      .given({ y: f64(14) })
      .sample(options);
    const [a, b] = [16, 9];
    // Of whole a and b: the chance that at least a of a + b - 1 are below.
    const below = (p: number) => {
      let [sum, choices] = [0, 1];
      for (let k = 0; k < a + b; k++) {
        if (k >= a) sum += choices * p ** k * (1 - p) ** (a + b - 1 - k);
        choices *= (a + b - 1 - k) / (k + 1);
      }
      return sum;
    };
    expectDistribution(everyFifth(share, "p"), below, "p");
    expectExact(share, "p", a / (a + b), (a * b) / ((a + b) ** 2 * (a + b + 1)));
    const rate = await model(() => {
      const log = flat();
      return { rate: log.exp(), y: poisson(log.exp()) };
    })
      .given({ y: f64([3, 5, 4]) })
      .sample(options);
    // A flat prior of the logarithm is 1/rate: Gamma(12, 3).
    expectExact(rate, "rate", 12 / 3, 12 / 9);
  });

  test("a regression with a known scale", async () => {
    const x = [-2, -1, 0, 1, 3];
    const y = [1, 0.5, 0.7, 2, 2.5];
    const fit = await model(({ x }: { x: Tensor }) => {
      const b = normal(0, 2);
      return { b, y: normal(x.mul(b), 0.5) };
    })
      .given({ y: f64(y) }, { x: f64(x) })
      .sample(options);
    const precision = 1 / 4 + x.reduce((sum, v) => sum + (v * v) / 0.25, 0);
    const mean = x.reduce((sum, v, i) => sum + (v * y[i]!) / 0.25, 0) / precision;
    expectExact(fit, "b", mean, 1 / precision);
    expectDistribution(everyFifth(fit, "b"), (b) => normalDistribution((b - mean) * Math.sqrt(precision)), "b");
  });

  test("scales from 0.1 to 10, by all chains together", async () => {
    const scales = [0.1, 1, 10];
    const uneven = model(() => ({ x: normal(1, f64(scales)) })).given({});
    const together = { ...options, chains: 64, draws: 100, warmup: 120 } as const;
    for (const kernel of ["nuts", "hmc", "chees"] as const) {
      const fit = await uneven.sample({ ...together, kernel, pooled: true });
      for (const [d, scale] of scales.entries()) expectExact(fit, `x[${d}]`, 1, scale * scale);
      const steps = fit.draws.stat("stepSize")!.values;
      assert.ok(steps.every((step) => step === steps[0]));
    }
  });

  test("a narrow ridge by all chains together on Vulkan, under a dense metric", {
    skip: testDevices().includes("vulkan") ? false : "missing: a Vulkan device",
  }, async () => {
    const make = (values: number[] | number[][]) => tensor(values, { device: "vulkan" });
    const covariance = [
      [1, 0.99],
      [0.99, 1],
    ];
    const ridge = model(({ m, c }: { m: Tensor; c: Tensor }) => ({ x: mvNormal(m, { covariance: c }) })).given(
      {},
      { m: make([1, 2]), c: make(covariance) },
    );
    const together = { chains: 64, draws: 50, warmup: 120, seed: 3, device: "vulkan", metric: "dense" } as const;
    for (const kernel of ["nuts", "chees"] as const) {
      const fit = await ridge.sample({ ...together, kernel, pooled: true });
      expectExact(fit, "x[0]", 1, 1);
      expectExact(fit, "x[1]", 2, 1);
    }
  });

  test("Neal's funnel, non-centred", async () => {
    const fit = await model(() => {
      const v = normal(0, 3);
      return { v, x: normal(0, v.mul(0.5).exp()).shape(5).noncentered() };
    })
      .given({})
      .sample(options);
    expectExact(fit, "v", 0, 9);
    expectDistribution(everyFifth(fit, "v"), (v) => normalDistribution(v / 3), "v");
  });
});

describe("chains", () => {
  const spread = model(() => ({ mu: normal(0, 1), tau: halfNormal(1) })).given({});
  const options: SampleOptions = { chains: 3, draws: 40, warmup: 60, seed: 2, dtype: "f64", device: "cpu" };

  test("the same seed gives the same draws, another seed others", async () => {
    const [a, b, c] = await Promise.all([
      sampled(spread, options),
      sampled(spread, options),
      sampled(spread, { ...options, seed: 3 }),
    ]);
    assert.deepEqual(a!.draws.values("mu"), b!.draws.values("mu"));
    assert.notDeepEqual(a!.draws.values("mu"), c!.draws.values("mu"));
  });

  test("a fit that is extended, or saved and resumed, goes on as if it had not stopped", async () => {
    const { mkdtemp, rm } = await import("node:fs/promises");
    const { tmpdir } = await import("node:os");
    const { join } = await import("node:path");
    const whole = await sampled(spread, options);
    const folder = await mkdtemp(join(tmpdir(), "pumice-fit-"));
    try {
      const part = await sampled(spread, { ...options, draws: 15 });
      await part.save(join(folder, "fit.json"));
      await part.extend(25);
      assert.deepEqual(part.draws.values("tau"), whole.draws.values("tau"));
      const resumed = await spread.resume(join(folder, "fit.json"));
      assert.equal(resumed.draws.length, 15);
      await resumed.extend(25);
      assert.deepEqual(resumed.draws.values("tau"), whole.draws.values("tau"));
      assert.deepEqual(resumed.draws.stat("energy"), whole.draws.stat("energy"));
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test("a run can be watched, ends early when told, and when it has drawn enough", async () => {
    const run = spread.sample({ ...options, draws: 200 });
    let last = 0;
    for await (const progress of run) {
      assert.equal(progress.draws.length, 3);
      const total = progress.draws.reduce((a, b) => a + b, 0);
      assert.ok(total >= last);
      last = total;
    }
    assert.equal((await run).draws.length, 200);

    const controller = new AbortController();
    const stopped = spread.sample({ ...options, draws: 100000, signal: controller.signal });
    for await (const progress of stopped) if (progress.draws[0]! > 50) controller.abort();
    const { length } = (await stopped).draws;
    assert.ok(length >= 1 && length < 100000, `${length} draws`);

    const enough = await spread.sample({ ...options, draws: 5000, until: { essBulk: 400 } });
    assert.ok(enough.draws.length < 5000);
    assert.ok(Math.min(...enough.summary().rows.map(({ essBulk }) => essBulk)) >= 400);
  });

  test("models that cannot be sampled say which variable is to blame", async () => {
    const impossible = model(() => {
      const mu = normal(0, 1);
      return { mu, y: normal(mu.mul(0).sub(1).log(), 1) };
    }).given({ y: f64([1]) });
    await assert.rejects(async () => await impossible.sample(options), /chain 0.*100 tries.*y/s);
    const steep = model(() => {
      const mu = normal(0, 1);
      return { mu, x: normal(mu.abs().mul(0).sqrt(), 1) };
    }).given({ x: f64(0) });
    await assert.rejects(async () => await steep.sample(options), /gradient by mu/);
    assert.throws(() => model(() => ({ y: normal(0, 1) })).given({ y: f64(0) }), /nothing to infer/);
    assert.throws(() => spread.sample({ chains: 0 }), /chains is 0/);
    const sorting = model(() => {
      const x = normal(0, 1).shape(3);
      return { x, y: normal(x.sort().at(1), 1) };
    }).given({ y: f64(0) });
    assert.throws(() => sorting.sample(options), /argsort.*cannot run inside a kernel of chains/);
    await assert.rejects(async () => await spread.sample({ ...options, inits: [[0]] }), /inits are 3 chains × 2/);
  });
});

test("the factor of a metric times itself is the metric; one that is not positive definite has none", () => {
  const metric = [4, 2, 0.5, 2, 3, -1, 0.5, -1, 2];
  const factor = choleskyFactor(metric, 3)!;
  metric.forEach((value, at) => {
    const [row, column] = [Math.floor(at / 3), at % 3];
    const product = [0, 1, 2].reduce((sum, j) => sum + factor[3 * row + j]! * factor[3 * column + j]!, 0);
    assert.ok(Math.abs(product - value) < 1e-15);
    if (column > row) assert.equal(factor[at], 0);
  });
  assert.equal(choleskyFactor([1, 2, 2, 1], 2), null);
});

test("the warmup has Stan's windows", () => {
  const closes = (draws: number) => [...warmupSchedule(draws).entries()].flatMap(([i, f]) => (f & 2 ? [i + 1] : []));
  assert.deepEqual(closes(1000), [100, 150, 250, 450, 950]);
  assert.deepEqual(closes(150), [100]);
  assert.deepEqual(closes(100), [90]);
  assert.deepEqual(closes(10), []);
});

test("a dispatch is to take 60 ms, and no more than four times as many steps as the last", () => {
  assert.equal(nextBudget(100, 60), 100);
  assert.equal(nextBudget(100, 30), 200);
  assert.equal(nextBudget(100, 0), 400);
  assert.equal(nextBudget(100, 120), 50);
  assert.equal(nextBudget(100, 6000), 25);
  assert.equal(nextBudget(1, 6000), 1);
});

test("a chain has a subgroup to itself while the device has room, more for many observations, and one thread elsewhere", () => {
  const gpu = { abilities: { maxLanes: 256, hasSlowBarriers: false }, units: 128 };
  const lanes = (chains: number, longest: number, backend: object = gpu, isDense = false) =>
    lanesFor({ backend, longest, isForLanes: true } as unknown as ChainDensity, chains, isDense);
  assert.deepEqual(
    [4, 4096, 4097, 65536].map((chains) => lanes(chains, 8)),
    [32, 32, 1, 1],
  );
  assert.deepEqual(
    [4, 1024, 2048, 4096].map((chains) => lanes(chains, 5000)),
    [128, 128, 64, 32],
  );
  assert.equal(lanes(4, 300), 64);
  assert.equal(lanes(4096, 8, { ...gpu, units: 16 }), 1);
  assert.equal(lanes(4, 5000, { ...gpu, abilities: { maxLanes: 1 } }), 1);
  assert.equal(lanes(4, 5000, { ...gpu, abilities: { maxLanes: 256, hasSlowBarriers: true } }), 1);
  assert.equal(lanes(4, 5000, gpu, true), 1);
  assert.equal(lanesFor({ backend: gpu, longest: 5000, isForLanes: false } as unknown as ChainDensity, 4, false), 1);
});
