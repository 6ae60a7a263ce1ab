/** Draws as they come without being told a dtype, and log densities where arguments have axes that values have not. */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import {
  binomial,
  censored,
  custom,
  dirichlet,
  gaussianRandomWalk,
  interval,
  mixture,
  model,
  multinomial,
  mvNormal,
  normal,
  pareto,
  poisson,
  type RandomVariable,
  truncatedNormal,
  uniform,
} from "../../../src/bayes/index.js";
import { key } from "../../../src/random/key.js";
import { uniform as uniformNumbers } from "../../../src/random/uniform.js";
import { setDefaultDevice, type Tensor, tensor } from "../../../src/tensor/index.js";
import { expectDistribution } from "../../support/goodness-of-fit.js";
import { numbersOf } from "../../support/tensors.js";

before(() => setDefaultDevice("cpu"));

const own = key(3, { device: "cpu" });
const isWhole = (x: Tensor): boolean => numbersOf(x).every(Number.isInteger);

describe("draws come as floats", () => {
  const half = () => censored(normal(0, 1), { high: 2 });

  test("of a censored variable, wherever they are made", () => {
    const measured = model(() => ({ mu: normal(0, 1), y: half().shape(40) }));
    const posterior = measured.given({ y: new Float64Array(40) });
    const drawn = [
      half().distribution.sample(own, [40]),
      measured.simulate(own).y,
      posterior.priorPredictive(own).y,
      posterior.posteriorPredictive(own, { mu: 0 }).y,
    ];
    for (const y of drawn) {
      assert.equal(y.dtype, "f32");
      assert.equal(isWhole(y), false);
    }
  });

  test("of a support that no smooth map leads to, and of mixtures with it", () => {
    const ring = custom({
      support: { name: "ring", description: "numbers around 1 or -1", eventRank: 0, holds: (x) => x.abs().less(2) },
      logDensity: (x) => x.mul(0),
      sample: ({ key: k, shape, dtype }) => normal(0, 1).distribution.sample(k, shape, { dtype }),
    });
    assert.equal(ring.distribution.sample(own, [5]).dtype, "f32");
    assert.equal(mixture([0.5, 0.5], [half(), uniform(0, 1)]).distribution.sample(own, [5]).dtype, "f32");
    assert.equal(mixture([0.5, 0.5], [poisson(3), uniform(0, 1)]).distribution.sample(own, [5]).dtype, "f32");
  });

  test("but counts as integers", () => {
    assert.equal(mixture([0.5, 0.5], [poisson(3), poisson(5)]).distribution.sample(own, [5]).dtype, "i32");
    assert.equal(mixture([0.5, 0.5], poisson([3, 5])).distribution.sample(own, [5]).dtype, "i32");
  });
});

describe("arguments with axes that the value has not", () => {
  const f64 = (values: number | number[] | number[][]): Tensor => tensor(values, { dtype: "f64", device: "cpu" });
  const [ln, none] = [Math.log, -Infinity];
  const logNormal = (z: number) => -0.5 * z * z - 0.5 * ln(2 * Math.PI);
  const upper = 0.158655253931457; // P(z > 1)
  const beyond = 2.866515718791939e-7; // P(z > 5)
  const cases: readonly (readonly [string, () => RandomVariable, number | number[], number[]])[] = [
    ["uniform", () => uniform(f64([0, 10]), f64([5, 20])), 3, [-ln(5), none]],
    ["pareto", () => pareto(2, f64([1, 10])), 3, [ln(2 / 27), none]],
    ["binomial", () => binomial(f64([2, 5]), 0.5), 3, [none, ln(10 / 32)]],
    ["truncatedNormal", () => truncatedNormal(0, 1, { low: f64([0, 5]) }), 3, [logNormal(3) + ln(2), none]],
    [
      "above a bound",
      () => truncatedNormal(0, 1, { low: f64([0, 5]) }),
      6,
      [logNormal(6) + ln(2), logNormal(6) - ln(beyond)],
    ],
    ["multinomial", () => multinomial(f64([3, 5]), [0.5, 0.25, 0.25]), [1, 1, 1], [ln(6 / 32), none]],
    ["censored", () => censored(normal(0, 1), { high: f64([1, 2]) }), 1, [ln(upper), logNormal(1)]],
    ["censored, beyond a bound", () => censored(normal(0, 1), { high: f64([1, 2]) }), 1.5, [none, logNormal(1.5)]],
    [
      "a mixture",
      () => mixture([0.5, 0.5], [uniform(f64([0, 10]), f64([5, 20])), uniform(2, 4)]),
      3,
      [ln(0.35), ln(0.25)],
    ],
    [
      "a mixture along an axis",
      () =>
        mixture(
          [0.5, 0.5],
          uniform(
            f64([
              [0, 2],
              [10, 2],
            ]),
            f64([
              [5, 4],
              [20, 4],
            ]),
          ),
        ),
      3,
      [ln(0.35), ln(0.25)],
    ],
  ];
  for (const [title, make, x, expected] of cases) {
    test(title, () => {
      const found = numbersOf(make().distribution.logDensity(f64(x)));
      assert.equal(found.length, expected.length);
      found.forEach((value, i) => {
        assert.ok(
          Object.is(value, expected[i]) || Math.abs(value - expected[i]!) < 1e-9,
          `${value}, not ${expected[i]}`,
        );
      });
    });
  }

  test("rows of bounds for a vector of values", () => {
    const bounds = uniform(
      f64([
        [0, 0],
        [0, 2],
        [4, 0],
      ]),
      5,
    ).distribution;
    assert.deepEqual(numbersOf(bounds.logDensity(f64([3, 1]))), [-ln(5), -ln(5), -ln(5), none, none, -ln(5)]);
  });

  test("and components of vectors with different supports", () => {
    const vectors = mixture(
      [0.5, 0.5],
      [
        dirichlet([1, 1]),
        mvNormal(0, {
          covariance: [
            [1, 0],
            [0, 1],
          ],
        }),
      ],
    ).distribution;
    const plane = (a: number, b: number) => 0.5 * Math.exp(logNormal(a) + logNormal(b));
    const found = numbersOf(
      vectors.logDensity(
        f64([
          [0.25, 0.75],
          [2, 1],
        ]),
      ),
    );
    assert.ok(Math.abs(found[0]! - ln(0.5 + plane(0.25, 0.75))) < 1e-12, `${found[0]}`);
    assert.ok(Math.abs(found[1]! - ln(plane(2, 1))) < 1e-12, `${found[1]}`);
  });

  test("a draw of another size is an error", () => {
    const plane = mvNormal(0, {
      covariance: [
        [1, 0],
        [0, 1],
      ],
    }).distribution;
    assert.throws(
      () => plane.logDensity(f64([1])),
      /mvNormal\.logDensity: one draw has the shape \[2\], and x has \[1\]/,
    );
    assert.throws(() => plane.logDensity(f64(1)), /ShapeError: mvNormal/);
    assert.throws(() => dirichlet([1, 1]).distribution.logDensity(f64([1])), /ShapeError: dirichlet/);
    const walk = gaussianRandomWalk(1, { steps: 3 }).distribution;
    assert.throws(() => walk.logDensity(f64([1, 2, 3, 4])), /gaussianRandomWalk.* \[3\], and x has \[4\]/);
  });
});

test("a distribution of one's own is drawn from by its own sample function, in every shape and wherever draws are made", () => {
  // Triangular: the larger of two uniform numbers has density 2x.
  const triangle = (scale: Tensor | number = 1) =>
    custom({
      support: interval(0, 1),
      logDensity: (x) => x.log(),
      sample: ({ key, shape, dtype }) => uniformNumbers(key, shape, { dtype }).sqrt().mul(scale),
    });
  const drawn = triangle().distribution.sample(own, [4000], { dtype: "f64" });
  assert.deepEqual([drawn.shape, drawn.dtype], [[4000], "f64"]);
  expectDistribution(numbersOf(drawn), (x) => x * x, "draws of one's own");
  const measured = model(() => ({ mu: normal(0, 1), y: triangle(0.5).shape(40, 50) }));
  const simulated = measured.simulate(own).y;
  assert.deepEqual(simulated.shape, [40, 50]);
  expectDistribution(numbersOf(simulated), (x) => 4 * x * x, "simulated");
  assert.throws(() => custom({ logDensity: (x) => x.neg() }).distribution.sample(own, [2]), /no sample function/);
});
