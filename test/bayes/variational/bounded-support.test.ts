/** Posteriors that end where data would be impossible: Pathfinder stays inside, ADVI cuts off a little and refuses much. */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import {
  above,
  advi,
  custom,
  model,
  normal,
  type PathfinderFit,
  pareto,
  pathfinder,
  uniform,
} from "../../../src/bayes/index.js";
import { setDefaultDevice, type Tensor, tensor, where } from "../../../src/tensor/index.js";
import { expectDistribution, normalDistribution } from "../../support/goodness-of-fit.js";
import { describeOnTensorDevices } from "../../support/tensors.js";
import { close } from "../approximation/targets.js";
import { makeIn } from "../models/reference-model.js";

before(() => setDefaultDevice("cpu"));
const f64 = makeIn("f64", "cpu");

/** The posterior of theta is pareto(4, 5): excess, its logarithm above that of 5, is exponential with rate 4. */
const reach = model(() => {
  const theta = pareto(1, 1);
  return { theta, excess: theta.div(5).log(), y: uniform(0, theta) };
});
const Y = [2, 5, 3];
const LOG_EVIDENCE = -Math.log(4) - 4 * Math.log(5);

/** The mean and mean square of exponential numbers of rate 4, in standard errors of the draws. */
function expectExcess(fit: PathfinderFit, name: string): void {
  const { values } = fit.draws.scalar(name);
  const { essBulk } = fit.summary().get(name)!;
  const mean = values.reduce((sum, x) => sum + x, 0) / values.length;
  const square = values.reduce((sum, x) => sum + x * x, 0) / values.length;
  close(mean, 1 / 4, 4 * Math.sqrt(1 / 16 / essBulk), `the mean of ${name}`);
  close(square, 2 / 16, 4 * Math.sqrt((24 - 4) / 256 / essBulk), `the mean square of ${name}`);
}

describeOnTensorDevices("Pathfinder, of a bound that is sampled", (device) => {
  test("has its posterior, and no draw beyond the bound", async () => {
    const fit = await pathfinder(reach.given({ y: tensor(Y, { device }) }), { seed: 1, draws: 2000 });
    assert.ok(Math.min(...fit.draws.scalar("theta").values) >= 5);
    expectExcess(fit, "excess");
    assert.ok(fit.check().ok, String(fit.check()));
  });
});

describe("Pathfinder", () => {
  test("finds two bounds beside a variable that has none, from inside", async () => {
    const both = model(() => {
      const theta = pareto(1, 1).shape(2);
      const mu = normal(0, 1);
      return { theta, mu, excess: theta.div(5).log(), y: uniform(0, theta), z: normal(mu, 0.5) };
    }).given({ y: f64(Y.map((value) => [value, value])), z: f64([1, 2, 1.5, 1.2]) });
    const starts = f64([1.8, 2.1, 2.4, 2.7].map((u) => [u, u, 0]));
    const fit = await pathfinder(both, { seed: 3, starts });
    for (const name of ["excess[0]", "excess[1]"]) expectExcess(fit, name);
    const { mean, essBulk } = fit.summary().get("mu")!;
    // Precisions 1 and 4/0.25.
    close(mean, (5.7 * 4) / 17, 4 / Math.sqrt(17 * essBulk), "the mean of mu");
  });

  test("returns possible draws when it does not weigh them", async () => {
    const fit = await pathfinder(reach.given({ y: f64(Y) }), { seed: 1, resample: false, paths: 1 });
    assert.equal(fit.draws.length, 1000);
    assert.ok(Math.min(...fit.draws.scalar("theta").values) >= 5);
    // One path has fewer than asked for inside, so some come twice.
    const { essBulk } = fit.summary().get("theta")!;
    assert.ok(essBulk < 1000 && essBulk === new Set(fit.draws.scalar("theta").values).size, `${essBulk} of them`);
  });

  test("names what is impossible where it cannot begin", async () => {
    const far = reach.given({ y: f64([2, 500]) });
    await assert.rejects(pathfinder(far), /not finite at any of 32 random points: y.* log density -Infinity/);
    const starts = f64([[-1], [-2], [-1], [-2]]);
    await assert.rejects(pathfinder(far, { starts }), {
      name: "ArgumentError",
      message:
        /^pathfinder: no approximation was found on 4 paths; .*y\[\d\] ha(s|ve) log density -Infinity\. Use sample or smc/,
    });
  });
});

describe("ADVI", () => {
  for (const family of ["mean-field", "full-rank"] as const) {
    test(`refuses what ends where it is likeliest, and names the data: ${family}`, async () => {
      await assert.rejects(advi(reach.given({ y: f64(Y) }), { family, seed: 1 }), {
        name: "ArgumentError",
        message:
          /^advi: \d+% of the normal distribution that was found is impossible: y\[1\] has log density -Infinity\./,
      });
    });
  }

  test("names what is impossible where it starts", async () => {
    await assert.rejects(
      advi(reach.given({ y: f64(Y) }), { start: f64([-30]) }),
      /not finite around the starting point.*y\[0\], y\[1\], y\[2\] have log density -Infinity/,
    );
  });

  test("takes the same bound when it is the variable's own", async () => {
    const posterior = model(() => {
      const theta = pareto(1, 1).constrained(above(5));
      return { theta, y: uniform(0, theta) };
    }).given({ y: f64(Y) });
    const fit = await advi(posterior, { seed: 1, draws: 4000 });
    assert.equal(fit.inside, 1);
    const gap = LOG_EVIDENCE - fit.elbo;
    assert.ok(gap > -4 * fit.elboError && gap < 0.1, `the ELBO is ${gap} below the evidence`);
  });

  test("cuts off a tail that is impossible", async () => {
    // Standard normal above -2.6: of a normal distribution that ends there, the ELBO is the evidence.
    const tail = (x: Tensor) => custom({ logDensity: (y) => where(y.lessEqual(x), 0, Number.NEGATIVE_INFINITY) });
    const posterior = model(() => {
      const x = normal(0, 1);
      return { x, y: tail(x) };
    }).given({ y: f64(-2.6) });
    const fit = await advi(posterior, { seed: 2, draws: 4000 });
    const outside = normalDistribution(-2.6);
    const error = Math.sqrt(outside / 4000);
    assert.ok(fit.inside < 1);
    close(fit.inside, 1 - outside, 4 * error, "the share inside");
    close(fit.elbo, Math.log(1 - outside), 4 * error, "the ELBO");
    close(fit.elboError, error, error / 2, "its error");
    const { values } = fit.draws.scalar("x");
    assert.ok(values.length === 4000 && Math.min(...values) >= -2.6);
    expectDistribution(values, (x) => (normalDistribution(x) - outside) / (1 - outside), "x");
  });
});
