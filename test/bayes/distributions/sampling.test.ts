/** Draws: frequencies of bins against SciPy's probabilities, means in standard errors, shapes, and the same for each key. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  dirichlet,
  flat,
  lkjCholesky,
  mvNormal,
  normal,
  studentT,
  truncatedNormal,
  vonMises,
} from "../../../src/bayes/distributions/index.js";
import { foldIn, key } from "../../../src/random/key.js";
import { backendFor, tensor } from "../../../src/tensor/index.js";
import { expectDistribution, expectFrequencies, normalDistribution } from "../../support/goodness-of-fit.js";
import { count, describeOnTensorDevices, numbersOf } from "../../support/tensors.js";
import { type Case, cases } from "./cases.js";

const N = 5000;

/** How many values lie between edges. */
function frequencies(values: readonly number[], edges: readonly number[]): number[] {
  const counts = new Array<number>(edges.length + 1).fill(0);
  for (const value of values) {
    const place = edges.findIndex((edge) => value < edge);
    counts[place < 0 ? edges.length : place]!++;
  }
  return counts;
}

/** Of each draw, the number that the bins are about. */
function functional(draws: readonly number[], weights: readonly number[] = [1]): number[] {
  const size = weights.length;
  return Array.from({ length: draws.length / size }, (_, i) =>
    weights.reduce((total, weight, j) => total + weight * draws[i * size + j]!, 0),
  );
}

function expectCase(one: Case, draws: readonly number[]): void {
  const { bins, mean, variance } = one;
  expectFrequencies(frequencies(functional(draws, bins!.weights), bins!.edges), bins!.probabilities, one.title);
  if (typeof mean !== "number" || !Number.isFinite(variance) || variance === 0) return;
  const z = (draws.reduce((a, b) => a + b, 0) / N - mean) / Math.sqrt((variance as number) / N);
  assert.ok(Math.abs(z) < 4, `${one.title}: the mean is off by ${z} standard errors`);
}

describe("draws in f64", () => {
  for (const group of cases.values()) {
    group.forEach((one, i) => {
      if (!one.bins) return;
      test(one.title, () => {
        const { distribution } = one.make();
        const own = foldIn(key(20, { device: "cpu" }), i);
        const { isDiscrete } = distribution.support;
        const drawn = distribution.sample(own, [N], { dtype: isDiscrete ? "i32" : "f64" });
        assert.deepEqual(drawn.shape, [N, ...distribution.eventShape]);
        const inside = distribution.support.holds(drawn.cast("f64"));
        assert.ok(numbersOf(inside).every(Boolean), "all lie in the support");
        expectCase(one, numbersOf(drawn));
      });
    });
  }
});

describeOnTensorDevices("draws in f32", (device) => {
  for (const name of ["normal", "studentT", "vonMises", "binomial", "negativeBinomial", "mixture", "lkjCholesky"]) {
    test(name, () => {
      const one = cases.get(name)![1]!;
      expectCase(one, numbersOf(one.make().distribution.sample(key(3, { device }), [N])));
    });
  }
});

describe("correlations of lkjCholesky", () => {
  test("are all alike, whatever the order in which they are made", () => {
    const n = 4;
    const eta = 2;
    const factors = numbersOf(
      lkjCholesky(n, eta).distribution.sample(key(5, { device: "cpu" }), [N], { dtype: "f64" }),
    );
    const row = (draw: number, i: number) => factors.slice((draw * n + i) * n, (draw * n + i + 1) * n);
    // Each correlation is Beta(η + (n - 2)/2) on (-1, 1); for a parameter of 3 its distribution function is a polynomial.
    const distribution = (r: number) => {
      const t = (r + 1) / 2;
      return t ** 3 * (10 - 15 * t + 6 * t * t);
    };
    for (const [i, j] of [
      [2, 1],
      [3, 1],
      [3, 2],
    ] as const) {
      const correlations = Array.from({ length: N }, (_, draw) => {
        const [a, b] = [row(draw, i), row(draw, j)];
        return a.reduce((total, value, k) => total + value * b[k]!, 0);
      });
      expectDistribution(correlations, distribution, `r${i}${j}`);
    }
  });

  test("of many variables are drawn by a few kernels", () => {
    const { counters } = backendFor("cpu");
    const before = counters.kernels;
    const drawn = lkjCholesky(20, tensor([1, 3], { device: "cpu" })).distribution.sample(key(6, { device: "cpu" }));
    assert.deepEqual(drawn.shape, [2, 20, 20]);
    for (const length of numbersOf(drawn.square().sum({ axis: -1 }))) assert.ok(Math.abs(length - 1) < 1e-5);
    assert.ok(counters.kernels - before <= 20, `${counters.kernels - before} kernels`);
  });
});

describe("draws in f32 at the edges of floats", () => {
  const own = key(4, { device: "cpu" });
  test("truncatedNormal far from its location keeps to the bound, and to the exponential distribution it has there", () => {
    const upper = numbersOf(truncatedNormal(-1e5, 100, { low: 0 }).distribution.sample(own, [N]));
    assert.ok(upper.every((x) => x >= 0));
    // The density falls by exp(-x·1e5/100²); what is quadratic is 1e-6 of that.
    expectDistribution(upper, (x) => -Math.expm1(-10 * x), "upper");
    const lower = numbersOf(truncatedNormal(1e5, 100, { high: 0 }).distribution.sample(own, [N]));
    expectDistribution(lower, (x) => Math.exp(10 * x), "lower");
  });

  test("truncatedNormal in a window narrow against its scale has an even or an exponential distribution there", () => {
    // By exp(x·location/scale²) and at most 1e-5 more.
    for (const [location, scale, high] of [
      [1, 1e8, 3],
      [1, 1e30, 3],
      [2 ** 26, 2 ** 26, 3],
      [-(2 ** 26), 2 ** 25, 3],
      [2 ** 26, 2 ** 27, 3],
      [2 ** 20, 2 ** 10, 2],
      [2 ** 20, 2 ** 10, 16],
      [-(2 ** 20), 2 ** 10, 2],
      [-(2 ** 20), 2 ** 10, 16],
    ] as const) {
      const draws = numbersOf(truncatedNormal(location, scale, { low: 0, high }).distribution.sample(own, [N]));
      assert.ok(draws.every((x) => x >= 0 && x <= high));
      const rate = location / scale ** 2;
      const share = (x: number) =>
        Math.abs(rate) < 1e-6
          ? x / high
          : (Math.exp(rate * (x - high)) - Math.exp(-rate * high)) / -Math.expm1(-rate * high);
      expectDistribution(draws, share, `${location}, ${scale}, ${high}`);
    }
  });

  test("studentT of few degrees of freedom is finite where floats reach", () => {
    assert.ok(numbersOf(studentT(0.15, 0, 1).distribution.sample(own, [20000])).every(Number.isFinite));
  });

  test("vonMises of a large concentration is normal", () => {
    const draws = numbersOf(vonMises(0, 1e8).distribution.sample(own, [N]));
    expectDistribution(draws, (x) => normalDistribution(x * 1e4), "vonMises");
  });
});

describe("shapes of draws", () => {
  const own = key(1, { device: "cpu" });
  test("are those of the arguments, or those asked for", () => {
    const location = tensor([0, 10, 20], { device: "cpu" });
    assert.deepEqual(normal(location, 1).distribution.sample(own).shape, [3]);
    assert.deepEqual(normal(location, 1).distribution.sample(own, [5, 3]).shape, [5, 3]);
    assert.throws(() => normal(location, 1).distribution.sample(own, [4]), /broadcast/);
    assert.deepEqual(dirichlet([1, 2]).distribution.sample(own, [4]).shape, [4, 2]);
    const covariance = tensor(
      [
        [2, 0.5],
        [0.5, 1],
      ],
      { device: "cpu" },
    );
    assert.deepEqual(mvNormal(0, { covariance }).distribution.sample(own, [2, 3]).shape, [2, 3, 2]);
  });

  test("dtypes are those of the arguments, or those asked for", () => {
    const location = tensor([0, 1], { dtype: "f64", device: "cpu" });
    assert.equal(normal(location, 1).distribution.sample(own).dtype, "f64");
    assert.equal(normal(0, 1).distribution.sample(own).dtype, "f32");
    assert.equal(normal(0, 1).distribution.sample(own, [2], { dtype: "f16" }).dtype, "f16");
  });

  test("the same key gives the same draws, another one others", () => {
    for (const [name, [one]] of cases) {
      const { distribution } = one!.make();
      const [a, b, c] = [own, own, foldIn(own, 1)].map((k) => numbersOf(distribution.sample(k, [20])).join());
      assert.equal(a, b, name);
      assert.notEqual(a, c, name);
      assert.ok(count(distribution.sample(own, [0]).shape) === 0, name);
    }
  });

  test("an improper prior has none, and says so", () => {
    assert.throws(() => flat().distribution.sample(own), /improper/);
  });
});
