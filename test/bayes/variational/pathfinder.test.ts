/** Pathfinder against densities whose best normal approximation is known, and against posteriordb. */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { factor, flat, halfCauchy, model, normal, pathfinder, positive } from "../../../src/bayes/index.js";
import { setDefaultDevice, type Tensor, tensor } from "../../../src/tensor/index.js";
import { withoutReference } from "../../support/reference-data.js";
import { describeOnTensorDevices } from "../../support/tensors.js";
import {
  close,
  correlated,
  correlatedNormal,
  expectReference,
  independentNormal,
  inverted,
  scales,
  twoModes,
  twoModesAnswer,
} from "../approximation/targets.js";
import { makeIn } from "../models/reference-model.js";
import { kidscoreInteraction } from "../models/regressions.js";
import { arK } from "../models/time-series.js";

before(() => setDefaultDevice("cpu"));
const f64 = makeIn("f64", "cpu");

describe("a normal density", () => {
  test("is found exactly on every path, with its evidence", async () => {
    const fit = await pathfinder(correlatedNormal(f64), { seed: 1, draws: 2000 });
    for (const { elbo, hasArrived } of fit.paths) {
      assert.ok(hasArrived);
      close(elbo, 0, 1e-9, "the ELBO of a path");
    }
    close(fit.elbo, 0, 1e-9, "the ELBO");
    fit.draws.names.forEach((name, i) => {
      const { mean, sd, mcseMean, essBulk } = fit.summary().get(name)!;
      const variance = correlated.covariance[i]![i]!;
      close(mean, correlated.mean[i]!, 4 * mcseMean, `the mean of ${name}`);
      close(sd ** 2 / variance, 1, 4 * Math.sqrt(2 / essBulk), `the variance of ${name} over the true one`);
    });
    (fit.mean.arraySync() as number[]).forEach((value, i) => {
      close(value, correlated.mean[i]!, 1e-6, `the mean of number ${i}`);
    });
    // Draws weighed by the inverse covariance are χ² with 4 degrees of freedom on average.
    const { inverse } = inverted(correlated.covariance);
    const x = fit.draws.values("x");
    let total = 0;
    for (let i = 0; i < 2000; i++) {
      const d = correlated.mean.map((m, j) => x[4 * i + j]! - m);
      for (let j = 0; j < 4; j++) for (let k = 0; k < 4; k++) total += d[j]! * inverse[j]![k]! * d[k]!;
    }
    close(total / 2000, 4, 4 * Math.sqrt(8 / 2000), "the mean of dᵀ·Λ·d");
    assert.ok(fit.check().ok, String(fit.check()));
    assert.match(String(fit), /All is well: all 4 paths came to a maximum/);
  });
});

describeOnTensorDevices("in f32", (device) => {
  test("scales that differ are found up to rounding", async () => {
    const fit = await pathfinder(independentNormal(makeIn("f32", device)), { paths: 2, seed: 2, draws: 500 });
    for (const { elbo } of fit.paths) close(elbo, 0, 1e-3, "the ELBO of a path");
    fit.draws.names.forEach((name, i) => {
      close(
        fit.summary().get(name)!.mean,
        scales.mean[i]!,
        4 * (scales.sd[i]! / Math.sqrt(500)),
        `the mean of ${name}`,
      );
    });
  });
});

test("modes weigh what they hold, however many paths end in them", async () => {
  const right = [3, 0.5];
  const starts = f64([right, [-3, 0.1], right, right]);
  const fit = await pathfinder(twoModes(f64), { starts, seed: 4, draws: 2000 });
  const x = fit.draws.values("x").filter((_, i) => i % 2 === 0);
  const left = x.filter((value) => value < 0).length / x.length;
  // Only 1000 of 4000 draws were made there.
  close(left, twoModesAnswer.left, 4 * Math.sqrt((left * (1 - left)) / 1000), "the share of the left mode");
});

test("the mean is that of the path with the highest ELBO, whichever it is", async () => {
  const places = [
    [-4, -1],
    [4, 1],
  ];
  for (const order of [places, [...places].reverse()]) {
    const fit = await pathfinder(twoModes(f64), { starts: f64(order), paths: 2, seed: 4, draws: 200 });
    const highest = fit.paths[0]!.elbo > fit.paths[1]!.elbo ? order[0]! : order[1]!;
    const mean = fit.mean.arraySync() as number[];
    assert.ok(mean[0]! * highest[0]! > 0, `a mean of ${mean}; the best path began at ${highest}`);
  }
});

test("the seed decides the draws", async () => {
  const posterior = correlatedNormal(f64);
  const [a, b, c] = await Promise.all(
    [7, 7, 8].map(async (seed) => (await pathfinder(posterior, { seed, paths: 1, draws: 50 })).draws.values("x")),
  );
  assert.deepEqual(a, b);
  assert.notDeepEqual(a, c);
});

test("what a normal distribution does not fit is said in words", async () => {
  const schools = model(({ s }: { s: Tensor }) => {
    const mu = normal(0, 5);
    const tau = halfCauchy(5);
    const theta = normal(mu, tau).shape(8);
    return { mu, tau, theta, y: normal(theta, s) };
  });
  const posterior = schools.given(
    { y: f64([28, 8, -3, 7, -1, 1, 18, 12]) },
    { s: f64([15, 10, 16, 11, 9, 11, 10, 18]) },
  );
  const fit = await pathfinder(posterior, { seed: 1, paths: 2, draws: 500 });
  const problem = fit.check().problems.find(({ kind }) => kind === "pareto-k");
  assert.ok(problem && fit.paretoK > 0.7, `Pareto k is ${fit.paretoK}`);
  assert.match(problem.message, /^Pareto k is .*, above 0\.6/);
});

test("too few draws to weigh are said to be", async () => {
  const found = String((await pathfinder(correlatedNormal(f64), { draws: 1 })).check());
  assert.match(found, /There are 4 draws to weigh, too few/);
  assert.doesNotMatch(found, /Pareto/);
});

test("a run that is stopped returns what it has, and says so", async () => {
  const stop = new AbortController();
  const seen: number[] = [];
  const rosenbrock = model(() => {
    const x = normal(0, 10);
    return { x, y: normal(x.square(), 0.001) };
  }).given({});
  const fit = await pathfinder(rosenbrock, {
    seed: 1,
    dtype: "f64",
    signal: stop.signal,
    onProgress: ({ iteration, active }) => {
      seen.push(iteration);
      assert.ok(active >= 1);
      stop.abort();
    },
  });
  assert.deepEqual(seen, [10]);
  assert.ok(fit.check().problems.some(({ kind }) => kind === "stopped"));
});

test("bad input and hopeless models are refused in words", async () => {
  await assert.rejects(pathfinder(correlatedNormal(f64), { starts: f64([1, 2]) }), {
    name: "ShapeError",
    message: /^pathfinder: starts: free numbers of shape \[4, 4\].* not \[2\]\.$/,
  });
  await assert.rejects(pathfinder(correlatedNormal(f64), { paths: 0 }), /pathfinder: paths is 0/);
  const impossible = model(() => {
    const rate = flat(positive);
    const mu = normal(0, 1);
    factor(rate.sub(rate).log().mul(0).add(mu));
    return { rate, mu };
  }).given({});
  await assert.rejects(
    pathfinder(impossible),
    /not finite at any of 32 random points: factor 1 has log density NaN; its gradient is not finite by rate\./,
  );
});

describe("posteriordb", () => {
  for (const reference of [kidscoreInteraction, arK]) {
    const skip = withoutReference(`posteriordb/${reference.name}`);
    test(`${reference.name}: means within 0.15 and spreads within 15% of a standard deviation`, { skip }, async () => {
      const fit = await pathfinder(reference.posterior(f64), { seed: 3, draws: 2000 });
      expectReference(fit, reference, { mean: 0.15, sd: 0.15 });
    });
  }
});

test("a posterior of random variables only is computed in f32 unless told", async () => {
  const fit = await pathfinder(model(() => ({ x: normal(3, 2).shape(2) })).given({}), { paths: 1, draws: 10 });
  assert.equal(fit.mean.dtype, "f32");
  close(Number(tensor(0).add(fit.mean.at(0)).itemSync()), 3, 1e-3, "the mean");
});
