/** Random covariance matrices as latent variables: their density by free numbers, evidence in closed form, and chains. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { inverseWishart, model, mvNormal, normal, wishart } from "../../../src/bayes/index.js";
import { key } from "../../../src/random/key.js";
import { type Tensor, tensor } from "../../../src/tensor/index.js";
import { grad } from "../../../src/transforms/grad.js";
import { vmap } from "../../../src/transforms/vmap.js";
import { describeOnTensorDevices, f64, numbersOf } from "../../support/tensors.js";

const scale = [
  [2, 0.6],
  [0.6, 1.5],
];
const data = [
  [0.4, -1.2],
  [1.5, 0.3],
  [-0.7, 0.9],
];

/** log Γ at multiples of 1/2. */
const logGamma = (x: number): number => {
  if (x === 0.5) return Math.log(Math.PI) / 2;
  return x === 1 ? 0 : Math.log(x - 1) + logGamma(x - 1);
};
const logGamma2 = (a: number): number => Math.log(Math.PI) / 2 + logGamma(a) + logGamma(a - 0.5);
const determinant = ([[a, b], [c, d]]: readonly number[][]): number => a! * d! - b! * c!;
const scatter = (i: number, j: number) => data.reduce((sum, y) => sum + y[i]! * y[j]!, 0);
const inverse = ([[a, b], [c, d]]: readonly number[][]): number[][] => {
  const size = determinant([
    [a!, b!],
    [c!, d!],
  ]);
  return [
    [d! / size, -b! / size],
    [-c! / size, a! / size],
  ];
};

/** Sums exp(log density) over a grid of the three free numbers, with the sums of values by it. */
function integrated(posterior: {
  logDensity(u: Tensor): Tensor;
  constrain(u: Tensor): { readonly S: Tensor };
}): readonly [total: number, mean: number[]] {
  // u = sinh t reaches far into heavy tails, and sums over equal steps of t converge fast.
  const [end, step] = [3.6, 1 / 6];
  const ts = Array.from({ length: Math.round((2 * end) / step) + 1 }, (_, i) => -end + i * step);
  const points = ts.flatMap((a) => ts.flatMap((b) => ts.map((c) => [a, b, c])));
  const free = f64(points.map((point) => point.map(Math.sinh)));
  const logs = numbersOf(vmap((u: Tensor) => posterior.logDensity(u))(free));
  const values = numbersOf(vmap((u: Tensor) => posterior.constrain(u).S)(free));
  let total = 0;
  const sums = [0, 0, 0, 0];
  logs.forEach((log, i) => {
    const mass = Math.exp(log) * points[i]!.reduce((product, t) => product * Math.cosh(t) * step, 1);
    if (!(mass > 0)) return;
    total += mass;
    sums.forEach((_, e) => {
      sums[e]! += mass * values[4 * i + e]!;
    });
  });
  return [total, sums.map((sum) => sum / total)];
}

const close = (found: number, expected: number, tolerance: number, what: string) =>
  assert.ok(
    Math.abs(found - expected) < tolerance * Math.max(1, Math.abs(expected)),
    `${what}: ${found}, not ${expected}`,
  );

describe("as priors of normal vectors", () => {
  const freedom = 6;

  test("inverseWishart of the covariance: evidence and mean are those of the conjugate posterior", () => {
    const posterior = model(() => {
      const S = inverseWishart(freedom, scale);
      return { S, y: mvNormal(0, { covariance: S }) };
    }).given({ y: f64(data) });
    const after = scale.map((row, i) => row.map((value, j) => value + scatter(i, j)));
    const n = freedom + data.length;
    const evidence =
      -data.length * Math.log(Math.PI) +
      logGamma2(n / 2) -
      logGamma2(freedom / 2) +
      (freedom / 2) * Math.log(determinant(scale)) -
      (n / 2) * Math.log(determinant(after));
    const [total, mean] = integrated(posterior);
    close(Math.log(total), evidence, 1e-5, "evidence");
    after.flat().forEach((value, i) => {
      close(mean[i]!, value / (n - 3), 1e-4, `mean ${i}`);
    });
  });

  test("wishart of the precision: the same", () => {
    const posterior = model(() => {
      const S = wishart(freedom, scale);
      return { S, y: mvNormal(0, { precision: S }) };
    }).given({ y: f64(data) });
    const before = inverse(scale);
    const after = before.map((row, i) => row.map((value, j) => value + scatter(i, j)));
    const n = freedom + data.length;
    const evidence =
      -data.length * Math.log(Math.PI) +
      logGamma2(n / 2) -
      logGamma2(freedom / 2) +
      (freedom / 2) * Math.log(determinant(before)) -
      (n / 2) * Math.log(determinant(after));
    const [total, mean] = integrated(posterior);
    close(Math.log(total), evidence, 1e-5, "evidence");
    inverse(after)
      .flat()
      .forEach((value, i) => {
        close(mean[i]!, n * value, 1e-4, `mean ${i}`);
      });
  });
});

describe("arguments", () => {
  const x = f64([
    [3, 0.4],
    [0.4, 2],
  ]);

  test("broadcast, and degrees of freedom that are sampled have the density 0 where they are too few", () => {
    for (const make of [wishart, inverseWishart]) {
      const many = make(f64([0.5, 3, 7]), f64([scale])).distribution;
      assert.deepEqual([many.batchShape, many.eventShape], [[3], [2, 2]]);
      const [few, ...rest] = numbersOf(many.logDensity(x));
      assert.equal(few, -Infinity);
      [3, 7].forEach((freedom, i) => {
        close(
          rest[i]!,
          make(freedom, f64(scale)).distribution.logDensity(x).itemSync() as number,
          1e-13,
          "one of many",
        );
      });
      assert.ok(
        numbersOf(grad((v: Tensor) => make(v, f64(scale)).distribution.logDensity(x).sum())(f64([0.5, 3]))).every(
          Number.isFinite,
        ),
      );
    }
  });

  test("that are known to be too few are refused, and so are matrices that are none", () => {
    assert.throws(() => wishart(1, scale), /wishart: freedom is 1; for 2 × 2 matrices it is a number above 1/);
    assert.throws(() => inverseWishart(0.5, f64(scale)), /inverseWishart: freedom is 0.5; for 2 × 2 .* above 1/);
    assert.throws(
      () =>
        wishart(3, [
          [1, 2],
          [2, 1],
        ]),
      /scale is not positive definite/,
    );
    assert.throws(
      () =>
        wishart(3, [
          [1, 0.5],
          [0.2, 1],
        ]),
      /it is symmetric/,
    );
    assert.throws(
      () =>
        model(() => ({ S: wishart(3, scale), y: normal(0, 1) })).given({
          S: [
            [1, 3],
            [3, 1],
          ],
        }),
      /S: the value is .* wishart takes symmetric, positive definite matrices/,
    );
  });

  test("gradients by values and scales are slopes of the density", () => {
    for (const make of [wishart, inverseWishart]) {
      const density = (v: Tensor) => {
        const factor = v.at("0:4").reshape(2, 2).tril();
        const other = v.at("4:8").reshape(2, 2).tril();
        return make(v.at(8), factor.matmul(factor.mT)).distribution.logDensity(other.matmul(other.mT));
      };
      const at = [1.2, 0, 0.3, 0.8, 0.9, 0, -0.4, 1.4, 4.5];
      const found = numbersOf(grad(density)(f64(at)));
      at.forEach((value, i) => {
        const moved = (by: number) => density(f64(at.with(i, value + by))).itemSync() as number;
        const central = (h: number) => (moved(h) - moved(-h)) / (2 * h);
        close(found[i]!, (4 * central(2 ** -10) - central(2 ** -9)) / 3, 1e-8, `slope ${i}`);
      });
    }
  });
});

describeOnTensorDevices("degrees of freedom so many that the usual formulas cancel", (device) => {
  const V = [
    [2, 0.5],
    [0.5, 1],
  ];
  const times = (rows: number[][], factor: number) => rows.map((row) => row.map((value) => value * factor));
  const moved = (factor: number, by: number) => [
    [2 * factor + by, 0.5 * factor + by / 4],
    [0.5 * factor + by / 4, factor - by / 2],
  ];
  // By mpmath with 50 digits.
  const cases = [
    ["f32", 1e6, 1000, 1 / 1024, -25.178278399915477, 16.275909508064338, 2e-4],
    ["f64", 1e10, 1e5, 2 ** -17, -38.99397727517368, 30.152873554301145, 1e-9],
  ] as const;
  for (const [dtype, freedom, by, little, direct, inverted, tolerance] of cases) {
    test(`${freedom} in ${dtype}`, () => {
      const on = (values: number[][]) => tensor(values, { dtype, device });
      const first = wishart(freedom, on(V)).distribution.logDensity(on(moved(freedom, by)));
      close(first.itemSync() as number, direct, tolerance, "wishart");
      const second = inverseWishart(freedom, on(times(V, freedom))).distribution.logDensity(on(moved(1, little)));
      close(second.itemSync() as number, inverted, tolerance, "inverseWishart");
    });
  }
});

describeOnTensorDevices("draws", (device) => {
  test("of few degrees of freedom lie in the support, although many are singular but for less than rounding", () => {
    for (const dtype of ["f32", "f64"] as const) {
      for (const distribution of [wishart(1.1, scale).distribution, inverseWishart(1.5, scale).distribution]) {
        const drawn = distribution.sample(key(2, { device }), [5000], { dtype });
        assert.ok(distribution.support.holds(drawn).all().itemSync(), `${distribution.name} in ${dtype}`);
      }
    }
  });

  test("that f64 arguments give lie in the support as f32, too", () => {
    const on = (values: number[][]) => tensor(values, { dtype: "f64", device });
    const wide = on([
      [1, 0.9, 0.3],
      [0.9, 1, 0.2],
      [0.3, 0.2, 1],
    ]);
    for (const { distribution } of [wishart(2.05, wide), inverseWishart(3, wide)]) {
      const drawn = distribution.sample(key(1, { device }), [5000], { dtype: "f32" });
      assert.equal(drawn.dtype, "f32");
      assert.ok(distribution.support.holds(drawn).all().itemSync(), distribution.name);
    }
  });
});

describeOnTensorDevices("chains", (device) => {
  for (const dtype of ["f32", "f64"] as const) {
    test(`of both in ${dtype} have their means`, async () => {
      const posterior = model(() => ({ W: wishart(5, scale), S: inverseWishart(9, scale) })).given({});
      const fit = await posterior.sample({ chains: 8, draws: 250, warmup: 200, seed: 3, device, dtype });
      for (const [name, factor] of [
        ["W", 5],
        ["S", 1 / 6],
      ] as const) {
        scale.flat().forEach((value, i) => {
          const [row, column] = [Math.floor(i / 2), i % 2];
          const { mean, mcseMean } = fit
            .summary(name)
            .rows.find(({ name: own }) => own === `${name}[${row},${column}]`)!;
          const z = (mean - factor * value) / mcseMean;
          assert.ok(Math.abs(z) < 4.5, `${name}[${row},${column}] is ${mean}, not ${factor * value}: z = ${z}`);
        });
      }
    });
  }
});
