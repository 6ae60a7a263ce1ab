/** Likelihoods of transformed quantities, against the same models written otherwise. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import {
  exponential,
  halfNormal,
  loadArviz,
  logNormal,
  model,
  mvNormal,
  normal,
  poisson,
  positive,
  transformed,
  uniform,
} from "../../../src/bayes/index.js";
import { key } from "../../../src/random/key.js";
import { concat, type Tensor, tensor } from "../../../src/tensor/index.js";
import { scan } from "../../../src/transforms/control.js";
import { expectDistribution, normalDistribution } from "../../support/goodness-of-fit.js";
import { describeOnTensorDevices, f64, numbersOf } from "../../support/tensors.js";

const y = [0.4, 2.5, 1.1, 7.2];
const at = { m: 0.3, s: 0.8 };

/** log y - m is normal. */
const byHand = model(() => {
  const m = normal(0, 1),
    s = halfNormal(1);
  const toErrors = (values: Tensor) => values.log().sub(m);
  const way = { to: toErrors, from: (e: Tensor) => e.add(m).exp(), logJacobian: (v: Tensor) => v.log().neg() };
  return { m, s, y: transformed(normal(0, s), { ...way, support: positive }) };
});
const direct = model(() => {
  const m = normal(0, 1),
    s = halfNormal(1);
  return { m, s, y: logNormal(m, s) };
});

const close = (found: readonly number[], expected: readonly number[], tolerance: number) => {
  assert.equal(found.length, expected.length);
  for (const [i, value] of expected.entries()) {
    assert.ok(
      Math.abs(found[i]! - value) <= tolerance * Math.max(1, Math.abs(value)),
      `${i}: ${found[i]}, not ${value}`,
    );
  }
};

describeOnTensorDevices("log y - m ~ normal", (device) => {
  for (const dtype of ["f32", "f64"] as const) {
    const given = () => tensor(y, { dtype, device });
    const near = dtype === "f64" ? 1e-12 : 1e-5;

    test(`is logNormal in ${dtype}: density, gradient, and the log-likelihood of each observation`, () => {
      const [ours, theirs] = [byHand.given({ y: given() }), direct.given({ y: given() })];
      const u = tensor([0.2, -0.4], { dtype, device });
      for (const normalized of [true, false]) {
        const [density, slopes] = ours.logDensityAndGrad(u, { normalized });
        const [expected, others] = theirs.logDensityAndGrad(u, { normalized });
        close(numbersOf(density), numbersOf(expected), near);
        close(numbersOf(slopes), numbersOf(others), near);
      }
      close(numbersOf(ours.logLikelihood(at).y), numbersOf(theirs.logLikelihood(at).y), near);
    });
  }

  test("a fit predicts it, scores it by PSIS-LOO and writes it", async () => {
    const options = { chains: 4, draws: 300, warmup: 200, seed: 1, device, dtype: "f64" } as const;
    const fit = await byHand.given({ y }).sample(options);
    const other = await direct.given({ y }).sample(options);
    close([(await fit.loo()).elpd], [(await other.loo()).elpd], 0.1);
    const predicted = await fit.predictive(key(2));
    assert.deepEqual(predicted.variables.get("y"), [4]);
    // At each draw, the errors of what it predicts are normal.
    const [m, s] = [fit.draws.values("m"), fit.draws.values("s")];
    const values = Array.from(predicted.values("y"));
    const scores = values.map((value, i) => (Math.log(value) - m[Math.floor(i / 4)]!) / s[Math.floor(i / 4)]!);
    expectDistribution(scores, normalDistribution, "errors");
    const folder = await mkdtemp(join(tmpdir(), "transformed-"));
    const file = join(folder, "fit.json");
    await fit.saveArviz(file, { logLikelihood: await fit.logLikelihood(), posteriorPredictive: predicted });
    const read = await loadArviz(file);
    assert.deepEqual(read.logLikelihood?.variables.get("y"), [4]);
    await rm(folder, { recursive: true });
  });
});

describe("errors of a series", () => {
  const series = [0.3, 0.9, -0.2, 0.4, 1.1];
  const arma = model(() => {
    const phi = normal(0, 0.5),
      theta = normal(0, 0.5),
      sigma = halfNormal(1);
    const next = (error: Tensor, before: Tensor) => phi.mul(before).add(theta.mul(error));
    const to = (values: Tensor) => {
      const first = values.at(0);
      const step = (error: Tensor, [now, before]: readonly [Tensor, Tensor]) => {
        const own = now.sub(next(error, before));
        return [own, own] as const;
      };
      const [, rest] = scan(step, first as Tensor, [values.at("1:"), values.at(":-1")] as const);
      return concat([first.expandDims(0), rest]);
    };
    const from = (errors: Tensor) => {
      const first = errors.at(0);
      const step = ([before, error]: readonly [Tensor, Tensor], now: Tensor) => {
        const value = next(error, before).add(now);
        return [[value, now] as readonly [Tensor, Tensor], value] as const;
      };
      const [, rest] = scan(step, [first, first] as readonly [Tensor, Tensor], errors.at("1:"));
      return concat([first.expandDims(0), rest]);
    };
    return { phi, theta, sigma, y: transformed(normal(0, sigma), { to, from }).shape(5) };
  });

  test("have a log-likelihood each, given those before, and predictions by the way back", () => {
    const posterior = arma.given({ y: f64(series) });
    const [phi, theta, sigma] = [0.5, 0.3, 0.7];
    const errors: number[] = [];
    for (const [t, value] of series.entries()) {
      errors.push(t === 0 ? value : value - phi * series[t - 1]! - theta * errors[t - 1]!);
    }
    const expected = errors.map((e) => -0.5 * (e / sigma) ** 2 - Math.log(sigma * Math.sqrt(2 * Math.PI)));
    close(numbersOf(posterior.logLikelihood({ phi, theta, sigma }).y), expected, 1e-12);
    const draws = numbersOf(
      posterior.posteriorPredictive(key(3, { device: "cpu" }), { phi: f64(phi), theta, sigma }).y,
    );
    assert.equal(draws.length, 5);
    assert.deepEqual([...arma.simulate(key(1, { device: "cpu" })).y.shape], [5]);
  });
});

describe("what cannot be", () => {
  test("a base of part of the numbers leaves out observations, by the density or at given", () => {
    const shifted = model(() => {
      const start = uniform(0, 3);
      return { start, y: transformed(exponential(1), { to: (v) => v.sub(start), from: (e) => e.add(start) }) };
    }).given({ y: f64([1, 2]) });
    assert.equal(shifted.logDensity(shifted.unconstrain({ start: 1.5 }, { dtype: "f64" })).itemSync(), -Infinity);
    assert.ok(Number.isFinite(shifted.logDensity(shifted.unconstrain({ start: 0.5 }, { dtype: "f64" })).itemSync()));
    const known = model(() => ({ b: normal(0, 1), y: transformed(exponential(1), { to: (v) => v.sub(5) }) }));
    assert.throws(
      () => known.given({ y: [1] }),
      /y: the value is 1, but transformed takes finite numbers that become numbers from 0 on/,
    );
  });

  test("is refused: other shapes, whole numbers, predictions without a way back", () => {
    const wrong = model(() => ({ b: normal(0, 1), y: transformed(normal(0, 1), { to: (v) => v.sum() }) }));
    assert.throws(() => wrong.given({ y: [1, 2] }), /y: transformed: to gives \[\] for \[2\]; it keeps the shape/);
    assert.throws(
      () => transformed(poisson(2), { to: (v) => v }),
      /transformed: poisson takes whole numbers from 0 on/,
    );
    assert.throws(() => transformed(normal(0, 1), {} as never), /transformed: give \{ to: \(y\) => … \}/);
    const oneWay = transformed(normal(0, 1), { to: (v) => v.sub(1) }).distribution;
    assert.throws(() => oneWay.sample(key(1, { device: "cpu" })), /no way back from the base/);
  });

  test("vectors have one log-Jacobian each", () => {
    const covariance = [
      [1, 0.3],
      [0.3, 2],
    ];
    const made = transformed(mvNormal(0, { covariance }), {
      to: (v) => v.mul(2),
      logJacobian: () => 2 * Math.LN2,
    }).distribution;
    const halved = mvNormal(0, { covariance: covariance.map((row) => row.map((value) => value / 4)) }).distribution;
    const x = f64([
      [0.3, -0.8],
      [1, 1],
    ]);
    close(numbersOf(made.logDensity(x)), numbersOf(halved.logDensity(x)), 1e-12);
  });
});
