/** Supports that depend on what is sampled: the density is 0 outside of them, for whoever asks. */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import {
  above,
  beta,
  binomial,
  censored,
  custom,
  exponential,
  gamma,
  halfNormal,
  interval,
  mixture,
  model,
  normal,
  ordered,
  pareto,
  type RandomVariable,
  smc,
  truncatedNormal,
  uniform,
} from "../../../src/bayes/index.js";
import { setDefaultDevice, type Tensor, tensor } from "../../../src/tensor/index.js";
import { describeOnTensorDevices, f64, numbersOf } from "../../support/tensors.js";
import { expectExact } from "../chains/support.js";

// Models below make tensors of their own, which go to the default device.
before(() => setDefaultDevice("cpu"));

const at = (x: Tensor): number => x.itemSync() as number;
const close = (actual: number, expected: number, tolerance = 1e-12): void =>
  assert.ok(
    Object.is(actual, expected) || Math.abs(actual - expected) <= tolerance * Math.max(1, Math.abs(expected)),
    `${actual}, not ${expected}`,
  );

/** The posterior of theta is pareto(4, 5), and the evidence ∫ θ⁻² θ⁻³ from 5 on. */
const reach = model(() => {
  const theta = pareto(1, 1);
  return { theta, excess: theta.div(5).log(), y: uniform(0, theta) };
});
const Y = [2, 5, 3];

describe("observations beyond a bound that is sampled", () => {
  const posterior = reach.given({ y: f64(Y) });
  /** theta = 1 + exp(u). */
  const freeOf = (theta: number) => f64([Math.log(theta - 1)]);

  test("are impossible, each by itself and all together", () => {
    assert.deepEqual(numbersOf(posterior.logLikelihood(freeOf(2)).y), [-Math.log(2), -Infinity, -Infinity]);
    assert.equal(at(posterior.densityParts(freeOf(2)).likelihood), -Infinity);
    assert.equal(at(posterior.logDensity(freeOf(2))), -Infinity);
    assert.equal(at(posterior.logDensity(freeOf(2), { normalized: false })), -Infinity);
  });

  test("those within it have their density and its gradient", () => {
    const [value, gradient] = posterior.logDensityAndGrad(freeOf(6));
    close(at(value), -5 * Math.log(6) + Math.log(5));
    close(numbersOf(gradient)[0]!, 1 - (5 * 5) / 6);
  });

  test("keep NUTS to where they are possible", async () => {
    const fit = await posterior.sample({ chains: 4, draws: 1000, warmup: 500, seed: 3 });
    assert.ok(Math.min(...fit.draws.scalar("theta").values) >= 5);
    expectExact(fit, "excess", 1 / 4, 1 / 16);
  });

  test("and particles, whose evidence is the integral", async () => {
    const fit = await smc(posterior, { seed: 1 });
    assert.ok(Math.min(...fit.draws.scalar("theta").values) >= 5);
    const z = (fit.logEvidence + 4 * Math.log(5) + Math.log(4)) / fit.logEvidenceError;
    assert.ok(Math.abs(z) < 4, `the log evidence is ${fit.logEvidence}, z = ${z}`);
  });
});

describeOnTensorDevices("in f32", (device) => {
  test("the density is -Infinity outside as well", () => {
    const posterior = reach.given({ y: tensor(Y, { device }) });
    const at = (u: number) => posterior.logDensity(tensor([u], { device })).itemSync() as number;
    assert.equal(at(0), -Infinity);
    close(at(Math.log(5)), -5 * Math.log(6) + Math.log(5), 1e-6);
  });
});

/** b is 2, and the log density of each value at it. */
const bounded: readonly (readonly [string, (b: Tensor) => RandomVariable, readonly (readonly [number, number])[]])[] = [
  [
    "truncatedNormal from it on",
    (b) => truncatedNormal(2, 3, { low: b }),
    [
      [1.9, -Infinity],
      [3.5, -0.125 - Math.log(3) - 0.5 * Math.log(2 * Math.PI) + Math.LN2],
    ],
  ],
  [
    "truncatedNormal up to it",
    (b) => truncatedNormal(2, 3, { high: b }),
    [
      [2.1, -Infinity],
      [0.5, -0.125 - Math.log(3) - 0.5 * Math.log(2 * Math.PI) + Math.LN2],
    ],
  ],
  [
    "pareto",
    (b) => pareto(3, b),
    [
      [1.9, -Infinity],
      [4, Math.log(3) + 3 * Math.log(2) - 4 * Math.log(4)],
    ],
  ],
  [
    "binomial with unknown trials",
    (b) => binomial(b, 0.5),
    [
      [3, -Infinity],
      [1, Math.log(0.5)],
    ],
  ],
  [
    "a density of one's own",
    (b) => custom({ support: interval(0, b), logDensity: (x) => x.log().sub(b.square().log()).add(Math.LN2) }),
    [
      [2.5, -Infinity],
      [-1, -Infinity],
      [1.5, Math.log(1.5 / 2)],
    ],
  ],
  [
    "censored: between the bounds, what the base takes",
    (b) => censored(uniform(0, b), { high: 5 }),
    [
      [3, -Infinity],
      [5, -Infinity],
      [1, -Math.LN2],
    ],
  ],
  [
    "a mixture",
    (b) => mixture([0.25, 0.75], [uniform(0, b), uniform(-1, 1)]),
    [
      [2.5, -Infinity],
      [1.5, Math.log(0.125)],
      [-0.5, Math.log(0.375)],
      [0.5, Math.log(0.5)],
    ],
  ],
  [
    "a mixture along an axis",
    (b) => mixture([0.25, 0.75], uniform([0, -1], [b, 1])),
    [
      [2.5, -Infinity],
      [1.5, Math.log(0.125)],
      [-0.5, Math.log(0.375)],
      [0.5, Math.log(0.5)],
    ],
  ],
  [
    "a support that is narrowed",
    (b) => exponential(1).constrained(above(b)),
    [
      [1.5, -Infinity],
      [3, -3],
    ],
  ],
];

describe("the density outside of", () => {
  for (const [title, variable, expected] of bounded) {
    test(title, () => {
      const posterior = model(() => {
        const b = gamma(2, 1);
        return { b, y: variable(b) };
      }).given({ y: f64(expected.map(([x]) => x)) });
      const u = f64([Math.log(2)]);
      numbersOf(posterior.logLikelihood(u).y).forEach((value, i) => {
        close(value, expected[i]![1]);
      });
      assert.equal(at(posterior.densityParts(u).likelihood), -Infinity);
    });
  }
});

describe("a variable kept to another set than its support", () => {
  test("has density 0 outside of the support", () => {
    const posterior = model(() => ({ x: exponential(1).constrained(above(f64(-2))) })).given({});
    assert.equal(at(posterior.logDensity(f64([0.5]))), -Infinity);
    close(at(posterior.logDensity(f64([1]))), 2 - Math.E + 1);
    const rising = model(() => ({ x: beta(2, 1).shape(2).constrained(ordered) })).given({});
    assert.equal(at(rising.logDensity(f64([0.5, 0]))), -Infinity);
    const density = Math.log(2 * 0.2) + Math.log(2 * 0.7) + Math.log(0.5);
    close(at(rising.logDensity(f64([0.2, Math.log(0.5)]))), density);
  });

  test("is sampled inside of it", async () => {
    const posterior = model(() => ({ x: exponential(2).constrained(above(f64(-2))) })).given({});
    const fit = await posterior.sample({ chains: 4, draws: 1000, warmup: 500, seed: 4, dtype: "f64" });
    assert.ok(Math.min(...fit.draws.scalar("x").values) >= 0);
    expectExact(fit, "x", 1 / 2, 1 / 4);
  });

  test("and data outside of it are an error", () => {
    const posterior = model(() => ({ m: normal(0, 1), x: exponential(1).constrained(above(f64(-2))) }));
    assert.throws(() => posterior.given({ x: [1, -1] }), /x: value 1 is -1, but exponential takes numbers from 0 on/);
  });
});

describe("mixtures of distributions with different supports", () => {
  test("have gradients by the arguments of those that a value is outside of", () => {
    const posterior = model(() => {
      const a = halfNormal(1);
      return { a, y: mixture([0.25, 0.75], [gamma(a, 1), normal(0, 1)]) };
    }).given({ y: f64([-1, 0.5]) });
    const u = 0.3;
    const [, gradient] = posterior.logDensityAndGrad(f64([u]));
    const density = (v: number) => at(posterior.logDensity(f64([v])));
    const step = 2 ** -17;
    close(numbersOf(gradient)[0]!, (density(u + step) - density(u - step)) / (2 * step), 1e-8);
  });
});
