/**
 * Densities at the ends of supports and of what parameters may be: closed forms, the same for parameters that are numbers and
 * tensors, in f32 and f64, with gradients that have no NaN.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  bernoulli,
  beta,
  binomial,
  gamma,
  geometric,
  halfNormal,
  mixture,
  model,
  normal,
  truncatedNormal,
  uniform,
} from "../../../src/bayes/index.js";
import type { RandomVariable } from "../../../src/bayes/variables/variable.js";
import { backendFor, type Nested, type Tensor, tensor } from "../../../src/tensor/index.js";
import { grad, valueAndGrad } from "../../../src/transforms/grad.js";
import { jit } from "../../../src/transforms/jit.js";
import { describeOnTensorDevices, f64, numbersOf } from "../../support/tensors.js";
import { makerOf } from "./cases.js";

type Value = number | readonly number[];
/**
 * A derivative, or "finite" where the true one is infinite or there is none, or "any" where it may be infinite too; "none" by whole
 * numbers.
 */
type Slope = number | readonly number[] | "finite" | "any" | "none";

interface Edge {
  readonly name: string;
  readonly args: readonly Value[];
  readonly x: Value;
  readonly logDensity: number;
  /** By x, which is one-sided at an end; left out for whole numbers. */
  readonly byX?: Slope;
  readonly byArgs: readonly Slope[];
}

const edge = (
  name: string,
  args: readonly Value[],
  x: Value,
  logDensity: number,
  byX: Slope | undefined,
  ...byArgs: Slope[]
): Edge => ({ name, args, x, logDensity, byX, byArgs });

const { log, log1p, LN2, PI } = Math;
const NONE = -Infinity;
/** ψ(2) - ψ(3/2), from ψ(1) = -γ and ψ(1/2) = -γ - 2 log 2. */
const digammaStep = 2 * LN2 - 1;

/** Where the density is 0 or infinite at an end the log density is -Infinity; what remains of the gradient is as it is. */
const edges: readonly Edge[] = [
  edge("gamma", [1, 2], 0, log(2), -2, "finite", 1 / 2),
  edge("gamma", [2, 3], 0, NONE, "finite", "finite", 2 / 3),
  edge("gamma", [0.5, 3], 0, NONE, "finite", "finite", 0.5 / 3),
  edge("gamma", [50, 3], 0, NONE, "finite", "finite", 50 / 3),
  edge("chiSquared", [2], 0, -LN2, -0.5, "finite"),
  edge("chiSquared", [3], 0, NONE, "finite", "finite"),
  edge("chiSquared", [1], 0, NONE, "finite", "finite"),
  edge("exponential", [3], 0, log(3), -3, 1 / 3),
  edge("weibull", [1, 3], 0, -log(3), -1 / 3, "finite", -1 / 3),
  edge("weibull", [2, 3], 0, NONE, "finite", "finite", -2 / 3),
  edge("weibull", [0.5, 3], 0, NONE, "finite", "finite", -0.5 / 3),
  edge("inverseGamma", [2, 3], 0, NONE, "finite", "finite", "finite"),
  edge("logNormal", [0, 2], 0, NONE, "finite", "finite", "finite"),
  edge("beta", [1, 1], 0, 0, 0, "finite", 1),
  edge("beta", [1, 1], 1, 0, 0, 1, "finite"),
  edge("beta", [1, 3], 0, log(3), -2, "finite", 1 / 3),
  edge("beta", [1, 3], 1, NONE, "finite", "finite", "finite"),
  edge("beta", [3, 1], 0, NONE, "finite", "finite", "finite"),
  edge("beta", [3, 1], 1, log(3), 2, 1 / 3, "finite"),
  edge("beta", [0.5, 1], 0, NONE, "finite", "finite", "finite"),
  edge("beta", [0.5, 1], 1, -LN2, -0.5, 2, "finite"),
  edge("beta", [1, 40], 0, log(40), -39, "finite", 1 / 40),
  edge("dirichlet", [[1, 1, 2]], [0, 0.5, 0.5], log(3), [0, 0, 2], "finite"),
  edge("dirichlet", [[1, 1, 2]], [0.5, 0.5, 0], NONE, "finite", "finite"),
  edge("dirichlet", [[0.5, 1, 2]], [0, 0.5, 0.5], NONE, "finite", "finite"),
  edge("pareto", [2, 3], 3, log(2 / 3), -1, 1 / 2, 2 / 3),
  edge("uniform", [-1, 3], -1, -log(4), 0, 1 / 4, -1 / 4),
  edge("uniform", [-1, 3], 3, -log(4), 0, 1 / 4, -1 / 4),
  edge("halfNormal", [2], 0, -0.5 * log(2 * PI), 0, -1 / 2),
  edge("halfCauchy", [2], 0, -log(PI), 0, -1 / 2),
  edge("halfStudentT", [3, 2], 0, log(2 / (PI * Math.sqrt(3))), 0, digammaStep / 2 - 1 / 6, -1 / 2),
  edge("poisson", [0], 0, 0, undefined, -1),
  edge("poisson", [0], 3, NONE, undefined, "any"),
  edge("poisson", [2], 0, -2, undefined, -1),
  edge("binomial", [5, 0], 0, 0, undefined, "none", -5),
  edge("binomial", [5, 0], 2, NONE, undefined, "none", "any"),
  edge("binomial", [5, 1], 5, 0, undefined, "none", 5),
  edge("binomial", [5, 1], 3, NONE, undefined, "none", "any"),
  edge("binomial", [0, 0.3], 0, 0, undefined, "none", 0),
  edge("bernoulli", [0], 0, 0, undefined, -1),
  edge("bernoulli", [0], 1, NONE, undefined, "any"),
  edge("bernoulli", [1], 1, 0, undefined, 1),
  edge("bernoulli", [1], 0, NONE, undefined, "any"),
  edge("geometric", [1], 0, 0, undefined, 1),
  edge("geometric", [1], 2, NONE, undefined, "any"),
  edge("geometric", [0], 1, NONE, undefined, "any"),
  edge("categorical", [[0, 0.25, 0.75]], 0, NONE, undefined, "any"),
  edge("categorical", [[0, 0.25, 0.75]], 1, log(0.25), undefined, [0, 4, 0]),
  edge("multinomial", [3, [0, 0.25, 0.75]], [0, 1, 2], log(3 * 0.25 * 0.75 ** 2), undefined, "none", [0, 4, 8 / 3]),
  edge("multinomial", [3, [0, 0.25, 0.75]], [1, 1, 1], NONE, undefined, "none", "any"),
  edge("negativeBinomial", [2, 3], 0, -3 * log1p(2 / 3), undefined, -3 / 5, 2 / 5 - log(5 / 3)),
  edge("negativeBinomial", [0, 3], 0, 0, undefined, -1, 0),
  edge("negativeBinomial", [0, 3], 2, NONE, undefined, "any", "any"),
  edge("vonMises", [1, 0], 2, -log(2 * PI), 0, 0, Math.cos(1)),
];

const titleOf = ({ name, args, x }: Edge): string =>
  `${name}(${JSON.stringify(args).slice(1, -1)}) at ${JSON.stringify(x)}`;

function expectSlope(found: readonly number[], expected: Slope, tolerance: number, what: string): void {
  if (expected === "none") return;
  found.forEach((value, i) => {
    if (expected === "finite") assert.ok(Number.isFinite(value), `${what} is ${value}`);
    else if (expected === "any") assert.ok(!Number.isNaN(value), `${what} is NaN`);
    else {
      const wanted = typeof expected === "number" ? expected : expected[i]!;
      assert.ok(
        Math.abs(value - wanted) <= tolerance * Math.max(1, Math.abs(wanted)),
        `${what}: ${value}, not ${wanted}`,
      );
    }
  });
}

function expectValue(found: number, expected: number, tolerance: number, what: string): void {
  const isSame = found === expected || Math.abs(found - expected) <= tolerance * Math.max(1, Math.abs(expected));
  assert.ok(isSame, `${what}: ${found}, not ${expected}`);
}

describeOnTensorDevices("densities at the edges", (device) => {
  for (const dtype of ["f32", "f64"] as const) {
    describe(dtype, () => {
      const skip = dtype === "f64" && !backendFor(device).hasDoubles && "the device has no doubles";
      const as = (values: unknown): Tensor => tensor(values as Nested<number>, { dtype, device });
      const tolerance = dtype === "f64" ? 1e-13 : 2e-6;

      // Tensors: all edges of a family at once, in a kernel that knows none of the parameters.
      for (const name of new Set(edges.map((one) => one.name))) {
        test(`${name}, of tensors`, { skip }, () => {
          const group = edges.filter((one) => one.name === name);
          const all = [
            as(group.map(({ x }) => x)),
            ...group[0]!.args.map((_, i) => as(group.map(({ args }) => args[i]!))),
          ];
          const density = ([x, ...args]: Tensor[]): [Tensor, Tensor] => {
            const found = makerOf(name)(...args).distribution.logDensity(x!);
            return [found.sum(), found];
          };
          const [[, densities], slopes] = jit(valueAndGrad(density, { aux: true }))(all);
          const found = numbersOf(densities);
          group.forEach((one, k) => {
            const title = titleOf(one);
            expectValue(found[k]!, one.logDensity, tolerance, title);
            const own = slopes.map((slope) => numbersOf(slope.at(k)));
            if (one.byX !== undefined) expectSlope(own[0]!, one.byX, tolerance, `${title}, by x`);
            one.byArgs.forEach((slope, i) => {
              expectSlope(own[i + 1]!, slope, tolerance, `${title}, by argument ${i}`);
            });
          });
        });
      }

      if (device === "cpu") {
        for (const one of edges) {
          test(`${titleOf(one)}, of numbers`, () => {
            const density = (x: Tensor): Tensor => makerOf(one.name)(...one.args).distribution.logDensity(x);
            expectValue(density(as(one.x)).itemSync() as number, one.logDensity, tolerance, "log density");
            if (one.byX !== undefined) expectSlope(numbersOf(grad(density)(as(one.x))), one.byX, tolerance, "by x");
          });
        }
      }

      test("truncatedNormal at its bounds", { skip }, () => {
        // Half of the normal distribution, and its middle; the mass falls by φ(low) as the bound rises.
        const peak = 1 / Math.sqrt(2 * PI);
        const half = (low: number | Tensor) => truncatedNormal(0, 1, { low }).distribution;
        for (const low of [0, as(0)])
          expectValue(half(low).logDensity(as(0)).itemSync() as number, log(2 * peak), tolerance, "half");
        expectSlope(
          numbersOf(grad((low: Tensor) => half(low).logDensity(as(0)))(as(0))),
          2 * peak,
          tolerance,
          "by low",
        );
        const mass = 0.6826894921370859;
        for (const [low, high] of [
          [-1, 1],
          [as(-1), as(1)],
        ] as const) {
          const density = (x: Tensor) => truncatedNormal(0, 1, { low, high }).distribution.logDensity(x);
          for (const x of [-1, 1]) {
            expectValue(density(as(x)).itemSync() as number, log(peak / mass) - 0.5, tolerance, `at ${x}`);
            expectSlope(numbersOf(grad(density)(as(x))), -x, tolerance, `by x at ${x}`);
          }
        }
      });

      test("values outside have gradients of 0", { skip }, () => {
        for (const [name, args, x] of [
          ["gamma", [2, 3], -1],
          ["beta", [2, 3], 1.5],
          ["weibull", [2, 3], -1],
          ["logNormal", [0, 1], -1],
          ["dirichlet", [[2, 3]], [1.5, -0.5]],
        ] as const) {
          const density = ([value, ...given]: Tensor[]) => makerOf(name)(...given).distribution.logDensity(value!);
          const [found, slopes] = valueAndGrad(density)([x, ...args].map(as));
          assert.equal(found.itemSync(), NONE, name);
          slopes.forEach((slope, i) => {
            expectSlope(numbersOf(slope), new Array<number>(slope.size).fill(0), 0, `${name}, argument ${i}`);
          });
        }
      });
    });
  }
});

test("a mixture at the end of a support has what its components have there", () => {
  const expected = log(0.25 * 3);
  const listed = [gamma(f64(1), 3), gamma(f64(2), 3), gamma(0.5, 3)];
  expectValue(
    mixture([0.25, 0.5, 0.25], listed).distribution.logDensity(f64(0)).itemSync() as number,
    expected,
    1e-14,
    "a list",
  );
  const density = (concentration: Tensor): Tensor =>
    mixture([0.25, 0.5, 0.25], gamma(concentration, 3)).distribution.logDensity(f64(0));
  expectValue(density(f64([1, 2, 0.5])).itemSync() as number, expected, 1e-14, "an axis");
  expectSlope(numbersOf(grad(density)(f64([1, 2, 0.5]))), "finite", 0, "by concentration");
  const observed = model(() => ({ a: halfNormal(1), y: mixture([0.5, 0.5], gamma(f64([1, 2]), 3)) }));
  assert.equal(observed.given({ y: f64([0, 1]) }).dim, 1);
  const without = model(() => ({ a: halfNormal(1), y: mixture([0.5, 0.5], [gamma(2, 3), gamma(f64(3), 3)]) }));
  assert.throws(() => without.given({ y: f64([0, 1]) }), /y: value 0 is 0, but mixture takes positive numbers/);
});

test("a mixture has gradients where a component has no weight", () => {
  const listed = [normal(0, 1), normal(3, 1)];
  const density = ([p, q]: Tensor[]): Tensor => mixture([p!, q!], listed).distribution.logDensity(f64(1));
  const [found, slopes] = valueAndGrad(density)([f64(0), f64(1)]);
  expectValue(found.itemSync() as number, -0.5 * log(2 * PI) - 2, 1e-14, "a list");
  expectSlope(numbersOf(slopes[0]!), "finite", 0, "by the weight that is 0");
  expectSlope(numbersOf(slopes[1]!), 1, 1e-14, "by the weight that is 1");
  const along = (weights: Tensor): Tensor => mixture(weights, normal(f64([0, 3]), 1)).distribution.logDensity(f64(1));
  expectSlope(numbersOf(grad(along)(f64([0, 1]))), "finite", 0, "along an axis");
});

describeOnTensorDevices("probabilities that are sampled, so close to 0 or 1 that floats are", (device) => {
  const softplus = (u: number) => Math.max(u, 0) + log1p(Math.exp(-Math.abs(u)));
  const far = [-800, -120, -40, -17, -1, 0, 2, 16.5, 20, 40, 120, 800];
  for (const dtype of ["f32", "f64"] as const) {
    const skip = dtype === "f64" && !backendFor(device).hasDoubles && "the device has no doubles";
    const as = (values: number | number[]): Tensor => tensor(values as Nested<number>, { dtype, device });
    const tolerance = dtype === "f64" ? 1e-12 : 3e-6;

    test(`beta has its density by the log-odds, in ${dtype}`, { skip }, () => {
      for (const [a, b, logB] of [
        [0.5, 0.5, log(PI)],
        [1, 0.1, log(10)],
        [0.1, 1, log(10)],
        [2, 3, -log(12)],
        [30, 1, -log(30)],
      ] as const) {
        for (const given of [
          [a, b],
          [as(a), as(b)],
        ] as const) {
          const posterior = model(() => ({ p: beta(given[0], given[1]) })).given({});
          for (const u of far) {
            const what = `beta(${a}, ${b}) at ${u}, ${typeof given[0]}`;
            const [density, slope] = posterior.logDensityAndGrad(as([u]));
            expectValue(density.itemSync() as number, -a * softplus(-u) - b * softplus(u) - logB, tolerance, what);
            const expected = a / (1 + Math.exp(u)) - b / (1 + Math.exp(-u));
            expectSlope(numbersOf(slope), expected, tolerance, `${what}, gradient`);
          }
        }
      }
    });

    test(`what depends on them has a finite density and gradient, in ${dtype}`, { skip }, () => {
      const likelihoods: readonly (readonly [(p: Tensor) => RandomVariable, number])[] = [
        [(p) => bernoulli(p), 0],
        [(p) => bernoulli(p), 1],
        [(p) => binomial(5, p), 0],
        [(p) => binomial(as(50), p), 50],
        [(p) => binomial(as(50), p), 3],
        [(p) => geometric(p), 0],
        [(p) => geometric(p), 3],
        [(p) => mixture([p, p.neg().add(1)], [normal(0, 1), normal(3, 1)]), 1],
        [(p) => mixture([p, p.neg().add(1)], [normal(0, 1), uniform(0, 1)]), 2],
      ];
      likelihoods.forEach(([likelihood, y], i) => {
        const posterior = model(() => {
          const p = uniform(0, 1);
          return { p, y: likelihood(p) };
        }).given({ y: as([y]) });
        for (const u of far) {
          const [density, slope] = posterior.logDensityAndGrad(as([u]));
          assert.ok(Number.isFinite(density.itemSync() as number), `likelihood ${i} at ${u}`);
          expectSlope(numbersOf(slope), "finite", 0, `likelihood ${i} at ${u}, gradient`);
        }
      });
    });
  }
});

test("a beta variable that is as good as 1 in f32 a fifth of the time is so in its draws, without divergences", async () => {
  const posterior = model(() => ({ p: beta(1, 0.1) })).given({});
  const { draws } = await posterior.sample({ chains: 4, warmup: 500, draws: 1000, seed: 3, device: "cpu" });
  const sum = (values: ArrayLike<number>) => Array.from(values).reduce((a, b) => a + b, 0);
  assert.equal(sum(draws.stat("divergent")!.values), 0);
  // 1 - p is v^10 for an even v; below 1.5 · 2^-24 it is rounded to the last float there is.
  const expected = (1.5 * 2 ** -24) ** 0.1;
  const share = sum(Array.from(draws.scalar("p").values, (p) => Number(p === 1 - 2 ** -24))) / 4000;
  // Draws depend on each other: they count for 500 at least.
  const error = Math.sqrt((expected * (1 - expected)) / 500);
  assert.ok(Math.abs(share - expected) < 4 * error, `${share}, not ${expected}`);
});

test("bounds with more axes than the value are each looked at", () => {
  const found = numbersOf(uniform(0, f64([1, 2, 3])).distribution.logDensity(f64(1.5)));
  assert.deepEqual(found, [NONE, -LN2, -log(3)]);
});

describe("data at the end of a support", () => {
  const waiting = model(({ a }: { a: Tensor }) => {
    const rate = halfNormal(1);
    return { rate, y: gamma(a, rate) };
  });

  test("are taken where the density is finite, with data as parameters as with numbers", () => {
    const posterior = waiting.given({ y: f64([0, 1.5]) }, { a: f64([1, 2]) });
    const u = f64([0.25]);
    const rate = Math.exp(0.25);
    // Half-normal with its Jacobian, then log rate, and 2 log rate + log y - rate y.
    const expected = 0.5 * log(2 / PI) - 0.5 * rate ** 2 + 0.25 + 0.25 + 2 * 0.25 + log(1.5) - 1.5 * rate;
    const [density, gradient] = posterior.logDensityAndGrad(u);
    expectValue(density.itemSync() as number, expected, 1e-13, "log density");
    expectSlope(numbersOf(gradient), -(rate ** 2) + 4 - 1.5 * rate, 1e-13, "gradient");
    const same = model(() => {
      const rate = halfNormal(1);
      return { rate, y: gamma(1, rate), z: gamma(2, rate) };
    }).given({ y: f64([0]), z: f64([1.5]) });
    expectValue(same.logDensity(u).itemSync() as number, expected, 1e-13, "as numbers");
  });

  test("are refused where it is 0 or infinite, and where that depends on what is sampled", () => {
    const says = /y: value 1 is 0, but gamma takes positive numbers/;
    assert.throws(() => waiting.given({ y: f64([0, 0]) }, { a: f64([1, 2]) }), says);
    assert.throws(() => waiting.given({ y: f64([0, 0]) }, { a: f64([1, 0.5]) }), says);
    const unknown = model(() => {
      const a = halfNormal(1);
      return { a, y: gamma(a, 1), p: beta(a, 1) };
    });
    assert.throws(() => unknown.given({ y: f64([1, 0]), p: f64(0.5) }), says);
    assert.throws(
      () => unknown.given({ y: f64([1, 2]), p: f64(0) }),
      /p: the value is 0, but beta takes numbers between 0 and 1/,
    );
    assert.equal(unknown.given({ y: f64([1, 2]), p: f64(1) }).dim, 1);
  });
});
