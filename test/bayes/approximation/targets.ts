/** Posteriors with known answers, for the approximations: normal ones, conjugate ones, two modes, and posteriordb's. */
import assert from "node:assert/strict";
import type { Approximation } from "../../../src/bayes/approximation/approximation.js";
import type { AnyPosterior } from "../../../src/bayes/approximation/setting.js";
import { beta, binomial, factor, halfNormal, model, mvNormal, normal } from "../../../src/bayes/index.js";
import type { Tensor } from "../../../src/tensor/index.js";
import { referenceJson } from "../../support/reference-data.js";
import type { Make, ReferenceModel } from "../models/reference-model.js";

/** Independent normal numbers of very different scales. */
export const scales = { mean: [1, -2, 300], sd: [0.5, 2, 10] };
export const independentNormal = (make: Make): AnyPosterior =>
  model(({ m, s }: { m: Tensor; s: Tensor }) => ({ x: normal(m, s) })).given(
    {},
    { m: make(scales.mean), s: make(scales.sd) },
  );

/** A normal vector with correlations; its log evidence is 0. */
export const correlated = {
  mean: [0.5, -1, 2, 0],
  covariance: [
    [4, 1.2, -0.5, 0.3],
    [1.2, 1, 0.1, 0.2],
    [-0.5, 0.1, 0.5, 0],
    [0.3, 0.2, 0, 9],
  ],
};
export const correlatedNormal = (make: Make): AnyPosterior =>
  model(({ m, c }: { m: Tensor; c: Tensor }) => ({ x: mvNormal(m, { covariance: c }) })).given(
    {},
    { m: make(correlated.mean), c: make(correlated.covariance) },
  );

/** The inverse and the logarithm of the determinant, by Gauss and Jordan. */
export function inverted(matrix: readonly (readonly number[])[]): { inverse: number[][]; logDeterminant: number } {
  const n = matrix.length;
  const rows = matrix.map((row, i) => [...row, ...row.map((_, j) => (i === j ? 1 : 0))]);
  let logDeterminant = 0;
  for (let i = 0; i < n; i++) {
    const pivot = rows[i]![i]!;
    logDeterminant += Math.log(pivot);
    rows[i] = rows[i]!.map((x) => x / pivot);
    for (let k = 0; k < n; k++) {
      if (k === i) continue;
      const share = rows[k]![i]!;
      rows[k] = rows[k]!.map((x, j) => x - share * rows[i]![j]!);
    }
  }
  return { inverse: rows.map((row) => row.slice(n)), logDeterminant };
}

/** y ~ N(mu, 1), mu ~ N(0, 2): everything in closed form. */
export const observations = [1.2, -0.3, 0.8, 2.1, 1.7];
export const conjugateNormal = (make: Make): AnyPosterior =>
  model(() => {
    const mu = normal(0, 2);
    return { mu, y: normal(mu, 1) };
  }).given({ y: make(observations) });

export const conjugateAnswer = (() => {
  const n = observations.length;
  const sum = observations.reduce((a, b) => a + b, 0);
  const squares = observations.reduce((a, b) => a + b * b, 0);
  const variance = 1 / (n + 1 / 4);
  return {
    mean: variance * sum,
    sd: Math.sqrt(variance),
    logEvidence: -(n / 2) * Math.log(2 * Math.PI) - Math.log(4 / variance) / 2 - (squares - variance * sum * sum) / 2,
  };
})();

/** Successes of 20 and of 30 trials, with p ~ Beta(2, 3). */
export const betaBinomial = (make: Make): AnyPosterior =>
  model(({ trials }: { trials: Tensor }) => {
    const p = beta(2, 3);
    return { p, y: binomial(trials, p) };
  }).given({ y: make([14, 17]) }, { trials: make([20, 30]) });

export const betaBinomialAnswer = (() => {
  const factorial = (n: number): number =>
    Array.from({ length: n }, (_, i) => Math.log(i + 1)).reduce((a, b) => a + b, 0);
  const chosen = (n: number, k: number) => factorial(n) - factorial(k) - factorial(n - k);
  const logBeta = (a: number, b: number) => factorial(a - 1) + factorial(b - 1) - factorial(a + b - 1);
  const [a, b] = [2 + 31, 3 + 19];
  return {
    mean: a / (a + b),
    sd: Math.sqrt((a * b) / ((a + b) ** 2 * (a + b + 1))),
    logEvidence: chosen(20, 14) + chosen(30, 17) + logBeta(a, b) - logBeta(2, 3),
    /** P(p ≤ x): of whole numbers a and b, that of at least a successes in a + b - 1 trials. */
    distribution(x: number): number {
      let total = 0;
      for (let k = a; k < a + b; k++) total += Math.exp(chosen(a + b - 1, k)) * x ** k * (1 - x) ** (a + b - 1 - k);
      return total;
    },
  };
})();

/** A line with unknown noise: on the way from the prior, slope and intercept are the narrower the smaller sigma is. */
const heights = [1.1, 2.9, 5.2, 6.8, 9.1, 11.2, 12.8, 15.1];
export const noisyLine = (make: Make): AnyPosterior =>
  model(({ x }: { x: Tensor }) => {
    const slope = normal(0, 5);
    const intercept = normal(0, 5);
    const sigma = halfNormal(2);
    return { slope, intercept, sigma, y: normal(x.mul(slope).add(intercept), sigma) };
  }).given({ y: make(heights) }, { x: make(heights.map((_, i) => i)) });

/** Given sigma the heights are normal with covariance sigma² + 25·(1 + x·xᵀ); a sum over log sigma does the rest. */
export const noisyLineEvidence = (): number => {
  const step = 0.02;
  let total = 0;
  for (let logSigma = -4; logSigma < 2; logSigma += step) {
    const sigma = Math.exp(logSigma);
    const covariance = heights.map((_, i) => heights.map((_, j) => 25 * (1 + i * j) + (i === j ? sigma * sigma : 0)));
    const { inverse, logDeterminant } = inverted(covariance);
    const square = heights.reduce((sum, a, i) => sum + heights.reduce((s, b, j) => s + a * inverse[i]![j]! * b, 0), 0);
    const logLikelihood = -4 * Math.log(2 * Math.PI) - (logDeterminant + square) / 2;
    const logPrior = Math.log(2 / (2 * Math.sqrt(2 * Math.PI))) - (sigma * sigma) / 8;
    total += step * Math.exp(logLikelihood + logPrior + logSigma);
  }
  return Math.log(total);
};

/** Two round hills that no chain crosses between, of weights 0.3 and 0.7 times what the prior N(0, 5) makes of them. */
const hills = [
  { at: [-4, 0], sd: 0.3, weight: 0.3 },
  { at: [4, 1], sd: 0.6, weight: 0.7 },
];
export const twoModes = (make: Make): AnyPosterior =>
  model(({ places }: { places: Tensor }) => {
    const x = normal(0, 5).shape(2);
    const logs = hills.map(({ sd, weight }, i) => {
      return x
        .sub(places.at(i))
        .div(sd)
        .square()
        .sum()
        .mul(-0.5)
        .add(Math.log(weight / (2 * Math.PI * sd * sd)));
    });
    factor(logs[0]!.logaddexp(logs[1]!));
    return { x };
  }).given({}, { places: make(hills.map(({ at }) => at)) });

export const twoModesAnswer = (() => {
  const masses = hills.map(({ at, sd, weight }) => {
    const variance = 25 + sd * sd;
    return (weight * Math.exp(-(at[0]! ** 2 + at[1]! ** 2) / (2 * variance))) / (2 * Math.PI * variance);
  });
  const total = masses[0]! + masses[1]!;
  return { left: masses[0]! / total, logEvidence: Math.log(total) };
})();

export const close = (actual: number, expected: number, tolerance: number, what: string): void =>
  assert.ok(Math.abs(actual - expected) <= tolerance, `${what}: ${actual}, not ${expected} ± ${tolerance}`);

/** Means within so many standard deviations of the reference, and standard deviations within a share of theirs. */
export function expectReference(
  fit: Approximation,
  { name }: ReferenceModel,
  allowed: { readonly mean: number; readonly sd: number },
): void {
  const { summary } = referenceJson(`posteriordb/${name}/reference.json`) as {
    summary: Record<string, { mean: number; sd: number }>;
  };
  let compared = 0;
  for (const row of fit.summary()) {
    // The reference counts from 1.
    const known = summary[row.name.replace(/\[(\d+)\]/, (_, i) => `[${Number(i) + 1}]`)];
    if (!known) continue;
    compared++;
    close(row.mean, known.mean, allowed.mean * known.sd, `the mean of ${row.name}`);
    close(row.sd, known.sd, allowed.sd * known.sd, `the standard deviation of ${row.name}`);
  }
  assert.equal(compared, Object.keys(summary).length);
}
