/** What a fit knows: names that the compiler checks, agreement of many short chains, and predictions of its model. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import type { SampleOptions } from "../../../src/bayes/chains/options.js";
import { compare, factor, halfCauchy, model, normal, poisson } from "../../../src/bayes/index.js";
import { key } from "../../../src/random/key.js";
import { setDefaultDevice, type Tensor, tensor } from "../../../src/tensor/index.js";
import { expectDistribution, normalDistribution } from "../../support/goodness-of-fit.js";
import { describeOnTensorDevices, f64 } from "../../support/tensors.js";
import { sampled } from "./support.js";

before(() => setDefaultDevice("cpu"));
const options: SampleOptions = { chains: 4, draws: 500, warmup: 300, seed: 3, dtype: "f64", device: "cpu" };

describe("many short chains", () => {
  const schools = model(({ s }: { s: Tensor }) => {
    const [mu, tau] = [normal(0, 5), halfCauchy(5)];
    const theta = normal(mu, tau).shape(8).noncentered();
    return { mu, tau, theta, y: normal(theta, s) };
  }).given({ y: f64([28, 8, -3, 7, -1, 1, 18, 12]) }, { s: f64([15, 10, 16, 11, 9, 11, 10, 18]) });
  const short: SampleOptions = { ...options, chains: 256, draws: 20, warmup: 100, pooled: true };

  test("start in superchains by themselves, and nested R-hat finds that they agree where R-hat cannot", async () => {
    const fit = await schools.sample(short);
    assert.equal(fit.draws.superchains, 8);
    const table = fit.summary();
    assert.ok(Math.max(...table.column("rHat")) > 1.05);
    assert.ok(Math.max(...table.column("nestedRHat")) < 1.01, `${table.column("nestedRHat")}`);
    assert.deepEqual(
      fit.check().problems.filter(({ kind }) => kind === "r-hat"),
      [],
    );
  });

  test("that do not agree are found out", async () => {
    // Two modes that no chain crosses between.
    const two = model(() => {
      const x = normal(0, 100);
      return { x, y: normal(x.square(), 1) };
    }).given({ y: f64([400, 400]) });
    const fit = await two.sample({ ...short, warmup: 300 });
    const problem = fit.check().problems.find(({ kind }) => kind === "r-hat");
    assert.match(problem?.message ?? "", /nested R-hat.*x/);
    assert.equal(problem?.severity, "error");
  });

  test("of a superchain start at one point, and those of others elsewhere", async () => {
    const flatIsh = model(() => ({ x: normal(0, 1).shape(2) })).given({});
    const still: SampleOptions = { ...options, chains: 12, superchains: 3, draws: 1, warmup: 0, stepSize: 1e-9 };
    const { values } = (await sampled(flatIsh, still)).draws.scalar("x[0]");
    const starts = Array.from(values, (x) => Math.round(x * 1e5));
    assert.equal(new Set(starts).size, 3);
    // Without superchains every chain has a point of its own.
    const alone = (await sampled(flatIsh, { ...still, superchains: undefined })).draws.scalar("x[0]");
    assert.equal(new Set(Array.from(alone.values, (x) => Math.round(x * 1e5))).size, 12);
    for (const [chain, start] of starts.entries()) assert.equal(start, starts[chain - (chain % 4)]);
    const inits = Array.from({ length: 12 }, (_, c) => [c, 0]);
    assert.throws(() => flatIsh.sample({ ...still, inits }), /chains of a superchain start at the same point/);
  });

  test("are as many superchains as divide them and have draws enough each", async () => {
    const one = model(() => ({ x: normal(0, 1) })).given({});
    const chosen = async (chains: number, draws: number) =>
      (await sampled(one, { ...options, warmup: 0, stepSize: 1, chains, draws })).draws.superchains;
    assert.equal(await chosen(64, 100), 8);
    assert.equal(await chosen(64, 10), 1);
    assert.equal(await chosen(37, 100), 1);
    assert.equal(await chosen(8, 100), 1);
    assert.equal(await chosen(40, 250), 10);
    assert.equal(await chosen(40, 251), 1);
  });
});

describe("names", () => {
  const counted = model(() => {
    const mu = normal(0, 1);
    const hidden = normal(mu, 1);
    return { mu, twice: mu.mul(2), y: normal(hidden, 1) };
  }).given({ y: f64([1, 2]) });

  test("of variables are known to the compiler, of what is drawn and of what is given", async () => {
    const fit = await counted.sample({ ...options, draws: 10, warmup: 20 });
    assert.equal(fit.draws.values("mu").length, 40);
    assert.equal(fit.draws.values("twice").length, 40);
    assert.equal(fit.draws.values("normal_1").length, 40);
    assert.deepEqual(fit.draws.tensor("twice").shape, [4, 10]);
    assert.equal(fit.summary(["mu", /twice/]).rows.length, 2);
    // @ts-expect-error observed, not drawn
    assert.throws(() => fit.draws.tensor("y"), /no variable is named "y"/);
    // @ts-expect-error no variable is named so
    assert.throws(() => fit.draws.values("muu"), /no variable is named "muu"/);
    // @ts-expect-error observed, not drawn
    assert.throws(() => fit.draws.scalar("y[0]"), /no scalar/);
    // @ts-expect-error no variable is named so
    assert.throws(() => fit.summary("muu"), /no scalar/);
    // @ts-expect-error no variable is named so
    assert.throws(() => counted.unconstrain({ muu: 1 }), /no latent variable "muu"; it takes mu/);
    // @ts-expect-error not observed
    await assert.rejects(fit.loo("mu"), /mu is not observed; there are y/);
    const observed: Float64Array = (await fit.predictive(key(0))).values("y");
    assert.equal(observed.length, 80);
  });
});

test("without observations or draws there is nothing to leave out or to predict", async () => {
  const only = model(() => {
    const mu = normal(0, 1);
    factor(mu.square().neg());
    return { mu };
  }).given({});
  const fit = await only.sample({ ...options, draws: 10, warmup: 20 });
  const nothing = /the model observes nothing.*factor/;
  await assert.rejects(fit.loo(), { name: "ArgumentError", message: nothing });
  await assert.rejects(fit.logLikelihood(), { name: "ArgumentError", message: nothing });
  await assert.rejects(fit.predictive(key(0)), { name: "ArgumentError", message: nothing });
  const ended = await model(() => ({ mu: normal(0, 1), y: normal(0, 1) }))
    .given({ y: f64([1]) })
    .sample({ ...options, signal: AbortSignal.abort() });
  assert.equal(ended.draws.length, 0);
  await assert.rejects(ended.loo(), { name: "ArgumentError", message: /there are no draws.*extend/ });
  await assert.rejects(ended.predictive(key(0)), { name: "ArgumentError", message: /there are no draws/ });
});

describeOnTensorDevices("from a fit to its observations", (device) => {
  const dtype = device === "cpu" ? "f64" : "f32";
  const y = [0.3, 1.9, -0.4, 2.2, 1.1, 0.2, 3.1];
  const posterior = model(() => {
    const mu = normal(0, 10);
    return { mu, y: normal(mu, 1), k: poisson(mu.mul(0).add(2)) };
  }).given({ y: tensor(y, { dtype, device }), k: tensor([1, 3], { dtype, device }) });
  const settings: SampleOptions = {
    ...options,
    dtype,
    device,
    ...(device === "cpu" ? {} : { draws: 400, warmup: 150 }),
  };
  const logDensity = (value: number, mean: number, variance: number) =>
    -0.5 * (Math.log(2 * Math.PI * variance) + (value - mean) ** 2 / variance);

  test("draws and predictions are tensors where and as they were made, with the numbers they have", async () => {
    const fit = await posterior.sample({ ...settings, draws: 20, warmup: 30 });
    const mu = fit.draws.tensor("mu");
    assert.deepEqual([mu.shape, mu.dtype, mu.device.split(":")[0]], [[4, 20], dtype, device]);
    assert.deepEqual([...(await mu.data())], [...fit.draws.values("mu")]);
    const predicted = (await fit.predictive(key(0, { device }))).tensor("y");
    assert.deepEqual([predicted.shape, predicted.dtype], [[4, 20, 7], dtype]);
    assert.equal(predicted.device, mu.device);
  });

  test("log-likelihoods are those of each observation at each draw", async () => {
    const fit = await posterior.sample(settings);
    const logs = await fit.logLikelihood();
    assert.deepEqual(
      [...logs.variables],
      [
        ["y", [7]],
        ["k", [2]],
      ],
    );
    assert.deepEqual([logs.chains, logs.length], [4, fit.draws.length]);
    const mu = fit.draws.values("mu");
    const found = logs.values("y");
    const tolerance = dtype === "f64" ? 1e-12 : 1e-5;
    for (const [draw, mean] of mu.entries()) {
      for (const [i, value] of y.entries()) {
        assert.ok(Math.abs(found[draw * 7 + i]! - logDensity(value, mean, 1)) < tolerance);
      }
    }
  });

  test("leaving one out is what it would be exactly", async () => {
    const fit = await posterior.sample(settings);
    const exact = y.map((value, i) => {
      const rest = y.filter((_, j) => j !== i);
      const precision = rest.length + 1 / 100;
      const mean = rest.reduce((sum, x) => sum + x, 0) / precision;
      return logDensity(value, mean, 1 + 1 / precision);
    });
    const result = await fit.loo("y");
    const tolerance = 0.05;
    for (const [i, value] of exact.entries())
      assert.ok(Math.abs(result.pointwise.elpd[i]! - value) < tolerance, `${result.pointwise.elpd[i]}, not ${value}`);
    const all = await fit.loo();
    assert.equal(all.pointwise.names.length, 9);
    assert.ok(compare({ a: result, b: result }).rows.length === 2);
  });

  test("new observations follow the predictive distribution", async () => {
    const fit = await posterior.sample(settings);
    const made = await fit.predictive(key(7));
    assert.deepEqual(
      [...made.variables],
      [
        ["y", [7]],
        ["k", [2]],
      ],
    );
    const precision = y.length + 1 / 100;
    const mean = y.reduce((sum, x) => sum + x, 0) / precision;
    const sd = Math.sqrt(1 + 1 / precision);
    // Draws of mu are correlated, but most of the spread is fresh.
    const { values } = made.scalar("y[3]");
    expectDistribution(
      values.filter((_, i) => i % 5 === 0),
      (x) => normalDistribution((x - mean) / sd),
      "y[3]",
    );
    assert.notDeepEqual(made.scalar("y[3]").values, made.scalar("y[4]").values);
    assert.deepEqual((await fit.predictive(key(7))).values("k"), made.values("k"));
    assert.notDeepEqual((await fit.predictive(key(8))).values("k"), made.values("k"));
  });
});

test("the report says what check() does of a variable that was to be sampled and never moved", async () => {
  // A spread that f32 does not hold next to its mean; c is a constant of the model, which nobody minds.
  const stiff = model(() => {
    const [mu, theta] = [normal(0, 1), normal(1e8, 1e-3).noncentered()];
    return { mu, theta, c: tensor(3, { device: "cpu" }), y: normal(mu, 1) };
  }).given({ y: [1, 2] });
  const fit = await stiff.sample({ ...options, dtype: "f32" });
  const { problems } = fit.check();
  const message = "theta never moved: it is the same in every draw of every chain.";
  assert.deepEqual(
    problems.map((problem) => problem.message),
    [message],
  );
  const folder = mkdtempSync(join(tmpdir(), "pumice-report-"));
  try {
    await fit.report(join(folder, "out.html"));
    const [verdict] = readFileSync(join(folder, "out.html"), "utf8").match(/<section id="verdict">.*?<\/section>/s)!;
    assert.ok(verdict.includes(`<div class="finding error"><p>${message}</p>`), verdict);
    assert.doesNotMatch(verdict, /All is well/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
