/** Log densities, means and variances against SciPy and closed forms; gradients against finite differences. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { flat as flatPrior, gamma, model, positive, truncatedNormal } from "../../../src/bayes/index.js";
import { backendFor, type Nested, type Tensor, tensor } from "../../../src/tensor/index.js";
import { grad, valueAndGrad } from "../../../src/transforms/grad.js";
import { jit } from "../../../src/transforms/jit.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";
import { type Case, cases, distributionNames, makerOf } from "./cases.js";
import { sweptNames } from "./rule-arguments.js";

const f64 = (values: unknown): Tensor => tensor(values as Nested<number>, { dtype: "f64", device: "cpu" });

function expectNumbers(actual: readonly number[], expected: readonly number[], tolerance: number, what: string): void {
  assert.equal(actual.length, expected.length, what);
  expected.forEach((value, i) => {
    const got = actual[i]!;
    const isSame = Object.is(got, value) || Math.abs(got - value) <= tolerance * Math.max(1, Math.abs(value));
    assert.ok(isSame, `${what}: element ${i} is ${got}, not ${value}`);
  });
}

/** Those whose oracle is a finite difference, or a quotient of matrices. */
const coarse: Readonly<Record<string, number>> = {
  lkjCholesky: 1e-8,
  mvNormal: 1e-11,
  wishart: 1e-11,
  inverseWishart: 1e-11,
};

const flat = (values: unknown): number[] => (Array.isArray(values) ? values.flatMap(flat) : [values as number]);

describe("log densities", () => {
  for (const [name, group] of cases) {
    for (const one of group) {
      test(one.title, () => {
        const { distribution } = one.make();
        const tolerance = coarse[name] ?? 1e-12;
        const found = distribution.logDensity(f64(one.x));
        assert.equal(found.dtype, "f64");
        expectNumbers(numbersOf(found), one.logDensity, tolerance, "log density");
        const options = { dtype: "f64", device: "cpu" } as const;
        if (one.mean !== undefined) {
          expectNumbers(numbersOf(distribution.mean(options)), flat(one.mean), 1e-10, "mean");
        }
        if (one.variance !== undefined) {
          expectNumbers(numbersOf(distribution.variance(options)), flat(one.variance), 1e-10, "variance");
        }
      });
    }
  }

  test("densities that are finite at the edge of the support, as in SciPy", () => {
    const edges: readonly (readonly [string, readonly number[], number, number])[] = [
      ["gamma", [1, 2], 0, Math.log(2)],
      ["gamma", [1.5, 2], 0, -Infinity],
      ["chiSquared", [2], 0, -Math.log(2)],
      ["chiSquared", [3], 0, -Infinity],
      ["weibull", [1, 3], 0, -Math.log(3)],
      ["weibull", [2, 3], 0, -Infinity],
      ["beta", [1, 1], 0, 0],
      ["beta", [1, 1], 1, 0],
      ["beta", [1, 3], 0, Math.log(3)],
      ["beta", [1, 3], 1, -Infinity],
      ["beta", [3, 1], 0, -Infinity],
      ["beta", [3, 1], 1, Math.log(3)],
    ];
    for (const [name, args, x, expected] of edges) {
      const { distribution } = makerOf(name)(...args);
      expectNumbers(
        numbersOf(distribution.logDensity(f64([x, 2 - x]))).slice(0, 1),
        [expected],
        1e-14,
        `${name}(${args})`,
      );
    }
  });

  test("the density at what is no number is none, and outside the support it is 0", () => {
    for (const [name, [one]] of cases) {
      const { distribution } = one!.make();
      const size = distribution.eventShape.reduce((a, b) => a * b, 1);
      const x = flat(one!.x).slice(0, size);
      const odd = f64([Number.NaN, ...x.slice(1)]).reshape(distribution.eventShape);
      assert.ok(numbersOf(distribution.logDensity(odd)).every(Number.isNaN), name);
    }
    assert.deepEqual(numbersOf(makerOf("gamma")(2, 1).distribution.logDensity(f64([-1, Infinity]))), [
      -Infinity,
      -Infinity,
    ]);
  });

  test("what has no finite mean has no finite variance, as in SciPy", () => {
    const moments = (name: string, ...args: (number | Tensor)[]) => {
      const { distribution } = makerOf(name)(...args);
      return [...numbersOf(distribution.mean()), ...numbersOf(distribution.variance())];
    };
    assert.deepEqual(moments("halfCauchy", 2), [Infinity, Infinity]);
    assert.deepEqual(moments("halfStudentT", 1, 2), [Infinity, Infinity]);
    const [mean, variance] = moments("halfStudentT", 1.5, 2) as [number, number];
    assert.ok(Number.isFinite(mean));
    assert.equal(variance, Infinity);
    assert.ok(moments("cauchy", 0, 2).every(Number.isNaN));
  });

  test("every distribution has cases, or is swept by the rules of its parameters; and those with cases keep them", () => {
    const known = new Set([...cases.keys(), ...sweptNames, "flat", "custom", "transformed"]);
    assert.deepEqual(
      distributionNames.filter((name) => !known.has(name)),
      [],
    );
    assert.ok(cases.size >= 46, `cases of ${cases.size} distributions`);
  });
});

/** Cases whose arguments are all numbers, together as arguments [cases, 1] for values [cases, n]. */
function together(group: readonly Case[]): { args: number[][]; x: number[][]; expected: number[] } | null {
  const plain = group.filter(({ args, x }) => [...args, ...x].every((value) => typeof value === "number"));
  const length = Math.min(...plain.map(({ x }) => x.length));
  if (plain.length < 2 || length === 0) return null;
  return {
    args: (plain[0]!.args as number[]).map((_, i) => plain.map(({ args }) => args[i] as number)),
    x: plain.map(({ x }) => (x as number[]).slice(0, length)),
    expected: plain.flatMap(({ logDensity }) => logDensity.slice(0, length)),
  };
}

describe("arguments as tensors broadcast", () => {
  for (const [name, group] of cases) {
    const all = together(group);
    if (!all) continue;
    test(name, () => {
      const args = all.args.map((values) => f64(values).expandDims(1));
      const { distribution } = makerOf(name)(...args);
      assert.deepEqual(distribution.batchShape, [all.x.length, 1]);
      expectNumbers(numbersOf(distribution.logDensity(f64(all.x))), all.expected, 1e-12, name);
    });
  }
});

/** Values of x where the density is smooth: not at the ends of the support, nor at kinks. */
function smooth(name: string, { x, logDensity, args }: Case): (number | readonly number[])[] {
  const kinks = name === "uniform" ? args : [0.5];
  return x.filter((value, i) => {
    if (!Number.isFinite(logDensity[i])) return false;
    if (/^(laplace|censored|uniform)$/.test(name))
      return !kinks.some((kink) => Math.abs((kink as number) - (value as number)) < 1e-3);
    return !(name.startsWith("half") && value === 0);
  });
}

describe("gradients equal finite differences", () => {
  const step = 2 ** -17;
  /** Of a function of a flat vector, at a point. */
  function expectGradient(f: (v: Tensor) => Tensor, at: readonly number[], what: string): void {
    const slopes = numbersOf(grad(f)(f64(at)));
    at.forEach((value, i) => {
      const width = step * (Math.abs(value) || 1);
      const [up, down] = [width, -width].map((by) => f(f64(at.with(i, value + by))).itemSync() as number);
      const expected = (up! - down!) / (2 * width);
      const scale = Math.max(1, Math.abs(expected));
      assert.ok(Math.abs(slopes[i]! - expected) < 2e-6 * scale, `${what}, ${i}: ${slopes[i]}, not ${expected}`);
    });
  }

  for (const [name, group] of cases) {
    // One case of each suffices: the rules do not depend on the numbers, but for which branch is taken.
    for (const one of name === "truncatedNormal" || name === "vonMises" ? group : group.slice(0, 1)) {
      const { bijection, eventRank } = one.make().distribution.support;
      test(`${one.title}, by values and by arguments`, () => {
        const values = smooth(name, one);
        const inside = values.slice(0, 3).map((x) => flat(x));
        // Whole numbers have no slope, and elements of simplexes, factors and the like only together.
        if (bijection && eventRank === 0) {
          for (const x of inside) {
            const shape = typeof values[0] === "number" ? [] : [x.length];
            expectGradient((v) => one.make().distribution.logDensity(v.reshape(shape)), x, "value");
          }
        }
        const numbers = one.args.flatMap((arg, i) => (typeof arg === "number" ? [i] : []));
        const isWhole = (i: number) =>
          /binomial|multinomial|lkj|zeroSum/i.test(name) && i === 0 && name !== "negativeBinomial";
        const free = numbers.filter((i) => !isWhole(i));
        if (free.length === 0 || inside.length === 0) return;
        const x = f64(values.slice(0, 3));
        expectGradient(
          (v) => {
            const args = one.args.map((arg, i) => (free.includes(i) ? v.at(free.indexOf(i)) : arg));
            return makerOf(name)(...args)
              .distribution.logDensity(x)
              .sum();
          },
          free.map((i) => one.args[i] as number),
          "argument",
        );
      });
    }
  }
});

describeOnTensorDevices("log densities in f32", (device) => {
  test("are those of f64, to the precision of f32", () => {
    for (const [name, [one]] of cases) {
      const { distribution } = one!.make();
      const found = distribution.logDensity(tensor(one!.x as Nested<number>, { dtype: "f32", device }));
      assert.equal(found.dtype, "f32");
      expectNumbers(numbersOf(found), one!.logDensity, 3e-5, name);
    }
  });
});

interface LargeCase {
  readonly name: string;
  /** Whether it is for f64 alone. */
  readonly isHuge: boolean;
  readonly args: readonly number[];
  readonly x: readonly number[];
  readonly logDensity: readonly number[];
  /** By how much arguments are likely to vary. */
  readonly steps: readonly number[];
  /** For each value, by each argument; null for those that do not vary. */
  readonly gradient: readonly (readonly (number | null)[])[];
}

const largeFile = new URL("../../../../test/bayes/distributions/large-cases.json", import.meta.url);
const largeCases = JSON.parse(readFileSync(largeFile, "utf8")) as LargeCase[];

describeOnTensorDevices("log densities in f32, of parameters so large that formulas cancel", (device) => {
  const f32 = (values: readonly number[] | number) => tensor(values as number, { dtype: "f32", device });
  for (const { name, args, x, logDensity, steps, gradient } of largeCases.filter(({ isHuge }) => !isHuge)) {
    test(`${name}(${args})`, () => {
      expectNumbers(numbersOf(makerOf(name)(...args).distribution.logDensity(f32(x))), logDensity, 2e-4, "numbers");
      const free = args.flatMap((_, i) => (gradient[0]![i] === null ? [] : [i]));
      const density = (v: Tensor, value: number) => {
        const all = args.map((arg, i) => (free.includes(i) ? v.at(free.indexOf(i)) : f32(arg)));
        return makerOf(name)(...all).distribution.logDensity(f32(value));
      };
      const at = f32(free.map((i) => args[i]!));
      x.forEach((value, k) => {
        expectNumbers(numbersOf(density(at, value)), [logDensity[k]!], 2e-4, `tensors, at ${value}`);
        const slopes = numbersOf(grad((v: Tensor) => density(v, value))(at));
        free.forEach((i, j) => {
          const step = steps[i]!;
          expectNumbers([slopes[j]! * step], [gradient[k]![i]! * step], 2e-3, `gradient by ${i} at ${value}`);
        });
      });
    });
  }
});

describeOnTensorDevices("log densities in f64, of large and huge parameters", (device) => {
  const skip = !backendFor(device).hasDoubles && "the device has no doubles";
  const f64 = (values: readonly number[]) => tensor(values, { dtype: "f64", device });
  // Of arguments and values with 16 digits, as many of the log density are known as this.
  const tolerance = 1e-9;
  for (const { name, args, x, logDensity, steps, gradient } of largeCases) {
    test(`${name}(${args})`, { skip }, () => {
      const values = f64(x);
      if (device === "cpu") {
        expectNumbers(
          numbersOf(makerOf(name)(...args).distribution.logDensity(values)),
          logDensity,
          tolerance,
          "numbers",
        );
      }
      const density = (all: Tensor[]): [Tensor, Tensor] => {
        const found = makerOf(name)(...all).distribution.logDensity(values);
        return [found.sum(), found];
      };
      const given = args.map((arg) => f64(x.map(() => arg)));
      const [[, found], slopes] = jit(valueAndGrad(density, { aux: true }))(given);
      expectNumbers(numbersOf(found), logDensity, tolerance, "tensors");
      args.forEach((_, i) => {
        if (gradient[0]![i] === null) return;
        const scaled = (slope: number) => slope * steps[i]!;
        const expected = gradient.map((row) => scaled(row[i]!));
        expectNumbers(numbersOf(slopes[i]!).map(scaled), expected, 1e-7, `gradient by ${i}`);
      });
    });
  }
});

test("what samplers see in f64 has its digits, too, where parameters that are data are huge", () => {
  // At the best rate, a/y, the log density falls by a·(exp(d) - 1 - d) for log rates that are off by d; Jacobians are the rates.
  const [a, y] = [1e12, 1e6];
  const posterior = model(({ a }: { a: Tensor }) => {
    const rate = flatPrior(positive);
    return { rate, y: gamma(a, rate) };
  }).given({ y: f64([y]) }, { a: f64([a]) });
  const best = Math.log(a / y);
  for (const normalized of [true, false]) {
    const at = (u: number) => posterior.logDensity(f64([u]), { normalized }).itemSync() as number;
    for (const d of [1e-6, -3e-6]) {
      const expected = -a * (d ** 2 / 2 + d ** 3 / 6) + d;
      expectNumbers([at(best + d) - at(best)], [expected], 1e-6, `normalized: ${normalized}, ${d}`);
    }
  }
});

test("studentT in f64 has its digits with very many degrees of freedom", () => {
  // To order 1/ν of the normal density: (z⁴ - 2z² - 1)/4ν.
  const found = numbersOf(makerOf("studentT")(1e10, 0, 1).distribution.logDensity(f64([0, 1.5])));
  const normalAt = (z: number) => -0.5 * z * z - 0.5 * Math.log(2 * Math.PI) + (z ** 4 - 2 * z * z - 1) / 4e10;
  expectNumbers(found, [normalAt(0), normalAt(1.5)], 1e-14, "log density");
});

describe("log densities in f64, of parameters so large that formulas cancel there, too", () => {
  const found = (name: string, args: number[], x: number[]) =>
    numbersOf(makerOf(name)(...args).distribution.logDensity(f64(x)));
  const logFactorial = (k: number) => Array.from({ length: k }, (_, i) => Math.log(i + 1)).reduce((a, b) => a + b, 0);

  test("negativeBinomial is almost Poisson's", () => {
    // To order 1/concentration: ((x - mean)² - x)/2.
    const [mean, concentration] = [33, 1e13];
    const at = (x: number) => x * Math.log(mean) - mean - logFactorial(x) + ((x - mean) ** 2 - x) / 2 / concentration;
    const x = [0, 1, 20, 33, 60];
    expectNumbers(found("negativeBinomial", [mean, concentration], x), x.map(at), 1e-13, "log density");
  });

  test("beta is almost normal", () => {
    // B(a, a) is 2^(1-2a)·Γ(1/2)Γ(a)/Γ(a+1/2), and the quotient of gammas √(1/a)(1 + 1/8a).
    const a = 1e12;
    const at = (d: number) => Math.LN2 + 0.5 * Math.log(a / Math.PI) - 1 / (8 * a) + (a - 1) * Math.log1p(-4 * d * d);
    const d = [0, 2 ** -21, -(2 ** -20)];
    expectNumbers(
      found(
        "beta",
        [a, a],
        d.map((each) => 0.5 + each),
      ),
      d.map(at),
      1e-10,
      "log density",
    );
  });

  test("gamma, inverseGamma, chiSquared and poisson at their centre are heights of a normal density", () => {
    // Stirling: a log a - a - log Γ(a) is (log a - log 2π)/2 - 1/12a.
    const a = 1e12;
    const peak = 0.5 * Math.log(a / (2 * Math.PI)) - 1 / (12 * a);
    expectNumbers(found("gamma", [a, 1], [a]), [peak - Math.log(a)], 1e-13, "gamma");
    expectNumbers(found("inverseGamma", [a, a], [1]), [peak], 1e-13, "inverseGamma");
    expectNumbers(found("chiSquared", [2 * a], [2 * a]), [peak - Math.log(2 * a)], 1e-13, "chiSquared");
    expectNumbers(found("poisson", [a], [a]), [peak - Math.log(a)], 1e-13, "poisson");
  });
});

describeOnTensorDevices("truncatedNormal in windows narrow against its scale", (device) => {
  // Location, scale, low, high, x; the log density and its derivatives by x and by these four, by mpmath with 200 digits.
  const known: readonly (readonly [readonly number[], number, readonly number[]])[] = [
    [
      [1, 1048576, 0, 3, 1.5],
      -1.0986122886677685,
      [
        -4.547473508864641e-13, 3.1019272970730075e-25, -6.505213034908294e-19, 0.3333333333333333,
        -0.33333333333287857,
      ],
    ],
    [
      [1, 134217728, 0, 3, 1.5],
      -1.0986122886681098,
      [
        -2.7755575615628914e-17, 1.1555579666323415e-33, -3.101927297073854e-25, 0.3333333333333333,
        -0.3333333333333333,
      ],
    ],
    [
      [1, 2 ** 56, 0, 3, 1.5],
      -1.0986122886681098,
      [-9.62964972193618e-35, 1.390952306507783e-68, -2.0045735325691467e-51, 0.3333333333333333, -0.3333333333333333],
    ],
    [
      [1, 2 ** 100, 0, 3, 1.5],
      -1.0986122886681098,
      [
        -3.111507638930571e-61, 1.4522219680684944e-121, -3.681820098973295e-91, 0.3333333333333333,
        -0.3333333333333333,
      ],
    ],
    [
      [67108864, 67108864, 0, 3, 1],
      -1.0986122961186902,
      [
        1.4901160971803051e-8, -1.1102230494405744e-16, 2.2204460327066986e-16, 0.3333333258827529,
        -0.33333334078391375,
      ],
    ],
    [
      [1048576, 1024, 0, 1, 0.75],
      0.2086750764952087,
      [0.9999992847442627, 1.6023953770062952e-7, -0.0003281704386564282, 0.5819768228741895, -1.5819762678579898],
    ],
    [
      [-(2 ** 30), 1048576, 0, 4, 1],
      -1.3853184344007192,
      [
        -0.0009765625009094947, -9.083104641789567e-13, -1.860219834392554e-9, 0.25048859914196486,
        -0.24951203664014707,
      ],
    ],
    [
      [0, 1, 0.25, 0.250244140625, 0.2501220703125],
      8.317766169047498,
      [-0.2501220703125, 1.2423697600762411e-9, -4.345565529063469e-9, 4096.125041962291, -4095.8749198932205],
    ],
    [
      [0, 1, -0.5, 0.4375, 0.25],
      0.06983051033855264,
      [-0.25, 0.2790275554105153, -0.009458900118732756, 0.9763643140151113, -1.0053918694256265],
    ],
    [
      [0, 1, -0.5, 0.5, 0.25],
      0.009727800490949578,
      [-0.25, 0.25, -0.0180891546008117, 0.9194108453991883, -0.9194108453991883],
    ],
    [
      [0, 1, 3.25, 3.75, 3.5],
      0.5800119897010332,
      [-3.5, 0.06891985388487494, 0.45980623052903025, 4.152713556921499, -0.7216334108063733],
    ],
    [
      [0, 1, 3.25, 3.875, 3.5],
      0.5106287872972245,
      [-3.5, 0.04368426624983954, 0.2782474138166107, 3.874353411357572, -0.4180376776074116],
    ],
    [
      [0, 1, -3.75, -3.25, -3.5],
      0.5800119897010332,
      [3.5, -0.06891985388487494, 0.45980623052903025, 0.7216334108063733, -4.152713556921499],
    ],
  ];
  for (const dtype of ["f32", "f64"] as const) {
    const skip = dtype === "f64" && !backendFor(device).hasDoubles && "the device has no doubles";
    // The logarithms of scale and mass are rounded.
    const tolerance = dtype === "f64" ? 1e-13 : 4e-6;
    const as = (values: number | readonly number[]) => tensor(values as Nested<number>, { dtype, device });
    const density = ([x, location, scale, low, high]: Tensor[]): [Tensor, Tensor] => {
      const found = truncatedNormal(location!, scale!, { low: low!, high: high! }).distribution.logDensity(x!);
      return [found.sum(), found];
    };
    test(`densities and gradients in ${dtype}`, { skip }, () => {
      const all = [4, 0, 1, 2, 3].map((at) => as(known.map(([given]) => given[at]!)));
      const [[, found], slopes] = jit(valueAndGrad(density, { aux: true }))(all);
      const densities = known.map(([, logDensity]) => logDensity);
      expectNumbers(numbersOf(found), densities, tolerance, "log density");
      slopes.forEach((slope, i) => {
        const expected = known.map(([, , derivatives]) => derivatives[i]!);
        expectNumbers(numbersOf(slope), expected, tolerance, `derivative ${i}`);
      });
    });

    test(`of numbers, in ${dtype}`, { skip }, () => {
      for (const [[location, scale, low, high, x], logDensity] of known) {
        const { distribution } = truncatedNormal(location!, scale!, { low: low!, high: high! });
        expectNumbers(numbersOf(distribution.logDensity(as(x!))), [logDensity], tolerance, `${location}, ${scale}`);
      }
    });

    test(`moments in ${dtype} are those of even numbers`, { skip }, () => {
      for (const scale of [2 ** 27, 2 ** 56, 2 ** 100]) {
        const { distribution } = truncatedNormal(1, scale, { low: 0, high: 3 });
        expectNumbers(numbersOf(distribution.mean({ dtype, device })), [1.5], tolerance, `mean with ${scale}`);
        expectNumbers(numbersOf(distribution.variance({ dtype, device })), [0.75], tolerance, `variance with ${scale}`);
      }
    });
  }
});

describeOnTensorDevices("moments of truncatedNormal, far out and in narrow windows", (device) => {
  // Location, scale, low, high; mean and variance by mpmath's quadrature with 50 digits.
  const known: readonly (readonly [number, number, number | undefined, number | undefined, number, number])[] = [
    [0, 1, 10, undefined, 10.098093233962512, 0.009445377825656262],
    [0, 1, undefined, -30, -30.033259667433676, 0.001103771511890091],
    [0, 1, 0, 0.01, 0.004999958333472224, 8.333305554546967e-6],
    [1, 2, -0.5, 2.5, 1.0, 0.6953083846565132],
    [0, 1, 5, 5 + 2 ** -10, 5.000487883847067, 7.94727624167089e-8],
    [100, 0.1, 99.95, 100.02, 99.9856024472955, 0.00040148841597250994],
    [0, 1, -1000.0, 2, -0.055247862678989956, 0.8864519483114236],
    [0, 1, 1000, undefined, 1000.000999998, 9.999940000499995e-7],
    [-3, 1, 0, 1000000.0, 0.2830986549304365, 0.07055918678526811],
  ];
  for (const dtype of ["f32", "f64"] as const) {
    test(`in ${dtype}`, (t) => {
      if (dtype === "f64" && !backendFor(device).hasDoubles) return t.skip("the device has no doubles");
      for (const [location, scale, low, high, mean, variance] of known) {
        const { distribution } = truncatedNormal(location, scale, { low, high });
        const [found, spread] = [distribution.mean({ dtype, device }), distribution.variance({ dtype, device })];
        const what = `${location}, ${scale}, ${low}, ${high}`;
        const digits = dtype === "f64" ? 1e-11 : 3e-6;
        expectNumbers(numbersOf(found), [mean], digits, `mean of ${what}`);
        // Bounds and location are rounded before they are subtracted.
        const isFine = dtype === "f64" || Math.abs(location) < 10;
        if (isFine) expectNumbers(numbersOf(spread.div(variance)), [1], digits, `variance of ${what}`);
      }
    });
  }
});
