/** The diagnostics of small draws equal what ArviZ and SciPy say of them (make-fixtures.py wrote it down). */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { betaQuantile } from "../../../src/bayes/diagnostics/beta-quantile.js";
import { stackingWeights } from "../../../src/bayes/diagnostics/compare.js";
import { essBulk, essMean, essQuantile, essSd, essTail } from "../../../src/bayes/diagnostics/effective-sample-size.js";
import { eBfmi } from "../../../src/bayes/diagnostics/energy.js";
import { loo } from "../../../src/bayes/diagnostics/loo.js";
import { fitPareto, smoothWeights } from "../../../src/bayes/diagnostics/pareto.js";
import { rHat } from "../../../src/bayes/diagnostics/r-hat.js";
import { quantileOf } from "../../../src/bayes/diagnostics/ranks.js";
import { summarizeScalar } from "../../../src/bayes/diagnostics/scalar-summary.js";
import { mcseMean, mcseQuantile, mcseSd } from "../../../src/bayes/diagnostics/standard-error.js";
import { normalQuantile } from "../../../src/core/normal-quantile.js";
import { chainsOf } from "../chains.js";

interface Case {
  readonly draws: number[][];
  readonly essBulk: number;
  readonly essTail: number;
  readonly essMean: number;
  readonly essSd: number;
  readonly essQuantile: number[];
  readonly rHat: number;
  readonly mcseMean: number;
  readonly mcseSd: number;
  readonly mcseQuantile: number[];
  readonly quantiles: number[];
  readonly probabilities: number[];
}

interface Fixture {
  readonly cases: Record<string, Case>;
  readonly energy: { draws: number[][]; numerators: number[]; denominators: number[] };
  readonly loo: {
    logLikelihood: number[][][];
    relativeEfficiency: number;
    elpd: number[];
    k: number[];
    largestWeights: number[];
  };
  readonly stacking: { pointwise: number[][]; weights: number[]; optimum: number };
  readonly pareto: { exceedances: number[]; shrunkK: number; sigma: number };
  readonly normalQuantiles: [p: number, x: number][];
  readonly betaQuantiles: [p: number, a: number, b: number, x: number][];
}

const path = new URL("../../../../test/bayes/diagnostics/fixtures/arviz.json", import.meta.url);
const fixture: Fixture = JSON.parse(readFileSync(path, "utf8"));

function expectClose(actual: number, expected: number, tolerance: number, what: string): void {
  const error = Math.abs(actual - expected) / Math.max(Math.abs(expected), 1e-300);
  assert.ok(error <= tolerance, `${what}: ${actual}, not ${expected} (relative error ${error})`);
}

for (const [name, expected] of Object.entries(fixture.cases)) {
  describe(`draws: ${name}`, () => {
    const x = chainsOf(expected.draws);

    test("have ArviZ's effective sample sizes", () => {
      for (const [key, ess] of Object.entries({ essBulk, essTail, essMean, essSd })) {
        expectClose(ess(x), expected[key as "essBulk"], 1e-10, key);
      }
      expected.probabilities.forEach((p, i) => {
        expectClose(essQuantile(x, p), expected.essQuantile[i]!, 1e-10, `ESS of the ${p} quantile`);
      });
    });

    test("have ArviZ's R-hat", () => {
      // ArviZ folds an odd number of draws around the median of the even number, the R package around that of all.
      expectClose(rHat(x), expected.rHat, x.draws % 2 ? 1e-3 : 1e-12, "R-hat");
    });

    test("have ArviZ's standard errors", () => {
      expectClose(mcseMean(x), expected.mcseMean, 1e-10, "of the mean");
      expectClose(mcseSd(x), expected.mcseSd, 1e-10, "of the standard deviation");
      expected.probabilities.forEach((p, i) => {
        expectClose(mcseQuantile(x, p), expected.mcseQuantile[i]!, 1e-10, `of the ${p} quantile`);
      });
    });

    test("have NumPy's quantiles", () => {
      const sorted = x.values.slice().sort();
      expected.probabilities.forEach((p, i) => {
        expectClose(quantileOf(sorted, p), expected.quantiles[i]!, 1e-13, `${p}`);
      });
    });

    test("are summarised by the same numbers, from one sort", () => {
      const row = summarizeScalar("x", x);
      assert.equal(row.essBulk, essBulk(x));
      assert.equal(row.essTail, essTail(x));
      assert.equal(row.rHat, rHat(x));
      expectClose(row.mcseMean, expected.mcseMean, 1e-10, "mcse_mean");
      assert.equal(row.q5, expected.quantiles[0]);
      assert.equal(row.median, quantileOf(x.values.slice().sort(), 0.5));
    });
  });
}

test("E-BFMI is the ratio of the sums of squares", () => {
  const { draws, numerators, denominators } = fixture.energy;
  eBfmi(chainsOf(draws)).forEach((value, c) => {
    expectClose(value, numerators[c]! / denominators[c]!, 1e-12, `chain ${c}`);
  });
});

describe("importance weights", () => {
  const { logLikelihood, relativeEfficiency, elpd, k, largestWeights } = fixture.loo;
  const values = logLikelihood.flat(2);
  const result = loo({ values, chains: 2, draws: 100 }, { relativeEfficiency });

  test("are smoothed as in ArviZ", () => {
    k.forEach((shape, i) => {
      const logs = Float64Array.from(logLikelihood.flat(), (row) => -row[i]!);
      const smoothed = smoothWeights(logs, relativeEfficiency);
      expectClose(smoothed.k, shape, 1e-10, `k of observation ${i}`);
      expectClose(Math.max(...smoothed.logWeights), largestWeights[i]!, 1e-10, `largest weight of observation ${i}`);
    });
  });

  test("give ArviZ's elpd and k of every observation", () => {
    elpd.forEach((value, i) => {
      expectClose(result.pointwise.elpd[i]!, value, 1e-10, `observation ${i}`);
      expectClose(result.pointwise.paretoK[i]!, k[i]!, 1e-10, `k of observation ${i}`);
    });
    assert.ok(
      k.some((shape) => shape > result.goodK),
      "some observation is hard",
    );
  });

  test("have the tail that the fit of Zhang and Stephens says", () => {
    const { exceedances, shrunkK, sigma } = fixture.pareto;
    const fit = fitPareto(Float64Array.from(exceedances));
    expectClose((exceedances.length * fit.k + 5) / (exceedances.length + 10), shrunkK, 1e-10, "k");
    expectClose(fit.sigma, sigma, 1e-10, "sigma");
  });
});

test("stacking weights are those a general optimiser finds", () => {
  const { pointwise, weights, optimum } = fixture.stacking;
  const found = stackingWeights(pointwise.map((elpd) => Float64Array.from(elpd)));
  const mixtures = pointwise[0]!.map((_, i) =>
    Math.log(found.reduce((sum, weight, model) => sum + weight * Math.exp(pointwise[model]![i]!), 0)),
  );
  const reached = mixtures.reduce((sum, value) => sum + value, 0) / mixtures.length;
  assert.ok(reached > optimum - 2e-7, `${reached} is less than ${optimum}`);
  assert.ok(Math.abs(found.reduce((sum, weight) => sum + weight, 0) - 1) < 1e-12);
  found.forEach((weight, model) => {
    assert.ok(Math.abs(weight - weights[model]!) < 2e-3, `weight ${model} is ${weight}, not ${weights[model]}`);
  });
});

test("normal quantiles equal SciPy's", () => {
  for (const [p, x] of fixture.normalQuantiles) {
    assert.ok(
      Math.abs(normalQuantile(p) - x) <= 4e-16 * Math.max(1, Math.abs(x)),
      `${p}: ${normalQuantile(p)}, not ${x}`,
    );
  }
  assert.equal(normalQuantile(0), -Infinity);
  assert.equal(normalQuantile(1), Infinity);
  assert.ok(Number.isNaN(normalQuantile(-0.1)) && Number.isNaN(normalQuantile(Number.NaN)));
});

test("beta quantiles equal SciPy's", () => {
  for (const [p, a, b, x] of fixture.betaQuantiles) {
    expectClose(betaQuantile(p, a, b), x, 1e-8, `Beta(${a}, ${b}) at ${p}`);
  }
});
