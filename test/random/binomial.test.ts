/** Binomial numbers against their exact probabilities, for small and large expectations, on every device. */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as random from "../../src/random/index.js";
import { tensor } from "../../src/tensor/index.js";
import { expectFrequencies, expectMoments } from "../support/goodness-of-fit.js";
import { lgamma } from "../support/special-functions.js";
import { describeOnTensorDevices, numbersOf } from "../support/tensors.js";

const N = 10000;

/** P(X = k) for k from 0 to n. */
function probabilities(n: number, p: number): number[] {
  return Array.from({ length: n + 1 }, (_, k) => {
    const choose = lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
    return Math.exp(choose + k * Math.log(p) + (n - k) * Math.log1p(-p));
  });
}

function frequencies(values: readonly number[], n: number): number[] {
  const counts = new Array<number>(n + 1).fill(0);
  for (const value of values) {
    assert.ok(Number.isInteger(value) && value >= 0 && value <= n, `${value} of ${n}`);
    counts[value]!++;
  }
  return counts;
}

describeOnTensorDevices("binomial", () => {
  for (const [n, p] of [
    [1, 0.3],
    [10, 0.5],
    [60, 0.02],
    [60, 0.97],
    [33, 0.31],
    [100, 0.1],
    [100, 0.5],
    [1000, 0.8],
  ] as const) {
    test(`of ${n} trials with probability ${p} comes up as often as it should`, () => {
      const drawn = numbersOf(random.binomial(random.key(n), n, p, [N]));
      expectFrequencies(frequencies(drawn, n), probabilities(n, p), `binomial(${n}, ${p})`);
    });
  }

  test("of a million trials keeps its variance in f32", () => {
    const [n, p] = [1e6, 0.25];
    const variance = n * p * (1 - p);
    const drawn = numbersOf(random.binomial(random.key(9), n, p, [N]));
    expectMoments(drawn, { mean: n * p, variance, kurtosis: 3 + (1 - 6 * p * (1 - p)) / variance }, "binomial");
  });

  test("at the ends is certain, and without sense -1", () => {
    const trials = tensor([5, 5, 0, -1, 5, 5]);
    const p = tensor([0, 1, 0.5, 0.5, 1.5, Number.NaN]);
    assert.deepEqual(numbersOf(random.binomial(random.key(1), trials, p)), [0, 5, 0, -1, -1, -1]);
  });
});
