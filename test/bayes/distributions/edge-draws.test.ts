/**
 * Draws where parameters are extreme: inside the support with a finite log density, although floats do not reach as far as the
 * distribution does, and with the moments of the closed form.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  beta,
  binomial,
  chiSquared,
  dirichlet,
  gamma,
  geometric,
  inverseGamma,
  lkjCholesky,
  logNormal,
  negativeBinomial,
  pareto,
  poisson,
  vonMises,
  weibull,
} from "../../../src/bayes/distributions/index.js";
import type { RandomVariable } from "../../../src/bayes/variables/variable.js";
import { foldIn, key } from "../../../src/random/key.js";
import { backendFor } from "../../../src/tensor/index.js";
import { expectFrequencies, expectMoments } from "../../support/goodness-of-fit.js";
import { lgamma } from "../../support/special-functions.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";

const N = 20000;

interface Moments {
  readonly mean: number;
  readonly variance: number;
  /** The fourth central moment over variance². */
  readonly kurtosis: number;
}

const betaMoments = (a: number, b: number): Moments => {
  const total = a + b;
  const excess = (6 * ((a - b) ** 2 * (total + 1) - a * b * (total + 2))) / (a * b * (total + 2) * (total + 3));
  return { mean: a / total, variance: (a * b) / (total ** 2 * (total + 1)), kurtosis: 3 + excess };
};

const negativeBinomialMoments = (mean: number, r: number): Moments => {
  const p = r / (r + mean);
  return { mean, variance: mean / p, kurtosis: 3 + 6 / r + p ** 2 / ((1 - p) * r) };
};

const binomialMoments = (n: number, p: number): Moments => {
  const variance = n * p * (1 - p);
  return { mean: n * p, variance, kurtosis: 3 + (1 - 6 * p * (1 - p)) / variance };
};

const normalMoments = (mean: number, variance: number): Moments => ({ mean, variance, kurtosis: 3 });

/** Of numbers, by their moments. */
const withMoments: readonly (readonly [string, () => RandomVariable, Moments])[] = [
  ["gamma(0.001, 1)", () => gamma(1e-3, 1), { mean: 1e-3, variance: 1e-3, kurtosis: 3 + 6e3 }],
  ["gamma(1e8, 1e4)", () => gamma(1e8, 1e4), normalMoments(1e4, 1)],
  ["chiSquared(0.01)", () => chiSquared(0.01), { mean: 0.01, variance: 0.02, kurtosis: 3 + 12e2 }],
  ["beta(0.01, 0.01)", () => beta(0.01, 0.01), betaMoments(0.01, 0.01)],
  ["beta(0.01, 100)", () => beta(0.01, 100), betaMoments(0.01, 100)],
  ["negativeBinomial(50, 1e10)", () => negativeBinomial(50, 1e10), negativeBinomialMoments(50, 1e10)],
  ["negativeBinomial(1e6, 1e6)", () => negativeBinomial(1e6, 1e6), negativeBinomialMoments(1e6, 1e6)],
  ["negativeBinomial(10, 0.01)", () => negativeBinomial(10, 0.01), negativeBinomialMoments(10, 0.01)],
  ["poisson(1e6)", () => poisson(1e6), { mean: 1e6, variance: 1e6, kurtosis: 3 }],
  ["poisson(0.001)", () => poisson(1e-3), { mean: 1e-3, variance: 1e-3, kurtosis: 3 + 1e3 }],
  ["binomial(1e6, 0.3)", () => binomial(1e6, 0.3), binomialMoments(1e6, 0.3)],
  ["binomial(1e6, 1e-5)", () => binomial(1e6, 1e-5), binomialMoments(1e6, 1e-5)],
  ["geometric(1e-4)", () => geometric(1e-4), { mean: 9999, variance: (1 - 1e-4) / 1e-8, kurtosis: 9 }],
  ["vonMises(0.5, 1e6)", () => vonMises(0.5, 1e6), normalMoments(0.5, 1e-6)],
];

describeOnTensorDevices("draws of extreme parameters", (device) => {
  for (const dtype of ["f32", "f64"] as const) {
    // The generators are the same on all devices; what differs is how far floats reach.
    if (dtype === "f64" && (device !== "cpu" || !backendFor(device).hasDoubles)) continue;
    describe(dtype, () => {
      const own = key(7, { device });
      /** Draws, all of them with a finite log density. */
      const drawn = (variable: RandomVariable, seed: number): number[] => {
        const { distribution } = variable;
        const isDiscrete = !distribution.support.bijection;
        const draws = distribution.sample(foldIn(own, seed), [N], isDiscrete ? {} : { dtype });
        const densities = numbersOf(distribution.logDensity(draws.cast(dtype)));
        const odd = densities.findIndex((density) => !Number.isFinite(density));
        const size = draws.size / N;
        const shown = numbersOf(draws).slice(odd * size, (odd + 1) * size);
        assert.equal(odd, -1, `draw ${odd}, ${shown}, has log density ${densities[odd]}`);
        return numbersOf(draws);
      };

      withMoments.forEach(([title, make, moments], seed) => {
        test(title, () => expectMoments(drawn(make(), seed), moments, title));
      });

      test("small gamma numbers are as often small as they should be", () => {
        // For small x, P(X ≤ x) is x^a / Γ(a + 1).
        const a = 1e-3;
        const edges = [1e-37, 1e-30, 1e-20, 1e-10, 1e-4];
        const below = edges.map((x) => Math.exp(a * Math.log(x) - lgamma(a + 1)));
        const probabilities = [...below, 1].map((p, i) => p - (below[i - 1] ?? 0));
        const counted = (draws: readonly number[]) =>
          probabilities.map(
            (_, i) => draws.filter((x) => x < (edges[i] ?? Infinity) && x >= (edges[i - 1] ?? 0)).length,
          );
        expectFrequencies(counted(drawn(gamma(a, 1), 20)), probabilities, "gamma");
        const inverse = drawn(inverseGamma(a, 1), 21).map((x) => 1 / x);
        expectFrequencies(counted(inverse), probabilities, "inverseGamma");
        drawn(gamma(a, 1e10), 22);
      });

      test("dirichlet of small concentrations sums to 1, with means in proportion", () => {
        const concentration = [0.01, 0.02, 0.03];
        const draws = drawn(dirichlet(concentration), 23);
        for (let i = 0; i < N; i++) {
          const sum = draws[3 * i]! + draws[3 * i + 1]! + draws[3 * i + 2]!;
          assert.ok(Math.abs(sum - 1) < 1e-6, `draw ${i} sums to ${sum}`);
        }
        concentration.forEach((a, k) => {
          const part = Array.from({ length: N }, (_, i) => draws[3 * i + k]!);
          expectMoments(part, betaMoments(a, 0.06 - a), `element ${k}`);
        });
      });

      test("vonMises of concentration 0 is uniform on the circle", () => {
        const draws = drawn(vonMises(0.5, 0), 24);
        for (const [of, what] of [
          [Math.cos, "cos"],
          [Math.sin, "sin"],
          [(x: number) => Math.cos(2 * x), "cos 2x"],
        ] as const)
          expectMoments(draws.map(of), { mean: 0, variance: 0.5, kurtosis: 1.5 }, what);
      });

      test("what is certain is drawn always", () => {
        for (const [variable, value] of [
          [poisson(0), 0],
          [negativeBinomial(0, 2), 0],
          [binomial(1e6, 0), 0],
          [binomial(1e6, 1), 1e6],
          [geometric(1), 0],
        ] as const)
          assert.ok(drawn(variable, 25).every((x) => x === value));
      });

      test("tails beyond all floats end at the last of them", () => {
        const heavy = [
          weibull(1e-3, 2),
          pareto(0.01, 1),
          logNormal(0, 500),
          inverseGamma(1e-3, 5),
          lkjCholesky(2, 1e-3),
        ];
        heavy.forEach((variable, i) => {
          drawn(variable, 30 + i);
        });
      });
    });
  }
});
