/**
 * PSIS-LOO against exact leave-one-out: for y_i ~ N(μ, σ) with a normal prior on μ, what remains when y_i is left out is
 * normal, and so is the prediction of y_i.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { inspect } from "node:util";
import { compare, stackingWeights } from "../../../src/bayes/diagnostics/compare.js";
import { essMean } from "../../../src/bayes/diagnostics/effective-sample-size.js";
import { type LooOptions, loo } from "../../../src/bayes/diagnostics/loo.js";
import { fitPareto, paretoQuantile, smoothWeights } from "../../../src/bayes/diagnostics/pareto.js";
import { Draws } from "../../../src/bayes/draws/draws.js";
import { ArgumentError, ShapeError } from "../../../src/core/errors.js";
import { autoregressive, normals } from "../chains.js";

const PRIOR_SD = 3;
const [chains, draws] = [4, 2500];
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
const logNormal = (x: number, mean: number, variance: number) =>
  -0.5 * Math.log(2 * Math.PI * variance) - (x - mean) ** 2 / (2 * variance);

function posterior(y: readonly number[], sigma: number) {
  const precision = 1 / PRIOR_SD ** 2 + y.length / sigma ** 2;
  return { mean: sum(y) / sigma ** 2 / precision, variance: 1 / precision };
}

/** Independent draws of the posterior, and the log-likelihood of every observation under each. */
function logLikelihoods(y: readonly number[], sigma: number, seed: number) {
  const next = normals(seed);
  const { mean, variance } = posterior(y, sigma);
  const values = Array.from({ length: chains * draws }, () => {
    const mu = mean + Math.sqrt(variance) * next();
    return y.map((value) => logNormal(value, mu, sigma ** 2));
  });
  return { values: values.flat(), chains, draws };
}

function exactElpd(y: readonly number[], sigma: number): number[] {
  return y.map((value, i) => {
    const { mean, variance } = posterior(y.toSpliced(i, 1), sigma);
    return logNormal(value, mean, variance + sigma ** 2);
  });
}

const next = normals(42);
const y = Array.from({ length: 30 }, () => 1 + next());

test("draws that are correlated have longer tails smoothed, by the effective sample size of the likelihood", () => {
  const mu = autoregressive(4, 250, 0.9, 3);
  const logs = (value: number) => ({ ...mu, values: mu.values.map((m) => logNormal(value, m / 5, 1)) });
  for (const value of [-1, 0.5, 3]) {
    const own = logs(value);
    const efficiency = essMean({ ...own, values: own.values.map(Math.exp) }) / own.values.length;
    assert.ok(efficiency < 0.5, `${efficiency}`);
    const one = (options?: LooOptions) => loo({ ...own, values: [...own.values] }, options).pointwise;
    const [found, wanted, other] = [one(), one({ relativeEfficiency: efficiency }), one({ relativeEfficiency: 1 })];
    assert.ok(Math.abs(found.paretoK[0]! - wanted.paretoK[0]!) < 1e-9);
    assert.ok(Math.abs(found.elpd[0]! - wanted.elpd[0]!) < 1e-9);
    assert.ok(Math.abs(found.paretoK[0]! - other.paretoK[0]!) > 1e-4);
  }
});

describe("leave-one-out", () => {
  const result = loo(logLikelihoods(y, 1, 1));
  const exact = exactElpd(y, 1);

  test("is exact within the error of 10,000 draws", () => {
    exact.forEach((value, i) => {
      const error = Math.abs(result.pointwise.elpd[i]! - value);
      assert.ok(error < 0.02, `observation ${i}: ${result.pointwise.elpd[i]}, not ${value}`);
    });
    assert.ok(Math.abs(result.elpd - sum(exact)) < 0.1);
    const mean = sum(exact) / exact.length;
    const se = Math.sqrt((exact.length * sum(exact.map((value) => (value - mean) ** 2))) / (exact.length - 1));
    assert.ok(Math.abs(result.se / se - 1) < 0.02);
  });

  test("counts the one parameter, and its k are good", () => {
    assert.ok(result.pLoo > 0.6 && result.pLoo < 1.4, `${result.pLoo}`);
    assert.equal(result.unreliable.length, 0);
    assert.match(
      inspect(result),
      /^elpd_loo +-\d+\.\d ± \d\.\d\np_loo +[\d.]+\n30 observations, 10000 draws\. All Pareto k/,
    );
  });

  test("takes draws of named observations as well", () => {
    const { values } = logLikelihoods(y, 1, 1);
    const named = new Draws({ chains, variables: { y: [30] } });
    named.append({ values: { y: values } });
    assert.deepEqual(loo(named).pointwise, result.pointwise);
    assert.equal(result.pointwise.names[3], "y[3]");
  });

  test("says in words which observations it cannot be trusted for", () => {
    // A lone observation under a wide prior: its weights have no mean.
    const far = loo(logLikelihoods([25, ...y.slice(0, 2)], 1, 3));
    assert.ok(far.pointwise.paretoK[0]! > 0.7, `${far.pointwise.paretoK[0]}`);
    assert.match(
      inspect(far),
      /Pareto k is above 0\.70 for \d of 3 observations, y\[0\] \(\d\.\d\d\).*too optimistic/s,
    );
  });

  test("of few draws says that they are few, not that k is above a negative number", () => {
    const few = loo({ values: [-1, -2, -1.5, -1.2], chains: 1, draws: 4 });
    assert.equal(few.goodK, 0);
    assert.match(few.verdict, /^There are 4 draws, too few/);
    assert.match(String(few), /too few for weights/);
  });

  test("of an observation that says nothing of the parameters is its log-likelihood", () => {
    const result = loo({ values: Array(200).fill(-1.5), chains: 2, draws: 100 });
    assert.ok(Math.abs(result.elpd + 1.5) < 1e-12 && Math.abs(result.pLoo) < 1e-12);
    assert.equal(result.unreliable.length, 0);
  });

  test("refuses what is no log-likelihood, and names the observation", () => {
    const values = [-1, -2, -1, -Infinity, -1, -2];
    assert.throws(() => loo({ values, chains: 1, draws: 3 }), /of y\[1\] is -Infinity in draw 1 of chain 0/);
    assert.throws(() => loo({ values, chains: 2, draws: 2 }), ShapeError);
    assert.throws(() => loo({ values: [], chains: 2, draws: 2 }), ArgumentError);
  });
});

describe("comparison", () => {
  const models = { wide: loo(logLikelihoods(y, 3, 4)), right: loo(logLikelihoods(y, 1, 5)) };
  const table = compare(models);

  test("finds the exact difference and its standard error, the best model first", () => {
    const exact = exactElpd(y, 3).map((value, i) => value - exactElpd(y, 1)[i]!);
    const [best, other] = table.rows;
    assert.deepEqual([best!.name, other!.name], ["right", "wide"]);
    assert.deepEqual([best!.elpdDiff, best!.seDiff], [0, 0]);
    assert.ok(Math.abs(other!.elpdDiff - sum(exact)) < 0.1, `${other!.elpdDiff}, not ${sum(exact)}`);
    const mean = sum(exact) / exact.length;
    const se = Math.sqrt((exact.length * sum(exact.map((value) => (value - mean) ** 2))) / (exact.length - 1));
    assert.ok(Math.abs(other!.seDiff / se - 1) < 0.05);
    assert.match(inspect(table), /elpd_diff.*\nright +0\.0 .*\nwide +-\d.*\nright predicts better than wide \(by/);
  });

  test("of a model with itself is no difference, in words too", () => {
    const same = compare({ a: models.right, b: models.right });
    assert.equal(same.rows[1]!.elpdDiff, 0);
    assert.match(same.verdict, /^a and b predict alike/);
    assert.match(compare({ a: models.right }).verdict, /one model/);
  });

  test("refuses models of different observations, and none", () => {
    assert.throws(
      () => compare({ a: models.right, b: loo(logLikelihoods(y.slice(1), 1, 1)) }),
      /b has 29 observations and a has 30/,
    );
    assert.throws(() => compare({}), ArgumentError);
  });
});

describe("stacking", () => {
  test("gives all to a model that is better everywhere", () => {
    const weights = stackingWeights([Float64Array.of(-1, -1, -2), Float64Array.of(-3, -2, -4)]);
    assert.ok(weights[0]! > 0.999);
  });

  test("of two models that know one half each takes the shares of the halves", () => {
    // Densities e^0 and e^-50: the best weights are the shares of the observations each model knows.
    const first = Float64Array.from({ length: 10 }, (_, i) => (i < 7 ? 0 : -50));
    const second = Float64Array.from({ length: 10 }, (_, i) => (i < 7 ? -50 : 0));
    const weights = stackingWeights([first, second]);
    assert.ok(Math.abs(weights[0]! - 0.7) < 1e-6);
  });
});

describe("the generalised Pareto fit", () => {
  for (const k of [-0.3, 0, 0.3, 0.7, 1.2]) {
    test(`finds the shape ${k} of its own quantiles`, () => {
      const n = 4000;
      const exact = Float64Array.from({ length: n }, (_, i) => paretoQuantile((i + 0.5) / n, { k, sigma: 2 }));
      const fit = fitPareto(exact);
      assert.ok(Math.abs(fit.k - k) < 0.03 && Math.abs(fit.sigma / 2 - 1) < 0.03, `${fit.k}, ${fit.sigma}`);
    });
  }

  test("has the quantiles of the exponential at k = 0, and of Pareto's law beyond", () => {
    assert.ok(Math.abs(paretoQuantile(0.5, { k: 0, sigma: 1 }) - Math.LN2) < 1e-15);
    assert.ok(Math.abs(paretoQuantile(0.75, { k: 1, sigma: 1 }) - 3) < 1e-14);
    assert.ok(Math.abs(paretoQuantile(0.5, { k: 1e-9, sigma: 1 }) - Math.LN2) < 1e-8);
  });

  test("leaves weights of a light tail nearly as they were, and sums them to 1", () => {
    const next = normals(9);
    const logs = Float64Array.from({ length: 2000 }, () => 0.1 * next());
    const { logWeights, k } = smoothWeights(logs);
    assert.ok(k < 0.3);
    assert.ok(Math.abs(sum([...logWeights].map(Math.exp)) - 1) < 1e-12);
    const raw = Math.log(sum([...logs].map(Math.exp)));
    for (let i = 0; i < logs.length; i++) assert.ok(Math.abs(logWeights[i]! - (logs[i]! - raw)) < 0.05);
  });
});
