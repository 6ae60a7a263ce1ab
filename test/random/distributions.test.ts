/** Distributions: known answers of JAX, goodness of fit, moments in standard errors, independence, reproducibility. */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as random from "../../src/random/index.js";
import { type Tensor, tensor } from "../../src/tensor/index.js";
import {
  erf,
  expectDistribution,
  expectFrequencies,
  expectMoments,
  normalDistribution,
} from "../support/goodness-of-fit.js";
import { describeOnTensorDevices, floatDTypes } from "../support/tensors.js";
import { threefryOracle } from "../support/threefry-oracle.js";

const N = 40000;
const drawn = (x: Tensor): number[] => Array.from(x.dataSync() as ArrayLike<number | bigint>, Number);
const countsOf = (values: readonly number[], cells: number): number[] => {
  const counts = new Array<number>(cells).fill(0);
  for (const value of values) counts[Math.max(0, Math.min(cells - 1, value))]!++;
  return counts;
};

describeOnTensorDevices("uniform", () => {
  test("equals JAX's", () => {
    // jax.random.uniform(jax.random.key(0), (3,))
    const expected = [0.947667, 0.9785799, 0.33229148].map(Math.fround);
    assert.deepEqual(drawn(random.uniform(random.key(0), [3])), expected);
  });

  test("is the upper bits of the words over their number, in every float", () => {
    const words = Array.from({ length: 100 }, (_, i) => threefryOracle([0, 5], [0, i]));
    const folded = words.map(([a, b]) => (a ^ b) >>> 0);
    const expected = {
      f32: folded.map((word) => (word >>> 9) / 2 ** 23),
      f64: words.map(([a, b]) => Number(((BigInt(a) << 32n) | BigInt(b)) >> 12n) / 2 ** 52),
      f16: folded.map((word) => ((word & 0xffff) >>> 6) / 2 ** 10),
      bf16: folded.map((word) => ((word & 0xff) >>> 1) / 2 ** 7),
      f8e4m3: folded.map((word) => ((word & 0xff) >>> 5) / 2 ** 3),
      f8e5m2: folded.map((word) => ((word & 0xff) >>> 6) / 2 ** 2),
    };
    for (const dtype of [...floatDTypes, "f8e4m3", "f8e5m2"] as const) {
      const x = random.uniform(random.key(5), [100], { dtype });
      assert.equal(x.dtype, dtype);
      assert.deepEqual(drawn(x), expected[dtype], dtype);
    }
  });

  test("is flat", () => {
    const values = drawn(random.uniform(random.key(1), [N]));
    expectDistribution(values, (x) => x, "uniform");
    expectFrequencies(
      countsOf(
        values.map((x) => Math.floor(100 * x)),
        100,
      ),
      new Array(100).fill(0.01),
      "uniform",
    );
    expectMoments(values, { mean: 1 / 2, variance: 1 / 12, kurtosis: 9 / 5 }, "uniform");
  });

  test("from low to high, numbers or tensors", () => {
    const key = random.key(2);
    const values = drawn(random.uniform(key, [1000], { low: -3, high: 5 }));
    const unit = drawn(random.uniform(key, [1000]));
    assert.deepEqual(
      values,
      unit.map((u) => Math.fround(u * 8 - 3)),
    );
    const low = tensor([[0], [10]]);
    const rows = drawn(random.uniform(key, [2, 500], { low, high: low.add(2) }));
    assert.ok(rows.slice(0, 500).every((x) => x >= 0 && x < 2) && rows.slice(500).every((x) => x >= 10 && x <= 12));
    assert.deepEqual(drawn(random.uniform(key, [1000], { low: tensor(-3), high: 5 })), values);
    assert.deepEqual(drawn(random.uniform(key, [1000], { low: -3, high: tensor(5) })), values);
  });

  test("the same key gives the same numbers, and part of a fused expression the same as alone", () => {
    const key = random.key(3);
    const once = drawn(random.uniform(key, [50]));
    assert.deepEqual(drawn(random.uniform(key, [50])), once);
    const fused = random
      .uniform(key, [50])
      .mul(2)
      .add(random.uniform(random.split(key)[0]!, [50]));
    const other = drawn(random.uniform(random.split(key)[0]!, [50]));
    assert.deepEqual(
      drawn(fused),
      once.map((u, i) => Math.fround(2 * u + other[i]!)),
    );
  });

  test("numbers of split keys are independent", () => {
    const keys = random.split(random.key(4), 4);
    const draws = keys.map((key) => drawn(random.normal(key, [N])));
    for (let i = 0; i < 4; i++) {
      for (let j = 0; j < i; j++) {
        const z = draws[i]!.reduce((sum, x, k) => sum + x * draws[j]![k]!, 0) / Math.sqrt(N);
        assert.ok(Math.abs(z) < 4, `correlation of keys ${i} and ${j}: z = ${z}`);
      }
      const lag = draws[i]!.slice(1).reduce((sum, x, k) => sum + x * draws[i]![k]!, 0) / Math.sqrt(N);
      assert.ok(Math.abs(lag) < 4, `correlation of neighbours: z = ${lag}`);
    }
  });
});

describeOnTensorDevices("normal", () => {
  test("equals JAX's up to the rounding of erfInv", () => {
    const key = random.key(42);
    // jax.random.normal(jax.random.key(42)), and of the second key it splits into
    assert.ok(Math.abs(random.normal(key).itemSync() - -0.028304616) < 3e-9);
    assert.ok(Math.abs(random.normal(random.split(key)[1]!).itemSync() - 0.60576403) < 1e-7);
  });

  for (const dtype of floatDTypes) {
    test(`${dtype} has the moments`, () => {
      const x = random.normal(random.key(5), [N], { dtype });
      assert.equal(x.dtype, dtype);
      const values = drawn(x);
      expectMoments(values, { mean: 0, variance: 1, kurtosis: 3 }, dtype);
      if (dtype === "f32" || dtype === "f64") expectDistribution(values, normalDistribution, dtype);
      assert.ok(values.every(Number.isFinite));
    });
  }

  test("truncated: the part between the bounds, as numbers and as tensors", () => {
    const part = (low: number, high: number) => (x: number) =>
      (normalDistribution(x) - normalDistribution(low)) / (normalDistribution(high) - normalDistribution(low));
    const values = drawn(random.truncatedNormal(random.key(6), -1, 2, [N]));
    assert.ok(values.every((x) => x >= -1 && x <= 2));
    expectDistribution(values, part(-1, 2), "from -1 to 2");
    const low = tensor([[-Infinity], [1]]);
    const rows = drawn(random.truncatedNormal(random.key(7), low, Infinity, [2, N / 2]));
    expectDistribution(rows.slice(0, N / 2), normalDistribution, "everything");
    expectDistribution(rows.slice(N / 2), part(1, Infinity), "from 1");
  });
});

/** The distribution function of normal numbers from a on, a ≥ 0, up to b: an integral of exp((a² - t²)/2) by Simpson's rule. */
function tailDistribution(a: number, b: number): (x: number) => number {
  const steps = 2000;
  const end = Math.min(b - a, 40 / a);
  const height = (d: number) => Math.exp(-d * (a + d / 2));
  const sums = [0];
  for (let i = 0; i < steps; i++) {
    const [from, to] = [(end * i) / steps, (end * (i + 1)) / steps];
    sums.push(sums[i]! + ((height(from) + 4 * height((from + to) / 2) + height(to)) * (to - from)) / 6);
  }
  return (x) => {
    const place = Math.min(1, Math.max(0, (x - a) / end)) * steps;
    const i = Math.min(steps - 1, Math.floor(place));
    return (sums[i]! + (sums[i + 1]! - sums[i]!) * (place - i)) / sums[steps]!;
  };
}

describeOnTensorDevices("truncated normal numbers of tails", () => {
  const cases = [
    [1.2, Infinity],
    [3, 3.5],
    [5, Infinity],
    [8, 9],
    [9.5, Infinity],
    [12, 12.25],
    [19, Infinity],
    [40, Infinity],
  ] as const;
  for (const dtype of ["f32", "f64"] as const) {
    for (const [low, high] of cases) {
      test(`${dtype}: from ${low} to ${high}, and its mirror image`, () => {
        const n = 10000;
        const values = drawn(random.truncatedNormal(random.key(8), low, high, [n], { dtype }));
        assert.ok(values.every((x) => Number.isFinite(x) && x >= low && x <= high));
        expectDistribution(values, tailDistribution(low, high), "upper");
        const mirrored = drawn(random.truncatedNormal(random.key(9), -high, -low, [n], { dtype }));
        expectDistribution(
          mirrored.map((x) => -x),
          tailDistribution(low, high),
          "lower",
        );
      });
    }
  }
});

describeOnTensorDevices("integers and choices", () => {
  test("randint is flat over its range", () => {
    for (const [low, high] of [
      [0, 10],
      [-7, 6],
      [0, 1],
      [5, 262],
    ] as const) {
      const values = drawn(random.randint(random.key(1), [N], low, high));
      const cells = high - low;
      assert.ok(values.every((x) => x >= low && x < high));
      expectFrequencies(
        countsOf(
          values.map((x) => x - low),
          cells,
        ),
        new Array(cells).fill(1 / cells),
        `${low}…${high}`,
      );
    }
  });

  test("randint in every integer dtype, up to its whole range", () => {
    for (const dtype of ["u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64"] as const) {
      const bits = BigInt(dtype.slice(1));
      const low = dtype[0] === "i" ? -(2n ** (bits - 1n)) : 0n;
      const x = random.randint(random.key(2), [4000], low, low + 2n ** bits, { dtype });
      assert.equal(x.dtype, dtype);
      const scaled = drawn(x).map((value) => Math.floor(((value - Number(low)) / 2 ** Number(bits)) * 16));
      expectFrequencies(countsOf(scaled, 16), new Array(16).fill(1 / 16), dtype);
      const small = drawn(random.randint(random.key(3), [1000], 3, 5, { dtype }));
      assert.deepEqual([...new Set(small)].sort(), [3, 4], dtype);
    }
  });

  test("randint folds 64 bits as JAX does", () => {
    const key = random.key(11);
    const [upper, lower] = random.split(key).map((each) => drawn(random.bits(each, [50])));
    for (const span of [10, 1000, 65537, 2 ** 31 - 1]) {
      const root = 65536 % span;
      const factor = BigInt.asUintN(32, BigInt(root) * BigInt(root)) % BigInt(span);
      const expected = upper!.map((high, i) => {
        const sum = BigInt.asUintN(32, (BigInt(high) % BigInt(span)) * factor + (BigInt(lower![i]!) % BigInt(span)));
        return Number(sum % BigInt(span)) - 5;
      });
      assert.deepEqual(drawn(random.randint(key, [50], -5, span - 5)), expected, `span ${span}`);
    }
  });

  test("bernoulli", () => {
    for (const p of [0, 0.3, 0.5, 1]) {
      const x = random.bernoulli(random.key(4), p, [N]);
      assert.equal(x.dtype, "bool");
      const hits = drawn(x).reduce((sum, value) => sum + value, 0);
      expectFrequencies([N - hits, hits], [1 - p, p], `p = ${p}`);
    }
    const rows = random.bernoulli(random.key(5), tensor([[0], [1]]), [2, 100]);
    assert.deepEqual(drawn(rows.sum({ axis: 1 })), [0, 100]);
    assert.deepEqual(random.bernoulli(random.key(5), tensor([0.1, 0.2])).shape, [2]);
  });

  test("categorical follows the weights, also -infinity", () => {
    const weights = [0.1, 0.2, 0, 0.7];
    const logits = tensor(weights.map(Math.log));
    const values = drawn(random.categorical(random.key(6), logits, { shape: [N] }));
    expectFrequencies(countsOf(values, 4), weights, "categorical");
    const certain = tensor([
      [0, -Infinity, -Infinity],
      [-Infinity, -Infinity, 0],
    ]);
    assert.deepEqual(drawn(random.categorical(random.key(7), certain)), [0, 2]);
    assert.deepEqual(drawn(random.categorical(random.key(7), certain.T, { axis: 0 })), [0, 2]);
    assert.deepEqual(random.categorical(random.key(7), certain, { shape: [5, 2] }).shape, [5, 2]);
    assert.throws(() => random.categorical(random.key(7), certain, { shape: [5] }), /must end with the other axes/);
  });
});

describeOnTensorDevices("continuous distributions", () => {
  test("exponential", () => {
    const values = drawn(random.exponential(random.key(1), [N]));
    expectDistribution(values, (x) => 1 - Math.exp(-x), "exponential");
    expectMoments(values, { mean: 1, variance: 1, kurtosis: 9 }, "exponential");
  });

  test("gumbel", () => {
    const values = drawn(random.gumbel(random.key(2), [N]));
    expectDistribution(values, (x) => Math.exp(-Math.exp(-x)), "gumbel");
    expectMoments(values, { mean: 0.5772156649, variance: Math.PI ** 2 / 6, kurtosis: 5.4 }, "gumbel");
    assert.ok(values.every(Number.isFinite));
  });

  /** The distribution function of a gamma number of whole or half shape. */
  const gammaDistribution = (a: number) => (x: number) => {
    let [p, order] = a % 1 === 0.5 ? [erf(Math.sqrt(x)), 0.5] : [1 - Math.exp(-x), 1];
    let term = a % 1 === 0.5 ? Math.sqrt(x / Math.PI) * 2 * Math.exp(-x) : x * Math.exp(-x);
    for (; order < a; order++) {
      p -= term;
      term *= x / (order + 1);
    }
    return p;
  };

  test("gamma of any shape", () => {
    for (const [i, a] of [0.5, 1, 1.5, 2, 5, 20.5].entries()) {
      const values = drawn(random.gamma(random.key(10 + i), a, [N]));
      expectDistribution(values, gammaDistribution(a), `a = ${a}`);
      expectMoments(values, { mean: a, variance: a, kurtosis: 3 + 6 / a }, `a = ${a}`);
    }
    for (const a of [1e4, 0.03]) {
      const values = drawn(random.gamma(random.key(20), a, [N], { dtype: "f64" }));
      expectMoments(values, { mean: a, variance: a, kurtosis: 3 + 6 / a }, `a = ${a}`);
    }
  });

  test("gamma takes a tensor of shapes, and makes NaN of shapes that are not positive", () => {
    const a = tensor([[0.5], [8]]);
    const values = drawn(random.gamma(random.key(30), a, [2, N / 2]));
    expectDistribution(values.slice(0, N / 2), gammaDistribution(0.5), "a = 0.5");
    expectDistribution(values.slice(N / 2), gammaDistribution(8), "a = 8");
    assert.deepEqual(drawn(random.gamma(random.key(31), tensor([0, -1]))), [Number.NaN, Number.NaN]);
  });

  test("a number and a tensor of it give the same bits, whether the number is small or not", () => {
    for (const a of [0.4, 0.99999999, 1, 2.5, -1]) {
      for (const dtype of ["f32", "f64"] as const) {
        const as = tensor(a, { dtype: "f64" });
        for (const draw of [random.gamma, random.logGamma]) {
          const by = (value: number | Tensor) => drawn(draw(random.key(41), value, [500], { dtype }));
          assert.deepEqual(by(a), by(as), `${draw.name} of ${a}`);
        }
        const beta = (value: number | Tensor) => drawn(random.beta(random.key(42), value, 3, [500], { dtype }));
        assert.deepEqual(beta(a), beta(as), `beta of ${a}`);
      }
    }
  });

  test("logGamma stays finite where gamma underflows", () => {
    const key = random.key(32);
    const logs = drawn(random.logGamma(key, 0.001, [2000]));
    assert.ok(logs.every(Number.isFinite));
    // -a·log X tends to an exponential number of mean 1 as a goes to 0
    expectDistribution(
      logs.map((x) => -0.001 * x),
      (x) => 1 - Math.exp(-x),
      "small a",
    );
    const [plain, log] = [drawn(random.gamma(key, 3, [100])), drawn(random.logGamma(key, 3, [100]))];
    plain.forEach((x, i) => {
      assert.ok(Math.abs(Math.log(x) - log[i]!) < 1e-6);
    });
  });

  test("beta", () => {
    const smooth = drawn(random.beta(random.key(40), 2, 3, [N]));
    expectDistribution(smooth, (x) => x * x * (6 - 8 * x + 3 * x * x), "Beta(2, 3)");
    expectMoments(smooth, { mean: 0.4, variance: 0.04, kurtosis: 2.357142857 }, "Beta(2, 3)");
    const arcsine = drawn(random.beta(random.key(41), tensor(0.5), 0.5, [N]));
    expectDistribution(arcsine, (x) => (2 / Math.PI) * Math.asin(Math.sqrt(x)), "Beta(1/2, 1/2)");
  });

  test("narrow floats and f64 come in their dtype", () => {
    for (const dtype of [...floatDTypes, "f8e4m3", "f8e5m2"] as const) {
      for (const x of [
        random.exponential(random.key(1), [3], { dtype }),
        random.gumbel(random.key(1), [3], { dtype }),
        random.gamma(random.key(1), 2, [3], { dtype }),
        random.truncatedNormal(random.key(1), -1, 1, [3], { dtype }),
      ]) {
        assert.equal(x.dtype, dtype);
        assert.ok(drawn(x).every(Number.isFinite), dtype);
      }
    }
  });
});

describeOnTensorDevices("distributions of nothing", () => {
  test("bounds the wrong way round are refused, or give NaN where they are tensors", () => {
    assert.throws(() => random.truncatedNormal(random.key(0), 6, 5, [2]), {
      name: "ArgumentError",
      message: "random.truncatedNormal: no number lies between 6 and 5; swap them.",
    });
    const [none, some] = drawn(random.truncatedNormal(random.key(0), tensor([6, 5]), tensor([5, 6])));
    assert.ok(Number.isNaN(none) && some! >= 5 && some! <= 6);
  });

  test("Poisson numbers that their dtype does not hold are refused", () => {
    assert.throws(() => random.poisson(random.key(0), 1e12, [2]), {
      name: "ArgumentError",
      message: /^random\.poisson: numbers of rate 1000000000000 do not fit i32; use \{ dtype: "i64" \}/,
    });
    const large = drawn(random.poisson(random.key(0), 1e12, [1000], { dtype: "i64" })).map(Number);
    // The standard deviation is 10^6, of which floats beside 10^12 are 65536 apart.
    const mean = large.reduce((sum, value) => sum + value, 0) / large.length;
    assert.ok(Math.abs(mean - 1e12) < (5 * 1e6) / Math.sqrt(1000) + 65536, `${mean}`);
  });
});

describeOnTensorDevices("poisson", () => {
  const probabilities = (rate: number, cells: number): number[] => {
    const logs = Array.from({ length: cells }, (_, k) => {
      let log = -rate;
      for (let i = 1; i <= k; i++) log += Math.log(rate / i);
      return Math.exp(log);
    });
    const total = logs.reduce((sum, p) => sum + p, 0);
    return logs.with(cells - 1, logs[cells - 1]! + Math.max(0, 1 - total));
  };

  for (const rate of [0.1, 1, 4, 9.99, 10, 13.5, 40, 1000]) {
    test(`of rate ${rate}`, () => {
      const values = drawn(random.poisson(random.key(Math.floor(rate)), rate, [N]));
      const cells = Math.ceil(rate + 10 * Math.sqrt(rate) + 10);
      assert.ok(values.every((k) => k >= 0 && Number.isInteger(k)));
      expectFrequencies(countsOf(values, cells), probabilities(rate, cells), `rate ${rate}`);
      expectMoments(values, { mean: rate, variance: rate, kurtosis: 3 + 1 / rate }, `rate ${rate}`);
    });
  }

  test("of rates in the millions has the moments", () => {
    for (const rate of [1e6, 1.5e7]) {
      const values = drawn(random.poisson(random.key(3), rate, [N]));
      expectMoments(values, { mean: rate, variance: rate, kurtosis: 3 }, `rate ${rate}`);
    }
  });

  test("takes a tensor of rates, zero and wrong ones among them", () => {
    const rates = tensor([[0], [0.7], [25], [-1], [Number.NaN]]);
    const values = drawn(random.poisson(random.key(4), rates, [5, N / 4]));
    const row = (i: number) => values.slice((i * N) / 4, ((i + 1) * N) / 4);
    assert.ok(row(0).every((k) => k === 0));
    expectFrequencies(countsOf(row(1), 12), probabilities(0.7, 12), "rate 0.7");
    expectFrequencies(countsOf(row(2), 80), probabilities(25, 80), "rate 25");
    assert.ok([...row(3), ...row(4)].every((k) => k === -1));
  });
});
