/** ESS, R-hat and standard errors against what is known in closed form, and where there is nothing to know. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { autocorrelation, meanAutocovariance, momentsOf } from "../../../src/bayes/diagnostics/autocovariance.js";
import { joinHalves, splitChains } from "../../../src/bayes/diagnostics/chains.js";
import {
  essBulk,
  essMean,
  essQuantile,
  essSd,
  essTail,
  leastEss,
} from "../../../src/bayes/diagnostics/effective-sample-size.js";
import { eBfmi } from "../../../src/bayes/diagnostics/energy.js";
import { fftOf } from "../../../src/bayes/diagnostics/fft.js";
import { indicatorAutocovariance } from "../../../src/bayes/diagnostics/indicators.js";
import { nestedRatio, nestedRHat, rHat } from "../../../src/bayes/diagnostics/r-hat.js";
import { summarizeScalar } from "../../../src/bayes/diagnostics/scalar-summary.js";
import { mcseMean, mcseQuantile, mcseSd } from "../../../src/bayes/diagnostics/standard-error.js";
import { summary } from "../../../src/bayes/diagnostics/summary.js";
import { type Chains, Draws } from "../../../src/bayes/draws/draws.js";
import { ArgumentError } from "../../../src/core/errors.js";
import { normalDistribution } from "../../support/goodness-of-fit.js";
import { autoregressive, chainsOf, independent, normals } from "../chains.js";

const map = (x: Chains, f: (value: number, index: number) => number): Chains => ({ ...x, values: x.values.map(f) });

test("the FFT is the sum it stands for", () => {
  for (const size of [1, 2, 8, 64]) {
    const next = normals(size);
    const re = Float64Array.from({ length: size }, next);
    const im = Float64Array.from({ length: size }, next);
    const [x, y] = [re.slice(), im.slice()];
    fftOf(size).transform(x, y);
    for (let k = 0; k < size; k++) {
      let [real, imaginary] = [0, 0];
      for (let j = 0; j < size; j++) {
        const angle = (-2 * Math.PI * j * k) / size;
        real += re[j]! * Math.cos(angle) - im[j]! * Math.sin(angle);
        imaginary += re[j]! * Math.sin(angle) + im[j]! * Math.cos(angle);
      }
      assert.ok(Math.abs(x[k]! - real) < 1e-12 && Math.abs(y[k]! - imaginary) < 1e-12, `size ${size}, frequency ${k}`);
    }
  }
});

/** (1/n) Σ (x_i - m)(x_{i+lag} - m), averaged over chains, as it is written. */
function plainAutocovariance({ values, chains, draws }: Chains, lag: number): number {
  let sum = 0;
  for (let c = 0; c < chains; c++) {
    const chain = values.subarray(c * draws, (c + 1) * draws);
    const mean = chain.reduce((total, value) => total + value, 0) / draws;
    for (let i = 0; i + lag < draws; i++) sum += (chain[i]! - mean) * (chain[i + lag]! - mean);
  }
  return sum / draws / chains;
}

describe("autocovariances", () => {
  for (const [chains, draws] of [
    [1, 100],
    [3, 77],
    [4, 5],
  ] as const) {
    test(`of ${chains} × ${draws} draws are the sums they stand for, at every lag and in any order`, () => {
      const x = map(autoregressive(chains, draws, 0.5, 3), (value) => 10 + value);
      for (const lags of [[0, draws - 1, ...Array(draws).keys()], [...Array(draws).keys()].reverse()]) {
        const found = meanAutocovariance(x);
        for (const lag of lags) assert.ok(Math.abs(found.at(lag) - plainAutocovariance(x, lag)) < 1e-13, `lag ${lag}`);
        assert.equal(found.at(draws), 0);
      }
    });
  }

  test("of indicators are those of zeros and ones, at every lag, whatever share of them is ones", () => {
    for (const draws of [7, 300]) {
      const x = map(autoregressive(6, draws, 0.9, 4), (value, i) => (i < draws / 2 ? 9 : value));
      for (const limit of [-10, -1.6, 0, 1.6, 8.9, 9]) {
        const ones = map(x, (value) => (value <= limit ? 1 : 0));
        const found = indicatorAutocovariance(x, limit);
        for (let lag = 0; lag < draws; lag++) {
          assert.ok(Math.abs(found.at(lag) - plainAutocovariance(ones, lag)) < 1e-14, `${limit} at lag ${lag}`);
        }
        found.means.forEach((mean, c) => {
          const chain = ones.values.subarray(c * draws, (c + 1) * draws);
          assert.equal(mean, chain.reduce((sum, value) => sum + value, 0) / draws);
        });
      }
    }
  });

  test("of an autoregressive chain fall as ρ^lag", () => {
    const { values } = autoregressive(1, 200_000, 0.8, 5);
    autocorrelation(values, 10).forEach((value, lag) => {
      assert.ok(Math.abs(value - 0.8 ** lag) < 0.02, `lag ${lag}`);
    });
  });
});

describe("effective sample sizes", () => {
  // The standard error of ESS/n over these 40,000 draws is about 3%.
  for (const rho of [-0.5, 0, 0.3, 0.6, 0.9]) {
    test(`of the mean of an autoregression of ${rho} are n (1 - ρ)/(1 + ρ)`, () => {
      const x = autoregressive(8, 5000, rho, 11);
      const ratio = essMean(x) / x.values.length / ((1 - rho) / (1 + rho));
      assert.ok(Math.abs(ratio - 1) < 0.12, `${ratio}`);
      assert.ok(Math.abs(essBulk(x) / essMean(x) - 1) < 0.02, "the scores of normal draws are the draws");
    });

    test(`of the variance of an autoregression of ${rho} are n (1 - ρ²)/(1 + ρ²)`, () => {
      const x = autoregressive(8, 5000, rho, 12);
      const ratio = essSd(x) / x.values.length / ((1 - rho ** 2) / (1 + rho ** 2));
      assert.ok(Math.abs(ratio - 1) < 0.12, `${ratio}`);
    });
  }

  test("of the median of an autoregression follow from the orthant probabilities of normal pairs", () => {
    const rho = 0.6;
    const x = autoregressive(8, 5000, rho, 13);
    // The indicator of x ≤ 0 has autocorrelation (2/π) asin(ρ^t).
    const lags = [...Array(200).keys()].map((t) => (2 / Math.PI) * Math.asin(rho ** (t + 1)));
    const expected = x.values.length / (1 + 2 * lags.reduce((sum, value) => sum + value, 0));
    assert.ok(Math.abs(essQuantile(x, 0.5) / expected - 1) < 0.12);
  });

  test("exist where the mean does not", () => {
    const cauchy = map(independent(4, 2000, 1), (value) => Math.tan(value * 1.2));
    assert.ok(essBulk(cauchy) > 6000 && essTail(cauchy) > 6000);
  });

  test("and R-hat do not change under a monotone map", () => {
    const x = autoregressive(4, 300, 0.5, 2);
    assert.equal(essBulk(map(x, Math.exp)), essBulk(x));
    const odd = map(x, (value) => value ** 3);
    assert.equal(essTail(odd), essTail(x));
    assert.equal(rHat(map(x, (value) => 8 * value)), rHat(x));
  });

  test("of all scalars: the least is that of the slowest", () => {
    const draws = new Draws({ chains: 4, variables: { fast: [], slow: [2] } });
    assert.ok(Number.isNaN(leastEss(draws)));
    const [fast, slow, slowest] = [0, 0.5, 0.9].map((rho) => autoregressive(4, 101, rho, 21)) as [
      Chains,
      Chains,
      Chains,
    ];
    draws.appendByScalar({
      values: { fast: fast.values, slow: Float64Array.from([...slow.values, ...slowest.values]) },
    });
    assert.equal(leastEss(draws), essBulk(slowest));
    assert.ok(essBulk(slowest) < essBulk(slow));
  });

  test("sum correlations up to the last even lag, which counts once (Geyer 1992, as Stan does)", () => {
    /** From the definition: ρ by lag of chains that are split, pairs while they are positive, made to fall. */
    const plain = (x: Chains): number => {
      const half = Math.floor(x.draws / 2);
      const rows = Array.from({ length: x.chains }, (_, c) => [...x.values.subarray(c * x.draws, (c + 1) * x.draws)]);
      const halves = rows.flatMap((row) => [row.slice(0, half), row.slice(x.draws - half)]);
      const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
      const covariance = (lag: number) =>
        mean(
          halves.map((row) => {
            const products = row.slice(lag).map((value, i) => (value - mean(row)) * (row[i]! - mean(row)));
            return products.reduce((sum, value) => sum + value, 0) / half;
          }),
        );
      const centres = halves.map(mean);
      const between = centres.reduce((sum, m) => sum + (m - mean(centres)) ** 2, 0) / (centres.length - 1);
      const within = (covariance(0) * half) / (half - 1);
      const rho = (lag: number) => (lag === 0 ? 1 : 1 - (within - covariance(lag)) / (covariance(0) + between));
      let [sum, least, lag] = [0, Number.POSITIVE_INFINITY, 0];
      for (; lag < Math.max(half - 5, 1) && rho(lag) + rho(lag + 1) > 0; lag += 2) {
        least = Math.min(least, rho(lag) + rho(lag + 1));
        sum += least;
      }
      const end = rho(lag) > 0 || rho(lag) + rho(lag + 1) >= 0 ? rho(lag) : 0;
      const size = halves.length * half;
      return size / Math.max(-1 + 2 * sum + end, 1 / Math.log10(size));
    };
    for (const [draws, rho, seed] of [
      [40, 0.9, 1],
      [41, 0.3, 2],
      [100, -0.6, 3],
      [24, 0.97, 4],
      [12, 0.5, 5],
    ] as const) {
      const x = autoregressive(3, draws, rho, seed);
      const [found, wanted] = [essMean(x), plain(x)];
      assert.ok(Math.abs(found / wanted - 1) < 1e-9, `${found}, not ${wanted}, for ${draws} draws and ρ ${rho}`);
    }
  });

  test("never exceed n log10 n, whatever the chains do", () => {
    const alternating = map(independent(2, 1000, 4), (value, i) => (i % 2 ? 1 : -1) + 1e-3 * value);
    assert.equal(essMean(alternating), 2000 * Math.log10(2000));
  });
});

describe("R-hat", () => {
  test("of independent draws is 1", () => {
    assert.ok(Math.abs(rHat(independent(4, 1000, 1)) - 1) < 0.005);
  });

  test("sees a chain elsewhere, a chain with another spread, and a drift", () => {
    const x = independent(4, 500, 2);
    const last = (i: number) => i >= 1500;
    assert.ok(rHat(map(x, (value, i) => value + (last(i) ? 1 : 0))) > 1.05);
    assert.ok(rHat(map(x, (value, i) => value * (last(i) ? 3 : 1))) > 1.05, "only folding sees it");
    assert.ok(rHat(map(x, (value, i) => value + (i % 500) / 250)) > 1.05, "only splitting sees it");
    assert.ok(rHat(map(independent(1, 500, 3), (value, i) => value + i / 100)) > 1.05, "even in one chain");
  });

  test("of short independent chains is √(1 + 1/n) or so, and nested R-hat 1", () => {
    const x = independent(1024, 20, 5);
    // Halves of 10 draws: between-chain variance σ²/10 beside (9/10) σ².
    assert.ok(Math.abs(rHat(x) - 1) < 0.01);
    const slow = autoregressive(1024, 20, 0.8, 6);
    assert.ok(rHat(slow) > 1.2);
    assert.ok(nestedRHat(slow, 16) < 1.01);
  });
});

describe("nested R-hat", () => {
  test("is the square root of 1 + between over within variance", () => {
    const x = map(autoregressive(6, 5, 0.2, 8), (value, i) => value + Math.floor(i / 10));
    const [superchains, size] = [3, 2];
    const at = (k: number, m: number, n: number) => x.values[(k * size + m) * 5 + n]!;
    const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
    const variance = (values: number[]) =>
      values.reduce((sum, value) => sum + (value - mean(values)) ** 2, 0) / (values.length - 1);
    const chains = [0, 1, 2].map((k) => [0, 1].map((m) => [0, 1, 2, 3, 4].map((n) => at(k, m, n))));
    const within = mean(chains.map((group) => variance(group.map(mean)) + mean(group.map(variance))));
    const between = variance(chains.map((group) => mean(group.flat())));
    assert.ok(
      Math.abs(nestedRatio(momentsOf(meanAutocovariance(x)), superchains) - Math.sqrt(1 + between / within)) < 1e-14,
    );
  });

  test("is the larger of that of normal scores of ranks and of ranks of distances from the median", () => {
    const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
    const variance = (values: readonly number[]) =>
      values.reduce((sum, value) => sum + (value - mean(values)) ** 2, 0) / (values.length - 1);
    /** Where the distribution function is p, by halving. */
    const quantile = (p: number) => {
      let [low, high] = [-9, 9];
      for (let n = 0; n < 80; n++) {
        const middle = (low + high) / 2;
        [low, high] = normalDistribution(middle) < p ? [middle, high] : [low, middle];
      }
      return low;
    };
    /** Ranks of equal values are the mean of theirs; scores are those of Blom. */
    const scores = (values: readonly number[]) =>
      values.map((value) => {
        const below = values.filter((other) => other < value).length;
        const rank = below + (values.filter((other) => other === value).length + 1) / 2;
        return quantile((rank - 3 / 8) / (values.length + 1 / 4));
      });
    const ratio = (values: readonly number[]) => {
      const groups = [0, 1, 2].map((k) => [0, 1].map((m) => values.slice(14 * k + 7 * m, 14 * k + 7 * m + 7)));
      const within = mean(groups.map((group) => variance(group.map(mean)) + mean(group.map(variance))));
      return Math.sqrt(1 + variance(groups.map((group) => mean(group.flat()))) / within);
    };
    const larger = new Set<string>();
    for (let seed = 0; seed < 10; seed++) {
      // Rounded, so that there are ties; the later superchains lie elsewhere, or are wider with signs that alternate.
      const x = map(autoregressive(6, 7, 0.2, seed), (value, i) => {
        const k = Math.floor(i / 14);
        const moved = seed % 2 ? value + k : (i % 2 ? 1 : -1) * Math.abs(value) * 5 ** k;
        return Math.round(4 * moved) / 4;
      });
      const values = Array.from(x.values);
      const sorted = [...values].sort((a, b) => a - b);
      const median = (sorted[20]! + sorted[21]!) / 2;
      const location = ratio(scores(values));
      const scale = ratio(scores(values.map((value) => Math.abs(value - median))));
      larger.add(location > scale ? "location" : "scale");
      const wanted = Math.max(location, scale);
      assert.ok(Math.abs(nestedRHat(x, 3) - wanted) < 1e-9, `${nestedRHat(x, 3)}, not ${wanted}`);
    }
    assert.equal(larger.size, 2);
  });

  test("sees superchains apart, even of one draw per chain", () => {
    for (const draws of [1, 3, 10]) {
      const x = independent(256, draws, 9);
      assert.ok(nestedRHat(x, 8) < 1.05);
      assert.ok(
        nestedRHat(
          map(x, (value, i) => value + (i < 32 * draws ? 2 : 0)),
          8,
        ) > 1.05,
      );
    }
  });

  test("is in the summary where superchains are known, the same from shared scores", () => {
    for (const draws of [10, 11]) {
      const x = independent(64, draws, 10);
      assert.ok(Math.abs(summarizeScalar("x", x, 8).nestedRHat! - nestedRHat(x, 8)) < 1e-14);
      assert.equal("nestedRHat" in summarizeScalar("x", x), false);
    }
  });

  test("refuses superchains that do not divide the chains", () => {
    for (const count of [4, 1, Number.NaN, 2.5]) {
      assert.throws(() => nestedRHat(independent(6, 10, 1), count), ArgumentError, `${count} superchains`);
    }
    assert.throws(() => nestedRHat(independent(6, 10, 1), 1), ArgumentError);
  });
});

test("standard errors are those that repeated runs have", () => {
  const runs = 300;
  const scaled = { mean: 0, sd: 0, median: 0 };
  for (let run = 0; run < runs; run++) {
    const x = autoregressive(4, 250, 0.5, 1000 + run);
    const { mean, sd, median } = summarizeScalar("x", x);
    scaled.mean += (mean / mcseMean(x)) ** 2 / runs;
    scaled.sd += ((sd - 1) / mcseSd(x)) ** 2 / runs;
    scaled.median += (median / mcseQuantile(x, 0.5)) ** 2 / runs;
  }
  // The mean of 300 squares of standard normal numbers is 1 ± 0.08; the errors are estimates themselves.
  for (const [what, value] of Object.entries(scaled)) assert.ok(value > 0.7 && value < 1.35, `${what}: ${value}`);
});

test("E-BFMI of energies with autocorrelation ρ is 2 (1 - ρ)", () => {
  for (const rho of [0, 0.5, 0.95]) {
    const value = eBfmi(autoregressive(1, 20_000, rho, 3))[0]!;
    assert.ok(Math.abs(value / (2 * (1 - rho)) - 1) < 0.1, `${value}`);
  }
  assert.ok(Number.isNaN(eBfmi(chainsOf([[1, 1, 1]]))[0]!));
});

describe("there is nothing to say", () => {
  const every = { essBulk, essTail, essMean, essSd, rHat, mcseMean, mcseSd };
  const cases: Record<string, Chains> = {
    "of a constant": chainsOf([Array(20).fill(0.1), Array(20).fill(0.1)]),
    "with a NaN": map(independent(2, 20, 1), (value, i) => (i === 7 ? Number.NaN : value)),
    "with an infinity": map(independent(2, 20, 1), (value, i) => (i === 7 ? Infinity : value)),
    "of 3 draws": independent(4, 3, 1),
    "of no draws": { values: new Float64Array(0), chains: 2, draws: 0 },
  };
  for (const [what, x] of Object.entries(cases)) {
    test(what, () => {
      for (const [name, diagnostic] of Object.entries(every)) assert.ok(Number.isNaN(diagnostic(x)), name);
      assert.ok(Number.isNaN(mcseQuantile(x, 0.5)) || x.values.length === 0);
      const row = summarizeScalar("x", x);
      assert.ok([row.essBulk, row.essTail, row.rHat, row.mcseMean].every(Number.isNaN));
    });
  }

  test("but a mean and quantiles of a constant, and of few draws, there are", () => {
    const constant = summarizeScalar("x", chainsOf([Array(20).fill(0.1)]));
    assert.deepEqual([constant.q5, constant.median, constant.sd], [0.1, 0.1, 0]);
    assert.equal(summarizeScalar("x", chainsOf([[1, 2, 3]])).median, 2);
  });
});

test("a stuck chain among others makes R-hat large and ESS small", () => {
  const x = map(independent(4, 500, 6), (value, i) => (i < 500 ? 2 : value));
  assert.ok(rHat(x) > 1.1);
  assert.ok(essBulk(x) < 40);
  const all = map(independent(4, 500, 6), (_, i) => Math.floor(i / 500));
  assert.ok(rHat(all) > 1e6);
  assert.ok(essBulk(all) < 10);
});

test("chains that stand still at two points could not disagree more, though all are as far from the median", () => {
  for (const draws of [20, 21, 500]) {
    const x = chainsOf([-1, 1].map((value) => Array<number>(draws).fill(value)));
    assert.ok(rHat(x) > 1e6, `${draws} draws: ${rHat(x)}`);
    assert.equal(summarizeScalar("x", x).rHat, rHat(x));
    const four = chainsOf([-1, -1, 1, 1].map((value) => Array<number>(draws).fill(value)));
    assert.ok(nestedRHat(four, 2) > 1e6);
    assert.ok(summarizeScalar("x", four, 2).nestedRHat! > 1e6);
  }
  const still = Draws.from({ x: [Array(50).fill(-1), Array(50).fill(1)] });
  assert.match(String(summary(still)), /rhat\n.*∞/);
});

test("chains are split without their middle draw when the number is odd", () => {
  const { values, chains, draws } = splitChains(
    chainsOf([
      [1, 2, 3, 4, 5],
      [6, 7, 8, 9, 10],
    ]),
  );
  assert.deepEqual([[...values], chains, draws], [[1, 2, 4, 5, 6, 7, 9, 10], 4, 2]);
});

test("the moments of chains are the sums they stand for, and those of halves make those of whole chains", () => {
  const x = map(autoregressive(5, 12, 0.3, 7), (value, i) => value + Math.floor(i / 12));
  const mean = (values: Float64Array) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = (values: Float64Array) => values.reduce((sum, value) => sum + (value - mean(values)) ** 2, 0);
  const rows = [0, 1, 2, 3, 4].map((c) => x.values.subarray(12 * c, 12 * c + 12));
  const moments = (of: Chains) => momentsOf(meanAutocovariance(of));
  for (const { draws, means, within } of [moments(x), joinHalves(moments(splitChains(x)))]) {
    assert.equal(draws, 12);
    rows.forEach((row, c) => {
      assert.ok(Math.abs(means[c]! - mean(row)) < 1e-14);
    });
    assert.ok(Math.abs(within - rows.reduce((sum, row) => sum + squares(row) / 11 / 5, 0)) < 1e-14);
  }
});

test("what are no chains of numbers is said to be none", () => {
  const x = autoregressive(4, 100, 0, 1);
  const all = {
    essBulk,
    essTail,
    essMean,
    essQuantile,
    essSd,
    rHat,
    nestedRHat,
    mcseMean,
    mcseSd,
    mcseQuantile,
    eBfmi,
  };
  const no: readonly (readonly [unknown, RegExp])[] = [
    [
      [
        [1, 2, 3],
        [1, 2, 4],
      ],
      /: a list stands where .* chains.*Draws\.from\(.*\)\.scalar/,
    ],
    [{ ...x, draws: 99 }, /: 400 values are not 4 chains × 99 draws/],
    [{ ...x, chains: undefined }, /: 400 values are not undefined chains × 100 draws/],
    [{ ...x, values: [...x.values] }, /: values is a list; .*Float64Array/],
    [undefined, /: undefined stands where/],
  ];
  for (const [name, diagnostic] of Object.entries(all)) {
    const run = diagnostic as (chains: unknown, more: number) => unknown;
    for (const [given, message] of no) {
      assert.throws(
        () => run(given, name === "nestedRHat" ? 2 : 0.5),
        (error: Error) => {
          assert.ok(error instanceof ArgumentError, `${name}: ${error}`);
          assert.ok(error.message.startsWith(name), error.message);
          assert.match(error.message, message);
          return true;
        },
      );
    }
    run(x, name === "nestedRHat" ? 2 : 0.5);
  }
});
