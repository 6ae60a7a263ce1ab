/** ADVI against normal densities, whose best approximation in each family is known in closed form, and posteriordb. */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { type AdviProgress, advi, beta, custom, gamma, model } from "../../../src/bayes/index.js";
import { setDefaultDevice } from "../../../src/tensor/index.js";
import { withoutReference } from "../../support/reference-data.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";
import {
  betaBinomial,
  betaBinomialAnswer,
  close,
  conjugateAnswer,
  conjugateNormal,
  correlated,
  correlatedNormal,
  expectReference,
  independentNormal,
  inverted,
  scales,
} from "../approximation/targets.js";
import { makeIn } from "../models/reference-model.js";
import { kidscoreMomiq } from "../models/regressions.js";
import { arK } from "../models/time-series.js";

before(() => setDefaultDevice("cpu"));
const f64 = makeIn("f64", "cpu");

describeOnTensorDevices("mean-field in f32", (device) => {
  test("finds independent normal numbers, and their evidence", async () => {
    const fit = await advi(independentNormal(makeIn("f32", device)), { seed: 1, draws: 500 });
    numbersOf(fit.mean).forEach((mean, i) => {
      close((mean - scales.mean[i]!) / scales.sd[i]!, 0, 2e-3, `mean ${i} in standard deviations`);
    });
    numbersOf(fit.scale).forEach((scale, i) => {
      close(scale / scales.sd[i]!, 1, 2e-3, `scale ${i} over the true one`);
    });
    close(fit.elbo, 0, 1e-4, "the ELBO");
    assert.ok(fit.hasConverged && fit.check().ok, String(fit.check()));
    assert.match(String(fit), /All is well: the ELBO converged to/);
  });
});

describe("a normal vector with correlations", () => {
  const { inverse, logDeterminant } = inverted(correlated.covariance);

  test("mean-field has its means, the variances given all others, and the ELBO that follows", async () => {
    const fit = await advi(correlatedNormal(f64), { seed: 1, draws: 4000 });
    const sds = correlated.covariance.map((row, i) => Math.sqrt(row[i]!));
    numbersOf(fit.mean).forEach((mean, i) => {
      close((mean - correlated.mean[i]!) / sds[i]!, 0, 0.02, `mean ${i} in standard deviations`);
    });
    numbersOf(fit.scale).forEach((scale, i) => {
      close(scale * Math.sqrt(inverse[i]![i]!), 1, 0.02, `scale ${i} over the best one`);
    });
    const divergence = (logDeterminant + inverse.reduce((sum, row, i) => sum + Math.log(row[i]!), 0)) / 2;
    close(fit.elbo, -divergence, 4 * fit.elboError + 1e-3, "the ELBO");
    assert.ok(fit.elboError < 0.02);
  });

  test("full-rank has its covariance", async () => {
    const fit = await advi(correlatedNormal(f64), { family: "full-rank", seed: 1 });
    const scale = numbersOf(fit.scale);
    correlated.covariance.forEach((row, i) => {
      row.forEach((expected, j) => {
        const found = [0, 1, 2, 3].reduce((sum, k) => sum + scale[4 * i + k]! * scale[4 * j + k]!, 0);
        close(found, expected, 0.01 * Math.sqrt(row[i]! * correlated.covariance[j]![j]!), `covariance ${i}, ${j}`);
      });
    });
    close(fit.elbo, 0, 1e-3, "the ELBO");
  });
});

for (const family of ["mean-field", "full-rank"] as const) {
  test(`${family}: densities that are not normal have the best normal distributions`, async () => {
    const posterior = model(() => {
      const x = custom({ logDensity: (u) => u.square().square().mul(-0.25) });
      return { x, y: gamma(2, 3) };
    }).given({});
    const fit = await advi(posterior, { seed: 2, family, dtype: "f64", draws: 4000 });
    // E[-u⁴/4] + log s is largest at s⁴ = 1/3; E[2u - 3·exp(u)] + log s of u = log y at s² = 1/2, mean log(2/3) - s²/2.
    const [mean, scale] = [numbersOf(fit.mean), numbersOf(fit.scale)];
    const sds = family === "mean-field" ? scale : [0, 1].map((i) => Math.hypot(scale[2 * i]!, scale[2 * i + 1]!));
    close(mean[0]!, 0, 0.02, "the mean of x");
    close(mean[1]!, Math.log(2 / 3) - 0.25, 0.02, "the mean of log y");
    close(sds[0]!, 3 ** -0.25, 0.02, "the standard deviation of x");
    close(sds[1]!, Math.SQRT1_2, 0.02, "the standard deviation of log y");
    const entropies = Math.log(2 * Math.PI * Math.E) + Math.log(3 ** -0.25 * Math.SQRT1_2);
    const expected = -0.25 + Math.log(9) + 2 * (Math.log(2 / 3) - 0.25) - 2 + entropies;
    close(fit.elbo, expected, 4 * fit.elboError, "the ELBO");
  });
}

test("where the posterior is normal the ELBO is the evidence, and elsewhere below it", async () => {
  const exact = await advi(conjugateNormal(f64), { seed: 1 });
  close(exact.elbo, conjugateAnswer.logEvidence, 1e-5, "the ELBO");
  const { mean, sd } = exact.summary().get("mu")!;
  close(mean, conjugateAnswer.mean, (4 * conjugateAnswer.sd) / Math.sqrt(1000), "the mean");
  close(sd / conjugateAnswer.sd, 1, 4 / Math.sqrt(2000), "the standard deviation");
  const below = await advi(betaBinomial(f64), { seed: 1, draws: 4000 });
  const gap = betaBinomialAnswer.logEvidence - below.elbo;
  assert.ok(gap > -4 * below.elboError && gap < 0.01, `the ELBO is ${gap} below`);
  // Weights correct what is not normal.
  const corrected = below.draws
    .scalar("p")
    .values.reduce((sum, value, i) => sum + value * Math.exp(below.logWeights[i]!), 0);
  close(corrected, betaBinomialAnswer.mean, (4 * betaBinomialAnswer.sd) / Math.sqrt(4000), "the corrected mean");
});

test("steps keep their size while the ELBO rises, and are halved eight times before it counts as converged", async () => {
  const seen: AdviProgress[] = [];
  const fit = await advi(betaBinomial(f64), { seed: 5, onProgress: (progress) => seen.push(progress) });
  assert.deepEqual(seen, fit.trace);
  const sizes = [...new Set(fit.trace.map(({ stepSize }) => stepSize))];
  assert.deepEqual(
    sizes,
    [0, 1, 2, 3, 4, 5, 6, 7, 8].map((halvings) => 0.1 / 2 ** halvings),
  );
  let best = Number.NEGATIVE_INFINITY;
  fit.trace.forEach(({ elbo, stepSize, iteration }, i) => {
    assert.equal(iteration, 100 * (i + 1));
    if (fit.trace[i + 1]?.stepSize === stepSize)
      assert.ok(elbo - best > 1e-5 * Math.abs(elbo), `no rise at ${iteration}`);
    best = Math.max(best, elbo);
  });
});

test("a run cut short returns what it has, and says so", async () => {
  const short = await advi(correlatedNormal(f64), { seed: 1, maxIterations: 100, draws: 50 });
  assert.ok(!short.hasConverged);
  assert.ok(short.check().problems.some(({ kind, message }) => kind === "elbo" && /after 100 steps/.test(message)));
  const stop = new AbortController();
  const stopped = await advi(correlatedNormal(f64), {
    seed: 1,
    draws: 50,
    signal: stop.signal,
    onProgress: () => stop.abort(),
  });
  assert.equal(stopped.trace.length, 1);
  assert.ok(stopped.check().problems.some(({ kind }) => kind === "stopped"));
});

test("a heavy tail without weight is nothing against a good fit, nor is full rank advised to one parameter", async () => {
  // logit of beta(16, 9): skewness 0.16, so a normal distribution is within a few percent everywhere that counts.
  const good = await advi(model(() => ({ q: beta(16, 9) })).given({}), { dtype: "f64" });
  const { ok, problems } = good.check();
  assert.ok(good.paretoK > 0.7 && ok, `${good.paretoK}: ${problems.map(({ message }) => message)}`);
  assert.match(String(good.check()), /Pareto k is 1\.\d\d, and the weights are worth 9\d% of the draws/);
  const sd = Math.sqrt((16 * 9) / 25 ** 2 / 26);
  close(good.summary().get("q")!.sd / sd, 1, 0.1, "the standard deviation over the true one");
  const poor = await advi(model(() => ({ q: beta(0.3, 4) })).given({}), { dtype: "f64" });
  const problem = poor.check().problems.find(({ kind }) => kind === "pareto-k");
  assert.ok(problem, String(poor.check()));
  assert.doesNotMatch(problem.remedy, /full-rank/);
});

test("the seed decides the draws", async () => {
  const posterior = betaBinomial(f64);
  const [a, b, c] = await Promise.all(
    [7, 7, 8].map(async (seed) => (await advi(posterior, { seed, draws: 50 })).draws.values("p")),
  );
  assert.deepEqual(a, b);
  assert.notDeepEqual(a, c);
});

describe("posteriordb", () => {
  const skip = withoutReference(`posteriordb/${arK.name}`);
  test("kidscore: mean-field has the means, and says that it misses the correlation", { skip }, async () => {
    const fit = await advi(kidscoreMomiq.posterior(f64), { seed: 3 });
    expectReference(fit, kidscoreMomiq, { mean: 0.2, sd: 0.9 });
    const { sd } = fit.summary().get("beta[0]")!;
    assert.ok(sd < 2, `the correlation of -0.99 leaves a seventh of the spread, not ${sd}`);
    assert.ok(fit.check().problems.some(({ kind, remedy }) => kind === "pareto-k" && /full-rank/.test(remedy)));
  });
  test("arK: full-rank has means within 0.15 and spreads within 15% of a standard deviation", { skip }, async () => {
    expectReference(await advi(arK.posterior(f64), { family: "full-rank", seed: 3, draws: 2000 }), arK, {
      mean: 0.15,
      sd: 0.15,
    });
  });
});
