/** Observations of which some are missing: they are sampled, by the name of the variable and "_missing". */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import {
  ar,
  dirichlet,
  exponential,
  halfNormal,
  model,
  mvNormal,
  normal,
  poisson,
  smc,
  uniform,
  withMissing,
} from "../../../src/bayes/index.js";
import { key } from "../../../src/random/key.js";
import { setDefaultDevice, type Tensor } from "../../../src/tensor/index.js";
import { describeOnTensorDevices, f64, numbersOf } from "../../support/tensors.js";

// Plain numbers go where f64() puts its tensors.
before(() => setDefaultDevice("cpu"));

const { NaN: gap } = Number;
const logNormal = (x: number, m: number, s: number) => -0.5 * ((x - m) / s) ** 2 - Math.log(s * Math.sqrt(2 * Math.PI));
const at = (x: Tensor): number => x.itemSync() as number;
const close = (found: number, expected: number, tolerance = 1e-10) =>
  assert.ok(Math.abs(found - expected) <= tolerance * Math.max(1, Math.abs(expected)), `${found}, not ${expected}`);

const level = model(() => {
  const mu = normal(0, 1);
  return { mu, y: normal(mu, 2).shape(4) };
});
const data = [1, gap, 3, gap];

describe("missing observations", () => {
  const posterior = level.given({ y: withMissing(f64(data)) });

  test("are latent variables, in the order of the data", () => {
    assert.deepEqual(
      posterior.latents.map(({ name, shape, offset }) => [name, shape, offset]),
      [
        ["mu", [], 0],
        ["y_missing", [2], 1],
      ],
    );
    assert.deepEqual(
      posterior.observed.map(({ name, shape }) => [name, shape]),
      [["y", [4]]],
    );
    const values = { mu: 0.3, y_missing: [5, -1] };
    const u = posterior.unconstrain(values);
    assert.deepEqual(numbersOf(u), [0.3, 5, -1]);
    const back = posterior.constrain(u) as unknown as Readonly<Record<string, Tensor>>;
    assert.deepEqual(numbersOf(back.y_missing!), [5, -1]);
    const expected = logNormal(0.3, 0, 1) + [1, 5, 3, -1].reduce((sum, y) => sum + logNormal(y, 0.3, 2), 0);
    close(at(posterior.logDensity(u)), expected);
    const [, slopes] = posterior.logDensityAndGrad(u);
    [-0.3 + (8 - 4 * 0.3) / 4, -(5 - 0.3) / 4, (1 + 0.3) / 4].forEach((slope, i) => {
      close(numbersOf(slopes)[i]!, slope);
    });
  });

  test("are no observations: log-likelihoods are of the others, and the prior has the density of these", () => {
    const u = f64([0.3, 5, -1]);
    const logs = numbersOf(posterior.logLikelihood(u).y);
    assert.equal(logs.length, 2);
    [1, 3].forEach((y, i) => {
      close(logs[i]!, logNormal(y, 0.3, 2));
    });
    const { prior, likelihood } = posterior.densityParts(u);
    close(at(likelihood), logs[0]! + logs[1]!);
    close(at(prior), logNormal(0.3, 0, 1) + logNormal(5, 0.3, 2) + logNormal(-1, 0.3, 2));
    assert.deepEqual([...posterior.posteriorPredictive(key(1, { device: "cpu" }), u).y.shape], [4]);
    assert.equal(posterior.priorDraw(key(1, { device: "cpu" })).size, 3);
  });

  test("of supports with ends are reached by their bijection, also where ends differ", () => {
    const waiting = model(() => {
      const rate = halfNormal(1);
      return { rate, y: exponential(rate), z: uniform(f64([0, 2, 4]), f64([1, 5, 9])) };
    }).given({ y: withMissing([0.5, gap]), z: withMissing([0.2, gap, 5]) });
    const values = { rate: 0.7, y_missing: [1.9], z_missing: [2.5] };
    const u = waiting.unconstrain(values, { dtype: "f64" });
    const [logRate, logY, share] = numbersOf(u) as [number, number, number];
    close(logY, Math.log(1.9));
    close(share, Math.log(0.5 / 2.5));
    const prior = Math.log(2) + logNormal(0.7, 0, 1) + logRate;
    const waits = 2 * Math.log(0.7) - 0.7 * (0.5 + 1.9) + logY;
    const evenly = -Math.log(3) - Math.log(5) + Math.log((0.5 * 2.5) / 3);
    close(at(waiting.logDensity(u)), prior + waits + evenly);
    const back = waiting.constrain(u) as unknown as Readonly<Record<string, Tensor>>;
    close(numbersOf(back.z_missing!)[0]!, 2.5);
  });

  test("of vectors depend on the elements beside them, and such draws have no log-likelihood", () => {
    const covariance = [
      [2, 0.8],
      [0.8, 1],
    ];
    const pairs = model(() => {
      const m = normal(0, 1);
      return { m, y: mvNormal(m, { covariance }) };
    }).given({
      y: withMissing(
        f64([
          [1, gap],
          [0.4, -0.2],
        ]),
      ),
    });
    const slope = (value: number) => numbersOf(pairs.logDensityAndGrad(f64([0.5, value]))[1])[1]!;
    // The mean of y_1 given y_0 = 1 is 0.5 + 0.8/2·(1 - 0.5) = 0.7, its variance 1 - 0.64/2 = 0.68.
    close(slope(0.7), 0, 1e-9);
    close(slope(1.7), -1 / 0.68);
    assert.deepEqual([...pairs.logLikelihood(f64([0.5, 0.7])).y.shape], [1]);
    assert.throws(() => pairs.priorDraw(key(1, { device: "cpu" })), /y: elements of vectors are missing/);
  });

  test("in a series follow from their neighbours", () => {
    const series = model(() => {
      const phi = normal(0, 0.5);
      return { phi, y: ar([phi], 1, { steps: 3 }) };
    }).given({ y: withMissing(f64([1, gap, 2])) });
    // -(x - φ)²/2 - (2 - φx)²/2 is highest at x = 3φ/(1 + φ²).
    const slopes = numbersOf(series.logDensityAndGrad(f64([0.5, 1.5 / 1.25]))[1]);
    close(slopes[1]!, 0, 1e-12);
    assert.deepEqual(Object.keys(series.logLikelihood(f64([0.5, 1]))), []);
  });

  test("that none are missing, there is nothing to sample for", () => {
    assert.equal(level.given({ y: withMissing([1, 2, 3, 4]) }).dim, 1);
  });
});

describe("mistakes", () => {
  test("are named", () => {
    assert.throws(
      () => level.given({ y: data }),
      /y: value 1 is NaN, but normal takes finite numbers. Mark missing values by withMissing/,
    );
    assert.throws(
      () => level.given({ y: withMissing([gap, gap, gap, gap]) }),
      /y: all its values are missing; leave the name out/,
    );
    assert.throws(() => level.given({ y: withMissing([1, gap]) }), /y: .*shape/);
    const counts = model(() => {
      const rate = halfNormal(1);
      return { rate, n: poisson(rate) };
    });
    assert.throws(
      () => counts.given({ n: withMissing([1, gap]) }),
      /n: missing values of a poisson variable cannot be sampled one by one/,
    );
    const shares = model(() => ({ b: normal(0, 1), p: dirichlet([1, 1]) }));
    assert.throws(() => shares.given({ p: withMissing([[0.5, gap]]) }), /p: missing values of a dirichlet variable/);
    const positive = model(() => ({ b: normal(0, 1), y: exponential(1) }));
    assert.throws(() => positive.given({ y: withMissing([-1, gap]) }), /y: value 0 is -1, but exponential takes/);
    const taken = model(() => ({ y_missing: normal(0, 1), y: normal(0, 1) }));
    assert.throws(
      () => taken.given({ y: withMissing([1, gap]) }),
      /y_missing: the missing values of y go by this name/,
    );
  });
});

describeOnTensorDevices("chains", (device) => {
  for (const dtype of ["f32", "f64"] as const) {
    test(`in ${dtype} have the posterior of what was observed, and predict what was not`, async () => {
      // Observed covariates and answers with gaps in both: y = 2x + noise.
      const regression = model(() => {
        const mu = normal(0, 1);
        const x = normal(mu, 1).shape(5);
        return { mu, x, y: normal(x.mul(2), 0.5) };
      });
      const posterior = regression.given({
        x: withMissing([1, gap, 0.5, -0.3, gap]),
        y: withMissing([2.2, 1.5, gap, -0.4, gap]),
      });
      const fit = await posterior.sample({ chains: 8, draws: 300, warmup: 300, seed: 4, device, dtype });
      // x_1 is known by y_1 = 1.5 alone, as 0.75 ± 0.25; x_0, x_2, x_3 and this one say what mu is.
      const weights = [1, 1, 1, 1 / (1 + 0.0625)];
      const [total, sum] = [1 + weights.reduce((a, b) => a + b), 1 + 0.5 - 0.3 + 0.75 / 1.0625];
      const mu = sum / total;
      const x1 = (0.75 * 16 + mu) / 17;
      const expected: readonly (readonly [string, number])[] = [
        ["mu", mu],
        ["x_missing[0]", x1],
        ["x_missing[1]", mu],
        ["y_missing[0]", 1],
        ["y_missing[1]", 2 * mu],
      ];
      const { rows } = fit.summary();
      for (const [name, value] of expected) {
        const { mean, mcseMean } = rows.find((row) => row.name === name)!;
        assert.ok(Math.abs(mean - value) < 4.5 * mcseMean, `${name} is ${mean}, not ${value}`);
      }
      assert.deepEqual([...fit.draws.tensor("y_missing").shape], [8, 300, 2]);
      assert.deepEqual((await fit.logLikelihood()).variables.get("y"), [3]);
      assert.deepEqual((await fit.predictive(key(1))).variables.get("y"), [5]);
    });
  }

  test("are saved and resumed", async () => {
    const posterior = level.given({ y: withMissing(f64(data)) });
    const folder = await mkdtemp(join(tmpdir(), "missing-"));
    const options = { chains: 2, draws: 20, warmup: 50, seed: 1, device } as const;
    const fit = await posterior.sample(options);
    await fit.save(join(folder, "run.fit"));
    const more = await (await posterior.resume(join(folder, "run.fit"))).extend(20);
    const whole = await posterior.sample({ ...options, draws: 40 });
    assert.deepEqual(more.draws.values("y_missing"), whole.draws.values("y_missing"));
    const others = level.given({ y: withMissing(f64([gap, 1, 3, gap])) });
    await assert.rejects(async () => await others.resume(join(folder, "run.fit")));
    await rm(folder, { recursive: true });
  });
});

test("smc has the evidence of what was observed alone", async () => {
  const fit = await smc(level.given({ y: withMissing(f64(data)) }), { particles: 4000, seed: 1 });
  // y_0 and y_2 are normal with variance 5 and covariance 1.
  const [a, b] = [1, 3];
  const evidence = -Math.log(2 * Math.PI) - 0.5 * Math.log(24) - (5 * a * a - 2 * a * b + 5 * b * b) / 48;
  assert.ok(Math.abs(fit.logEvidence - evidence) < 0.08, `${fit.logEvidence}, not ${evidence}`);
});
