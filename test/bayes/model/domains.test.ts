/** Parameters that are computed from what is sampled: the density is 0 where they lie outside of what they may be. */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import {
  bernoulli,
  binomial,
  categorical,
  censored,
  dirichlet,
  gaussianRandomWalk,
  geometric,
  lkjCholesky,
  mixture,
  model,
  multinomial,
  mvNormal,
  negativeBinomial,
  normal,
  poisson,
  type RandomVariable,
  vonMises,
} from "../../../src/bayes/index.js";
import { setDefaultDevice, stack, type Tensor, tensor } from "../../../src/tensor/index.js";
import { describeOnTensorDevices, f64, numbersOf } from "../../support/tensors.js";
import { expectExact } from "../chains/support.js";

// Models below make tensors of their own, which go to the default device.
before(() => setDefaultDevice("cpu"));

const at = (x: Tensor): number => x.itemSync() as number;
const rest = (b: Tensor): Tensor => b.neg().add(1);
const half = Math.log(0.5);
const LOG_SQRT_2PI = 0.5 * Math.log(2 * Math.PI);

/** b is any number; at 0.5 the density of the data is as it should be, and at the others they are impossible. */
const computed: readonly (readonly [
  title: string,
  make: (b: Tensor) => RandomVariable,
  y: unknown,
  expected: number,
  outside: readonly number[],
])[] = [
  ["poisson's rate", (b) => poisson(b.mul(1)), 0, -0.5, [-1e-9, -27]],
  ["bernoulli's probability", (b) => bernoulli(b.mul(1)), 1, half, [-0.1, 1.1]],
  ["binomial's probability", (b) => binomial(2, b.mul(1)), 2, 2 * half, [-0.1, 1.1]],
  ["geometric's probability", (b) => geometric(b.mul(1)), 0, half, [-0.1, 1.1]],
  ["negativeBinomial's mean", (b) => negativeBinomial(b.mul(1), 2), 0, 2 * Math.log(2 / 2.5), [-0.5]],
  ["categorical's probabilities", (b) => categorical([b, rest(b)]), 0, half, [1.5, -0.5]],
  ["a tensor of them", (b) => categorical(stack([b, rest(b)])), 0, half, [1.5, -0.5]],
  ["multinomial's", (b) => multinomial(1, [b, rest(b)]), [1, 0], half, [1.5, -0.5]],
  ["dirichlet's concentration", (b) => dirichlet([b.mul(2), 1]), [0.3, 0.7], 0, [-0.5, -3.5]],
  [
    "lkjCholesky's concentration",
    (b) => lkjCholesky(2, b.mul(2)),
    [
      [1, 0],
      [0.6, 0.8],
    ],
    half,
    [-0.5, -2.25],
  ],
  ["vonMises' concentration", (b) => vonMises(0, b.sub(0.5)), 1, -Math.log(2 * Math.PI), [0, -1]],
  ["normal's scale", (b) => normal(0, b.mul(2)), 0, -LOG_SQRT_2PI, [-0.5]],
  ["mixture's weights", (b) => mixture([b, rest(b)], [normal(0, 1), normal(0, 1)]), 0, -LOG_SQRT_2PI, [1.5, -0.5]],
  ["those of a component", (b) => mixture([0.5, 0.5], [poisson(b.mul(1)), poisson(0.5)]), 0, -0.5, [-0.5]],
  ["of components on an axis", (b) => mixture([0.5, 0.5], poisson(stack([b, b.mul(1)]))), 0, -0.5, [-0.5]],
  ["of what is censored", (b) => censored(normal(0, b.mul(2)), { high: 2 }), 0, -LOG_SQRT_2PI, [-0.5]],
];

describe("the density where a computed parameter lies outside:", () => {
  for (const [title, make, y, expected, outside] of computed) {
    test(title, () => {
      for (const normalized of [true, false]) {
        const posterior = model(() => {
          const b = normal(0, 3);
          return { b, y: make(b.add(0)) };
        }).given({ y: tensor(y as number, { dtype: "f64" }) });
        assert.ok(Math.abs(at(posterior.logLikelihood(f64([0.5])).y) - expected) < 1e-12);
        assert.ok(Number.isFinite(at(posterior.logDensity(f64([0.5]), { normalized }))));
        for (const b of outside) assert.equal(at(posterior.logDensity(f64([b]), { normalized })), -Infinity, `at ${b}`);
      }
    });
  }

  test("each observation has its own", () => {
    const posterior = model(({ x }: { x: Tensor }) => {
      const b = normal(0, 3);
      return { b, y: poisson(x.mul(b)) };
    }).given({ y: f64([0, 0, 0]) }, { x: f64([1, -1, 2]) });
    assert.deepEqual(numbersOf(posterior.logLikelihood(f64([0.5])).y), [-0.5, -Infinity, -1]);
  });

  test("a latent variable's parameters, centred or not", () => {
    for (const isNoncentered of [false, true]) {
      const posterior = model(() => {
        const b = normal(0, 3);
        const x = normal(0, b.mul(1)).shape(2);
        return { b, x: isNoncentered ? x.noncentered() : x };
      }).given({});
      assert.ok(Number.isFinite(at(posterior.logDensity(f64([0.5, 1, 2])))));
      assert.equal(at(posterior.logDensity(f64([-0.5, 1, 2]))), -Infinity);
    }
    const vectors = model(() => {
      const b = normal(0, 3);
      const w = mixture([b.mul(1), rest(b)], [normal(0, 1), normal(0, 1)]);
      return {
        b,
        w,
        x: mvNormal([0, 0], {
          cholesky: f64([
            [1, 0],
            [0, 1],
          ]),
        }).noncentered(),
      };
    }).given({});
    assert.equal(at(vectors.logDensity(f64([-0.5, 1, 2, 3]))), -Infinity);
  });

  test("a series' and a vector's, made of standard numbers or not", () => {
    for (const isNoncentered of [false, true]) {
      const posterior = model(() => {
        const b = normal(0, 3).shape(2);
        const x = gaussianRandomWalk(b.mul(1), { steps: 3 }).shape(4, 2);
        return { b, x: isNoncentered ? x.noncentered() : x };
      }).given({});
      const density = (b: number) => at(posterior.logDensity(f64([0.5, b, ...new Array(24).fill(1)])));
      // Each series has one normal number of its scale, and two steps of 0; or three numbers of scale 1.
      const normals = (count: number, scale: number) => -count * (LOG_SQRT_2PI + Math.log(scale));
      const prior = (b: number) => normals(1, 3) - b ** 2 / 18;
      const series = (b: number) => (isNoncentered ? normals(3, 1) - 1.5 : normals(3, b) - 0.5 / b ** 2);
      const expected = prior(0.5) + prior(0.25) + 4 * (series(0.5) + series(0.25));
      assert.ok(Math.abs(density(0.25) - expected) < 1e-11, `${density(0.25)}, not ${expected}`);
      assert.equal(density(-0.25), -Infinity);
    }
  });

  test("a probability may be beyond 1 by rounding", () => {
    const posterior = model(() => {
      const b = normal(0, 3);
      return { b, y: bernoulli(b.add(1)) };
    });
    for (const [dtype, epsilon] of [
      ["f32", 2 ** -23],
      ["f64", 2 ** -52],
    ] as const) {
      const given = posterior.given({ y: tensor([1], { dtype }) });
      const density = (u: number) => at(given.logDensity(tensor([u], { dtype })));
      assert.ok(Number.isFinite(density(8 * epsilon)), dtype);
      assert.equal(density(9 * epsilon), -Infinity, dtype);
    }
  });
});

/** ∫ x^k exp(-x²/18 - 3x) from 0 on: r is normal(0, 3) and three times no event was seen. */
const moment = (k: number): number => {
  const step = 1e-4;
  return Array.from({ length: 100000 }, (_, i) => (i + 0.5) * step).reduce(
    (sum, x) => sum + x ** k * Math.exp((-x * x) / 18 - 3 * x) * step,
    0,
  );
};

describeOnTensorDevices("sampling a parameter that may lie outside", (device) => {
  for (const dtype of ["f32", "f64"] as const) {
    test(`stays inside and has the posterior, in ${dtype}`, async () => {
      const posterior = model(() => {
        const r = normal(0, 3);
        return { r, y: poisson(r.mul(1)) };
      }).given({ y: tensor([0, 0, 0], { dtype, device }) });
      const fit = await posterior.sample({ chains: 4, draws: 1000, warmup: 500, seed: 4, dtype });
      assert.ok(Math.min(...fit.draws.scalar("r").values) >= 0);
      const mean = moment(1) / moment(0);
      expectExact(fit, "r", mean, moment(2) / moment(0) - mean ** 2);
    });
  }
});

describe("a start where a parameter lies outside", () => {
  test("is named with the variable and the parameter", async () => {
    const posterior = model(() => {
      const r = normal(0, 1);
      return { r, y: poisson(r.square().neg().sub(1)) };
    }).given({ y: [0, 1] });
    await assert.rejects(
      async () => await posterior.sample({ seed: 1 }),
      /y\[0\], y\[1\] have log density -Infinity, because rate is not a number from 0 on/,
    );
  });
});
