/** Posteriors: predictions, vectorisation, every way to write a variable non-centred, devices and dtypes. */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import {
  ar,
  beta,
  binomial,
  cauchy,
  correlationCholesky,
  custom,
  dirichlet,
  flat,
  gamma,
  gaussianRandomWalk,
  gumbel,
  halfNormal,
  halfStudentT,
  laplace,
  lkjCholesky,
  logistic,
  logNormal,
  model,
  mvNormal,
  normal,
  ordered,
  poisson,
  poissonLog,
  positiveOrdered,
  type RandomVariable,
  studentT,
  truncatedNormal,
  unitVector,
  vonMises,
} from "../../../src/bayes/index.js";
import { key, split } from "../../../src/random/key.js";
import { setDefaultDevice, stack, type Tensor, tensor } from "../../../src/tensor/index.js";
import { vmap } from "../../../src/transforms/vmap.js";
import { expectDistribution, expectFrequencies, normalDistribution } from "../../support/goodness-of-fit.js";
import { randomFrom } from "../../support/random.js";
import { referenceJson, withoutReference } from "../../support/reference-data.js";
import { describeOnTensorDevices, f64, numbersOf } from "../../support/tensors.js";
import { expectExact } from "../chains/support.js";
import { regimeModel } from "../models/mixtures.js";
import { makeIn } from "../models/reference-model.js";

// Models below make tensors of their own, which go to the default device.
before(() => setDefaultDevice("cpu"));

const at = (x: Tensor): number => x.itemSync() as number;
const close = (actual: number, expected: number, tolerance = 1e-11): void =>
  assert.ok(Math.abs(actual - expected) <= tolerance * Math.max(1, Math.abs(expected)), `${actual}, not ${expected}`);
const normals = (size: number, seed: number): number[] => {
  const random = randomFrom(seed);
  return Array.from({ length: size }, () => (random.below(2001) - 1000) / 600);
};

/** A model with a variable of every kind of support. */
const everything = model(({ x }: { x: Tensor }) => {
  const scale = halfNormal(2).shape(2);
  const share = beta(2, 3);
  const parts = dirichlet([1, 2, 3]).shape(2);
  const cuts = normal(0, 2).shape(3).constrained(ordered);
  const steps = flat(positiveOrdered).shape(2);
  const factor = lkjCholesky(3, 2);
  const other = flat(correlationCholesky).shape(2, 2);
  const vector = mvNormal(0, { cholesky: factor }).noncentered();
  const walk = gaussianRandomWalk(scale.at(0), { steps: 4 }).noncentered();
  const bounded = truncatedNormal(0, 1, { low: -1, high: 2 });
  const direction = vonMises(0, 2);
  const axis = flat(unitVector).shape(3);
  const own = custom({ logDensity: (v) => v.square().mul(v.square()).neg() });
  const mean = vector.sum().add(walk.sum()).add(share).add(own).add(direction).add(bounded).add(cuts.sum());
  const y = normal(x.add(mean), scale.at(1));
  return { scale, share, parts, cuts, steps, factor, other, vector, walk, bounded, direction, axis, own, mean, y };
});

describe("a model with everything", () => {
  const posterior = everything.given({ y: [1, 2, 3] }, { x: f64([0.5, 0.1, -0.7]) });
  const u = f64(normals(posterior.dim, 4));

  test("goes from free numbers to values and back", () => {
    // Unit vectors have one number more than they need: theirs come back normalised.
    assert.equal(posterior.dim, 2 + 1 + 4 + 3 + 2 + 3 + 1 + 3 + 4 + 1 + 1 + 3 + 1);
    const values = posterior.constrain(u);
    const again = posterior.unconstrain(values as unknown as Readonly<Record<string, Tensor>>);
    const restored = posterior.constrain(again);
    for (const [name, value] of Object.entries(values)) {
      const other = numbersOf(restored[name as keyof typeof restored]);
      numbersOf(value).forEach((number, i) => {
        close(other[i]!, number, 1e-9);
      });
    }
    const axis = posterior.latents.find(({ name }) => name === "axis")!;
    numbersOf(again).forEach((number, i) => {
      if (i >= axis.offset && i < axis.offset + 3) return;
      close(number, numbersOf(u)[i]!, 1e-9);
    });
  });

  test("has the gradient of finite differences", () => {
    const [value, gradient] = posterior.logDensityAndGrad(u);
    close(at(value), at(posterior.logDensity(u)));
    const slopes = numbersOf(gradient);
    const point = numbersOf(u);
    const step = 2 ** -16;
    const moved = point.flatMap((x, i) => [point.with(i, x + step), point.with(i, x - step)]);
    const densities = numbersOf(vmap((v: Tensor) => posterior.logDensity(v))(f64(moved)));
    slopes.forEach((slope, i) => {
      const expected = (densities[2 * i]! - densities[2 * i + 1]!) / (2 * step);
      close(slope, expected, 1e-6);
    });
  });

  test("is the same for chains side by side", () => {
    const points = Array.from({ length: 5 }, (_, i) => normals(posterior.dim, i));
    const together = numbersOf(vmap((v: Tensor) => posterior.logDensityAndGrad(v)[0])(f64(points)));
    points.forEach((point, i) => {
      close(together[i]!, at(posterior.logDensity(f64(point))));
    });
  });
});

describe("non-centred variables", () => {
  const families: readonly (readonly [string, (m: Tensor, s: Tensor) => RandomVariable])[] = [
    ["normal", (m, s) => normal(m, s)],
    ["logNormal", (m, s) => logNormal(m, s)],
    ["studentT", (m, s) => studentT(4, m, s)],
    ["cauchy", (m, s) => cauchy(m, s)],
    ["laplace", (m, s) => laplace(m, s)],
    ["logistic", (m, s) => logistic(m, s)],
    ["gumbel", (m, s) => gumbel(m, s)],
    ["halfNormal", (_, s) => halfNormal(s)],
    ["halfStudentT", (_, s) => halfStudentT(3, s)],
    ["gaussianRandomWalk", (m, s) => gaussianRandomWalk(s, { steps: 3, drift: m, start: normal(m, s) })],
    ["ar", (m, s) => ar([m], s, { steps: 3, intercept: m })],
    ["ar of two lags", (m, s) => ar([m, 0.4], s, { steps: 3, intercept: 1, start: normal(m, s) })],
  ];
  for (const [name, family] of families) {
    test(`${name}: the density is that of the centred one, stretched`, () => {
      const both = [false, true].map((isNoncentered) =>
        model(() => {
          const m = normal(0, 1);
          const s = halfNormal(1);
          const own = family(m, s);
          const x = own.distribution.eventShape.length > 0 ? own : own.shape(3);
          return { m, s, x: isNoncentered ? x.noncentered() : x };
        }).given({}),
      );
      const [centred, noncentered] = both as [(typeof both)[0], (typeof both)[0]];
      const u = f64([0.3, -0.6, 0.5, -1.1, 0.2]);
      const values = noncentered.constrain(u);
      const same = centred.unconstrain(values as unknown as Readonly<Record<string, Tensor>>);
      // x = m + s·z stretches each element by s, whether on the line or on the log scale; of halves, the logarithm moves.
      const stretch = name.startsWith("half") ? 0 : 3 * -0.6;
      close(at(noncentered.logDensity(u)), at(centred.logDensity(same)) + stretch);
      const back = noncentered.unconstrain(values as unknown as Readonly<Record<string, Tensor>>);
      numbersOf(back).forEach((value, i) => {
        close(value, numbersOf(u)[i]!);
      });
    });
  }

  for (const kind of ["covariance", "cholesky", "precision"] as const) {
    test(`mvNormal by its ${kind}`, () => {
      const matrix =
        kind === "cholesky"
          ? [
              [2, 0],
              [0.5, 1],
            ]
          : [
              [4, 1],
              [1, 1.25],
            ];
      const spread = { [kind]: f64(matrix) } as { covariance: Tensor };
      const [centred, noncentered] = [false, true].map((isNoncentered) =>
        model(() => {
          const x = mvNormal([1, 2], spread);
          return { x: isNoncentered ? x.noncentered() : x };
        }).given({}),
      );
      const u = f64([0.4, -0.9]);
      const values = noncentered!.constrain(u);
      // The determinant of either matrix's factor is 2, of a precision's 1/2.
      const stretch = kind === "precision" ? -Math.log(2) : Math.log(2);
      close(at(noncentered!.logDensity(u)), at(centred!.logDensity(values.x)) + stretch);
      numbersOf(noncentered!.unconstrain({ x: values.x })).forEach((value, i) => {
        close(value, numbersOf(u)[i]!);
      });
    });
  }
});

test("what a factor of sampled numbers has above its diagonal does not count, in draws as in densities", () => {
  const full = model(() => {
    const s = halfNormal(1);
    return {
      s,
      x: mvNormal(0, {
        cholesky: s.mul(
          f64([
            [2, 7],
            [0.5, 1],
          ]),
        ),
      }).noncentered(),
    };
  }).given({});
  const u = f64([0.3, 0.4, -0.9]);
  const s = Math.exp(0.3);
  const values = full.constrain(u);
  close(numbersOf(values.x)[0]!, s * 2 * 0.4);
  close(numbersOf(values.x)[1]!, s * (0.5 * 0.4 - 0.9));
  numbersOf(full.unconstrain(values)).forEach((value, i) => {
    close(value, numbersOf(u)[i]!);
  });
});

test("a non-centred autoregression is sampled, step by step in the kernel", async () => {
  const series = model(() => ({ x: ar([0.6], 1, { steps: 6, intercept: 0.5 }).noncentered() })).given({});
  const fit = await series.sample({ chains: 4, draws: 1000, warmup: 300, seed: 2, dtype: "f64", device: "cpu" });
  let [mean, variance] = [0, 1];
  for (let t = 1; t < 6; t++) [mean, variance] = [0.5 + 0.6 * mean, 1 + 0.36 * variance];
  expectExact(fit, "x[5]", mean, variance);
});

describe("counts without constants", () => {
  const log = Math.log;
  /** The largest difference of log density and its exact value, less their mean: a constant may be left out. */
  const spread = (found: readonly number[], exact: readonly number[]): number => {
    const differences = found.map((value, i) => value - exact[i]!);
    return Math.max(...differences) - Math.min(...differences);
  };
  const cases: readonly (readonly [string, number[]])[] = [
    ["few and small", [3, 0, 7, 14]],
    ["large", [1e6, 1.001e6, 0.999e6]],
  ];
  for (const [title, counts] of cases) {
    for (const given of ["f32", "f64"] as const) {
      for (const dtype of ["f32", "f64"] as const) {
        test(`${title}: data in ${given}, computed in ${dtype}`, () => {
          const y = tensor(counts, { dtype: given, device: "cpu" });
          const mean = counts.reduce((a, b) => a + b, 0) / counts.length;
          const trials = 2 * mean;
          const posterior = model(() => {
            const rate = gamma(1, 1 / mean);
            const share = beta(1, 1);
            return { rate, share, y: poisson(rate), z: poissonLog(rate.log()), b: binomial(4 * trials, share) };
          }).given({ y, z: y, b: y });
          // Rates around the mean and shares around mean/trials, as far as data leave them unknown.
          const points = [-2, -1, 0, 1, 2].map((by) => {
            const rate = Math.fround(log(mean) + by / Math.sqrt(mean));
            const odds = Math.fround(log(1 / 7) + by / Math.sqrt(mean));
            return [rate, odds];
          });
          const exact = points.map(([u, v]) => {
            const [rate, share] = [Math.exp(u!), 1 / (1 + Math.exp(-v!))];
            const prior = u! - rate / mean + log(share * (1 - share));
            // Deviations from the best rate, which keep their digits.
            const each = counts.map((k) => 2 * (k * (u! - log(mean)) - (rate - mean)));
            const successes = counts.map((k) => k * log(share * 8) + (4 * trials - k) * log(((1 - share) * 8) / 7));
            return prior + [...each, ...successes].reduce((a, b) => a + b, 0);
          });
          const found = points.map((point) => {
            const [value] = posterior.logDensityAndGrad(tensor(point, { dtype, device: "cpu" }), { normalized: false });
            return at(value);
          });
          assert.ok(spread(found, exact) < (dtype === "f64" ? 1e-6 : 0.01), `${spread(found, exact)}`);
        });
      }
    }
  }
});

describe("predictions", () => {
  const N = 2000;
  const keys = (seed: number): Tensor<"u32"> => stack(split(key(seed, { device: "cpu" }), N)) as Tensor<"u32">;
  const small = model(({ x }: { x: Tensor }) => {
    const b = normal(1, 2);
    const s = halfNormal(3);
    return { b, s, mean: b.mul(2), y: normal(x.mul(b), s), k: poisson(s) };
  });
  const posterior = small.given({ y: [1, 2], k: [1, 2, 3] }, { x: f64([1, 3]) });

  test("of observations follow their distribution at the given point, in the shape of the data", () => {
    const u = f64([0.5, Math.log(2)]);
    const { y, k } = vmap((own: Tensor<"u32">) => posterior.posteriorPredictive(own, u))(keys(1));
    assert.deepEqual([y.shape, k.shape, k.dtype], [[N, 2], [N, 3], "i32"]);
    numbersOf(y.T).forEach((_, i, all) => {
      if (i % N === 0) {
        const mean = i === 0 ? 0.5 : 1.5;
        expectDistribution(all.slice(i, i + N), (v) => normalDistribution((v - mean) / 2), `y ${i}`);
      }
    });
    const counts = new Array<number>(10).fill(0);
    for (const value of numbersOf(k)) counts[Math.min(9, value)]!++;
    let p = Math.exp(-2);
    const probabilities = counts.map((_, i) => {
      p = i === 0 ? Math.exp(-2) : (p * 2) / i;
      return p;
    });
    probabilities[9] = 1 - probabilities.slice(0, 9).reduce((a, b) => a + b);
    expectFrequencies(counts, probabilities, "k");
  });

  test("at plain numbers are made in the dtype of the data", () => {
    const [b, s] = [1e5 + 1 / 3, 0.5];
    const line = model(({ x }: { x: Tensor }) => {
      const slope = normal(0, 1e6);
      return { slope, y: normal(x.mul(slope), s) };
    }).given({ y: f64([b, 3 * b + 0.25]) }, { x: f64([1, 3]) });
    const { y } = line.logLikelihood({ slope: b });
    assert.equal(y.dtype, "f64");
    numbersOf(y).forEach((value, i) => {
      const z = i * 0.5;
      close(value, -Math.log(s * Math.sqrt(2 * Math.PI)) - (z * z) / 2, 1e-9);
    });
    const predicted = line.posteriorPredictive(key(1, { device: "cpu" }), { slope: b }).y;
    assert.equal(predicted.dtype, "f64");
    assert.ok(numbersOf(predicted).some((value) => value !== Math.fround(value)));
    assert.deepEqual(numbersOf(line.unconstrain({ slope: b })), [b]);
    // A tensor says by itself.
    assert.equal(line.logLikelihood({ slope: tensor(1, { dtype: "f32", device: "cpu" }) }).y.dtype, "f32");
  });

  test("of observations that depend on others depend on the new ones", () => {
    const chain = model(() => {
      const m = normal(0, 1);
      const z = normal(m, 1);
      const k = poisson(3);
      const w = normal(z, 0.001).noncentered(); // whose value is that of the data's z, whatever the new z is
      return { m, z, k, w, y: normal(z.add(k), 0.001), v: normal(w, 0.001) };
    }).given({ z: f64([50]), k: [100], y: f64([150]), v: f64([50]) });
    const drawn = vmap((own: Tensor<"u32">) => chain.posteriorPredictive(own, f64([2, 0])))(keys(4));
    assert.deepEqual([drawn.k.dtype, drawn.y.shape], ["i32", [N, 1]]);
    const [z, k, y, v] = [drawn.z, drawn.k, drawn.y, drawn.v].map(numbersOf) as [
      number[],
      number[],
      number[],
      number[],
    ];
    expectDistribution(z, (x) => normalDistribution(x - 2), "z");
    expectDistribution(
      y.map((value, i) => (value - z[i]! - k[i]!) / 0.001),
      normalDistribution,
      "y given z and k",
    );
    assert.ok(v.every((value) => Math.abs(value - 50) < 0.01));
  });

  test("from the prior follow the joint distribution", () => {
    const draws = vmap((own: Tensor<"u32">) => posterior.priorPredictive(own, { dtype: "f64" }))(keys(2));
    assert.deepEqual([draws.b.shape, draws.y.shape, draws.k.shape], [[N], [N, 2], [N, 3]]);
    const [b, s, mean, y] = [draws.b, draws.s, draws.mean, draws.y].map(numbersOf) as [
      number[],
      number[],
      number[],
      number[],
    ];
    expectDistribution(b, (v) => normalDistribution((v - 1) / 2), "b");
    expectDistribution(s, (v) => 2 * normalDistribution(v / 3) - 1, "s");
    const z = b.map((own, i) => (y[2 * i + 1]! - 3 * own) / s[i]!);
    expectDistribution(z, normalDistribution, "y given b and s");
    b.forEach((own, i) => {
      close(mean[i]!, 2 * own);
    });
  });

  test("need no data but the function's, and say what cannot be drawn", () => {
    const drawn = small.simulate(key(3, { device: "cpu" }), { x: f64([1, 2, 3]) });
    assert.deepEqual([drawn.y.shape, drawn.y.dtype, drawn.k.shape, drawn.k.dtype], [[3], "f64", [], "i32"]);
    const held = f64([1, 2, 3]);
    const line = model(() => {
      const slope = normal(0, 1);
      return { slope, y: normal(slope.mul(held), 1) };
    });
    const own = key(3, { device: "cpu" });
    const asData = model(({ x }: { x: Tensor }) => {
      const slope = normal(0, 1);
      return { slope, y: normal(slope.mul(x), 1) };
    }).simulate(own, { x: held });
    const byItself = line.simulate(own);
    assert.deepEqual(
      numbersOf(byItself.slope),
      numbersOf(asData.slope),
      "a tensor that the function holds counts as data do",
    );
    assert.deepEqual(numbersOf(byItself.y), numbersOf(asData.y));
    assert.equal(line.simulate(own, undefined, { dtype: "f32" }).slope.dtype, "f32");
    const improper = model(() => ({ a: flat() }));
    assert.throws(() => improper.simulate(key(3, { device: "cpu" })), /a: flat: an improper prior/);
    const narrowed = model(() => ({ a: normal(0, 1).shape(2).constrained(ordered) }));
    assert.throws(() => narrowed.simulate(key(3, { device: "cpu" })), /a: normal\(…\)\.constrained/);
  });
});

describe("the regime model", { skip: withoutReference("regime_returns.json") }, () => {
  const data = () => referenceJson("regime_returns.json") as { y: number[]; y_prev: number[] };
  const logN = (x: number, m: number, s: number) =>
    -0.5 * ((x - m) / s) ** 2 - Math.log(s) - 0.5 * Math.log(2 * Math.PI);
  const logHalfCauchy = (x: number, s: number) => Math.log(2 / (Math.PI * s)) - Math.log1p((x / s) ** 2);

  test("has the log density of its formula", () => {
    const u = [0.01, 0.02, 0.6, -0.4, -4.8, -5, -3.1, -1.6];
    const [muTrend, muMr, w1, w2] = u as [number, number, number, number];
    const [sTrend, sMr, sVol, theta] = u.slice(4).map(Math.exp) as [number, number, number, number];
    const norm = Math.log(1 + Math.exp(w1) + Math.exp(w2));
    let expected = logN(muTrend, 0, 0.02) + logN(muMr, 0, 0.02) + logN(w1, 0, 1) + logN(w2, 0, 1);
    for (const scale of [sTrend, sMr, sVol]) expected += logHalfCauchy(scale, 0.02) + Math.log(scale);
    expected += logHalfCauchy(theta, 0.5) + Math.log(theta);
    const { y, y_prev } = data();
    y.forEach((value, t) => {
      const reverting = muMr + Math.exp(-theta) * (y_prev[t]! - muMr);
      const parts = [
        logN(value, 0, sVol) - norm,
        w1 + logN(value, muTrend, sTrend) - norm,
        w2 + logN(value, reverting, sMr) - norm,
      ];
      const largest = Math.max(...parts);
      expected += largest + Math.log(parts.reduce((total, part) => total + Math.exp(part - largest), 0));
    });
    const posterior = regimeModel.posterior(makeIn("f64", "cpu"));
    close(at(posterior.logDensity(f64(u))), expected);
  });
});

describeOnTensorDevices("log densities and gradients in f32", (device) => {
  test("equal those in f64 to its precision", () => {
    const x = [0.5, 0.1, -0.7];
    const double = everything.given({ y: [1, 2, 3] }, { x: f64(x) });
    const single = everything.given({ y: [1, 2, 3] }, { x: tensor(x, { device }) });
    const point = normals(double.dim, 4);
    const [value, gradient] = single.logDensityAndGrad(tensor(point, { dtype: "f32", device }));
    const [exact, slopes] = double.logDensityAndGrad(f64(point));
    assert.equal(value.dtype, "f32");
    close(at(value), at(exact), 1e-5);
    const expected = numbersOf(slopes);
    numbersOf(gradient).forEach((slope, i) => {
      close(slope, expected[i]!, 1e-4);
    });
  });
});
