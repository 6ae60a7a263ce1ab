/** Models that would be sampled without a word and give wrong answers: `given` names the mistake. */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import {
  above,
  affine,
  ar,
  bernoulli,
  beta,
  categorical,
  cauchy,
  censored,
  correlationCholesky,
  covarianceCholesky,
  custom,
  dirichlet,
  exponential,
  factor,
  flat,
  gamma,
  gaussianRandomWalk,
  halfNormal,
  interval,
  lkjCholesky,
  mixture,
  model,
  multinomial,
  mvNormal,
  normal,
  ordered,
  type Posterior,
  poisson,
  positive,
  positiveSoftplus,
  type RandomVariable,
  real,
  simplex,
  truncatedNormal,
  uniform,
  vonMises,
} from "../../../src/bayes/index.js";
import { key } from "../../../src/random/key.js";
import { arange, setDefaultDevice, type Tensor, tensor } from "../../../src/tensor/index.js";
import { cond, forLoop, scan } from "../../../src/transforms/control.js";
import { jit } from "../../../src/transforms/jit.js";
import { vmap } from "../../../src/transforms/vmap.js";
import { f64, numbersOf } from "../../support/tensors.js";

// Models below make tensors of their own, which go to the default device.
before(() => setDefaultDevice("cpu"));

const at = (x: Tensor): number => x.itemSync() as number;
const own = () => key(1, { device: "cpu" });

describe("variables made inside the function of a transform", () => {
  const zero = () => f64(0);
  const bodies: readonly (readonly [string, (b: Tensor) => Tensor])[] = [
    ["scan", () => scan((x: Tensor) => [x.add(normal(0, 1)), null] as const, zero(), null, { length: 5 })[0]],
    ["forLoop", () => forLoop(0, 5, (_, x: Tensor) => x.add(normal(0, 1)), zero())],
    ["vmap", () => vmap((x: Tensor) => x.add(normal(0, 1)))(f64([1, 2])).sum()],
    [
      "cond",
      (b) =>
        cond(
          b.greater(0),
          () => normal(0, 1).add(0),
          () => zero(),
        ),
    ],
    ["jit", (b) => jit((x: Tensor) => x.add(normal(0, 1)))(b)],
  ];
  for (const [name, make] of bodies) {
    test(`${name}: all its steps would share one, so it is an error`, () => {
      const walk = model(() => {
        const b = normal(0, 1);
        return { b, last: make(b) };
      });
      const message = new RegExp(
        `ArgumentError: .*normal\\(…\\) is made inside the function of ${name}.*\\.shape\\(100\\)`,
      );
      assert.throws(() => walk.given({}), message);
      assert.throws(() => walk.simulate(own()), message);
    });
  }

  test("a variable that the function returns under a name", () => {
    let inner = normal(0, 1);
    const leaking = model(() => {
      const b = normal(0, 1);
      vmap((x: Tensor) => {
        inner = normal(0, 1);
        return x;
      })(f64([1, 2]));
      return { b, inner };
    });
    assert.throws(() => leaking.given({}), /inner: normal\(…\) is made inside the function of vmap/);
  });

  test("factor inside is an error, of what the transform returns is not", () => {
    const inside = model(() => {
      const b = normal(0, 1);
      scan(
        (sum: Tensor, x: Tensor) => {
          factor(x.mul(b));
          return [sum, null] as const;
        },
        zero(),
        f64([1, 2]),
      );
      return { b };
    });
    assert.throws(() => inside.given({}), /factor: called inside the function of scan/);
  });

  test("densities are computed there, and variables from outside are used", () => {
    const filter = model(() => {
      const b = normal(0, 1);
      const steps = normal(0, 1).shape(3);
      const [last] = scan((x: Tensor, step: Tensor) => [x.add(step.mul(b)), null] as const, zero(), steps);
      factor(vmap((x: Tensor) => normal(b, 1).distribution.logDensity(x))(f64([1, 2])));
      return { b, steps, last };
    }).given({});
    const logNormal = (x: number, m = 0) => -0.5 * (x - m) ** 2 - 0.5 * Math.log(2 * Math.PI);
    const u = [0.5, 1, 2, 3];
    const expected = u.reduce((sum, x) => sum + logNormal(x), 0) + logNormal(1, 0.5) + logNormal(2, 0.5);
    assert.ok(Math.abs(at(filter.logDensity(f64(u))) - expected) < 1e-12);
    assert.equal(at(filter.constrain(f64(u)).last), 3);
    const many = vmap((point: Tensor) => filter.logDensity(point))(f64([u, u]));
    assert.ok(Math.abs(numbersOf(many)[1]! - expected) < 1e-12);
    assert.equal(vmap((i: Tensor) => filter.constrain(f64(u).add(i)).b)(arange(2, { dtype: "f64" })).shape[0], 2);
  });
});

describe("variables made outside of the model's function", () => {
  test("are named, observed or not, of this run or of one before", () => {
    const lik = normal(3, 1);
    const outside = model(() => ({ mu: normal(0, 1), y: lik }));
    const message = /ArgumentError: y: this normal variable was made outside of the model's function/;
    assert.throws(() => outside.given({ y: [100] }), message);
    assert.throws(() => outside.given({}), message);
    assert.throws(() => outside.simulate(own()), message);
    let kept: ReturnType<typeof normal> | null = null;
    const keeping = model(() => {
      kept ??= normal(0, 1);
      return { mu: normal(0, 1), kept };
    });
    assert.throws(() => keeping.given({}), /kept: this normal variable was made outside/);
    const argument = normal(0, 1);
    assert.throws(() => model(() => ({ y: normal(argument, 1) })).given({}), /y: normal\(…\) has a value only while/);
  });
});

test("an async function is an error that can be caught, and nothing else", async () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => unhandled.push(reason);
  process.on("unhandledRejection", note);
  // @ts-expect-error is async
  const failing = model(async () => ({ a: normal(0, 1).add(await Promise.reject(new Error("later"))) }));
  assert.throws(() => failing.given({}), /the function is async/);
  await new Promise((resolve) => setTimeout(resolve, 10));
  process.off("unhandledRejection", note);
  assert.deepEqual(unhandled, []);
});

describe("arguments of series and of censored variables", () => {
  const wrong: readonly (readonly [string, () => RandomVariable, RegExp])[] = [
    ["a scale", () => gaussianRandomWalk(-1, { steps: 3 }), /gaussianRandomWalk: scale is -1; it is a positive/],
    ["a drift", () => gaussianRandomWalk(1, { steps: 3, drift: Number.NaN }), /gaussianRandomWalk: drift is NaN/],
    ["the scale of ar", () => ar([0.5], -1, { steps: 3 }), /ar: scale is -1; it is a positive number/],
    ["a coefficient", () => ar([0.5, Number.NaN], 1, { steps: 3 }), /ar: coefficients is NaN/],
    ["an intercept", () => ar([0.5], 1, { steps: 3, intercept: Infinity }), /ar: intercept is Infinity/],
    ["bounds that fall", () => censored(normal(0, 1), { low: 2, high: 1 }), /censored: low is 2 and high is 1/],
    ["a bound", () => censored(normal(0, 1), { low: Number.NaN }), /censored: low is NaN/],
  ];
  for (const [title, make, message] of wrong) {
    test(`${title} that is a plain number is checked, in a model and outside`, () => {
      assert.throws(make, message);
      const named = new RegExp(`v: ${message.source}`);
      assert.throws(() => model(() => ({ m: normal(0, 1), v: make() })).given({}), named);
    });
  }

  test("and in tensors", () => {
    const falling = model(({ low }: { low: Tensor }) => ({
      m: normal(0, 1),
      v: censored(normal(0, 1), { low, high: 1 }),
    }));
    assert.throws(() => falling.given({ v: [0.5, 1] }, { low: f64([0, 1]) }), /v: censored: low is 1 and high is 1/);
  });

  test("an infinite bound censors nothing, and gradients do not see it", () => {
    const seen = model(({ low, high }: { low: Tensor; high: Tensor }) => {
      const m = normal(0, 1);
      return { m, v: censored(normal(m, 1), { low, high }) };
    }).given({ v: f64([0.5, -0.25]) }, { low: f64([-9, -Infinity]), high: f64([Infinity, Infinity]) });
    const [density, gradient] = seen.logDensityAndGrad(f64([0.3]));
    const square = [0.3, 0.5 - 0.3, -0.25 - 0.3].reduce((sum, z) => sum + z * z, 0);
    assert.ok(Math.abs(at(density) + square / 2 + 1.5 * Math.log(2 * Math.PI)) < 1e-12);
    assert.ok(Math.abs(numbersOf(gradient)[0]! - (-0.3 + 0.2 - 0.55)) < 1e-12);
  });
});

describe("positions among the data", () => {
  const groups = (values: number[]) => tensor(values, { dtype: "i32", device: "cpu" });
  const means: readonly (readonly [string, (b: Tensor, g: Tensor) => Tensor])[] = [
    ["at", (b, g) => b.at(g)],
    ["take", (b, g) => b.take(g)],
    ["takeAlongAxis", (b, g) => b.takeAlongAxis(g, { axis: 0 })],
    ["addAt", (b, g) => b.addAt(g, 1)],
    ["scatter", (b, g) => b.scatter(g, 1)],
  ];
  const using = (mean: (b: Tensor, g: Tensor) => Tensor, g: number[]) =>
    model((own: { g: Tensor }) => {
      const b = normal(0, 1).shape(3);
      return { b, y: normal(mean(b, own.g), 1) };
    }).given({ y: [1, 2, 3] }, { g: groups(g) });

  for (const [operation, mean] of means) {
    test(`${operation}: outside the axis is an error that says where`, () => {
      const message = new RegExp(`ArgumentError: ${operation}: g\\[2\\] is 3, and the axis has 3 elements`);
      assert.throws(() => using(mean, [0, 1, 3]), message);
      assert.throws(() => using(mean, [0, 1, -4]), /g\[2\] is -4/);
      assert.equal(using(mean, [0, 1, -3]).dim, 3);
    });
  }

  test("computed from data they have no name, from variables no value", () => {
    assert.throws(() => using((b, g) => b.at(g.add(1)), [0, 1, 2]), /at: a position is 3, and the axis has 3 elements/);
    const sampled = using((b) => b.at(b.greater(0).cast("i32").add(2)), [0, 1, 2]);
    assert.deepEqual(numbersOf(sampled.logLikelihood({ b: [1, 1, 0] }).y).length, 3);
  });

  test("under a name of their own, and counted by bincount", () => {
    const nested = model(({ pupil }: { pupil: { school: Tensor } }) => {
      const b = normal(0, 1).shape(2);
      return { b, y: normal(b.at(pupil.school), 1), n: pupil.school.bincount({ length: 1 }).cast("f32") };
    });
    assert.throws(() => nested.given({ y: [1] }, { pupil: { school: groups([2]) } }), /at: pupil\.school is 2, and/);
    assert.equal(nested.given({ y: [1] }, { pupil: { school: groups([1]) } }).dim, 2);
  });
});

describe("data are those that were given", () => {
  const line = model(({ x, k }: { x: Tensor; k: number[] }) => {
    const b = normal(0, 1);
    return { b, y: normal(x.mul(b).add(k[0]!), 1) };
  });

  test("whatever becomes of the arrays", () => {
    const [y, k] = [[1, 2], [3]];
    const typed = Float64Array.of(1, 2);
    const u = { f32: tensor([0.5], { device: "cpu" }), f64: f64([0.5]) };
    const posteriors = [line.given({ y }, { x: f64([1, 2]), k }), line.given({ y: typed }, { x: f64([1, 2]), k })];
    const expected = -0.5 * (0.25 + 2.5 ** 2 + 2 ** 2) - 1.5 * Math.log(2 * Math.PI);
    y[0] = Number.NaN;
    typed[0] = 100;
    k[0] = 100;
    for (const posterior of posteriors) {
      assert.ok(Math.abs(at(posterior.logDensity(u.f64)) - expected) < 1e-12);
      assert.ok(Math.abs(at(posterior.logDensity(u.f32)) - expected) < 1e-5);
    }
  });

  test("and are read once", () => {
    let reads = 0;
    const y = new Proxy([1, 2], {
      get(target, name, receiver) {
        if (name === "0") reads++;
        return Reflect.get(target, name, receiver);
      },
    });
    const posterior = line.given({ y }, { x: f64([1, 2]), k: [0] });
    const before = reads;
    posterior.logDensity(f64([0.5]));
    posterior.logDensity(tensor([0.5], { device: "cpu" }));
    assert.equal(reads, before);
  });

  test("a disposed tensor is named", () => {
    const x = f64([1, 2]);
    const posterior = line.given({ y: [1, 2] }, { x, k: [0] });
    const y = f64([1, 2]);
    y.dispose();
    assert.throws(() => line.given({ y }, { x, k: [0] }), /DisposedError: y: /);
    x.dispose();
    assert.throws(() => posterior.logDensity(f64([0.5])), /DisposedError: x: /);
  });
});

describe("shapes that a constraint cannot have", () => {
  const cases: readonly (readonly [string, () => RandomVariable, RegExp])[] = [
    ["a matrix that is not square", () => flat(correlationCholesky).shape(2, 3), /v: matrices of 2 × 3; .* are square/],
    ["the same of covariances", () => flat(covarianceCholesky).shape(4, 2, 3), /v: matrices of 2 × 3; .* are square/],
    ["one number", () => flat(simplex), /v: flat\(simplex\) takes vectors of .* \[\]; .*\.shape\(3\)/],
    [
      "a vector",
      () => flat(correlationCholesky).shape(3),
      /v: flat\(correlationCholesky\) .* \[3\]; .*\.shape\(3, 3\)/,
    ],
    [
      "one number, kept to an order",
      () => normal(0, 1).constrained(ordered),
      /v: normal\(…\)\.constrained\(ordered\) takes/,
    ],
    ["nothing", () => normal(0, 1).shape(0), /v: normal\(…\) of shape \[0\] has no values to sample/],
  ];
  for (const [title, make, message] of cases) {
    test(`${title}: the variable is named, not one that depends on it`, () => {
      const using = model(() => {
        const v = make();
        return { v, y: normal(v, 1) };
      });
      assert.throws(() => using.given({}), message);
      assert.throws(() => using.given({ y: [1] }), message);
    });
  }

  test("used in the function, before it has a name, it goes by what is written", () => {
    const early = model(() => ({ first: normal(0, 1).constrained(ordered).at(0) }));
    assert.throws(() => early.given({}), /^ShapeError: normal\(…\)\.constrained\(ordered\) takes vectors/);
  });
});

describe("the start of a series", () => {
  const starts: readonly (readonly [string, () => RandomVariable, RegExp])[] = [
    ["a scale below 0", () => normal(0, -1), /normal: scale is -1; it is a positive number/],
    ["a location that is no number", () => normal(Number.NaN, 1), /normal: location is NaN; it is a finite number/],
    ["known from a tensor", () => normal(0, f64(-2)), /normal: scale is -2; it is a positive number/],
    ["counts", () => poisson(1), /its start is poisson\(…\), which takes whole numbers from 0 on; .* give normal/],
    ["vectors", () => dirichlet([1, 1]), /its start is dirichlet\(…\), which takes vectors/],
    ["vectors of no density", () => flat(ordered), /its start is flat\(…\), which takes vectors of rising numbers/],
  ];
  const series: readonly (readonly [string, (start: RandomVariable) => RandomVariable])[] = [
    ["gaussianRandomWalk", (start) => gaussianRandomWalk(1, { steps: 3, start })],
    ["ar", (start) => ar([0.5], 1, { steps: 3, start })],
  ];
  for (const [name, make] of series) {
    for (const [title, start, message] of starts) {
      test(`${title}: refused by ${name}, sampled or observed`, () => {
        const own = model(() => ({ x: make(start()), z: normal(0, 1) }));
        assert.throws(() => own.given({}), new RegExp(`^ArgumentError: x: .*${message.source}`));
        assert.throws(() => own.given({ x: [1, 2, 3] }), new RegExp(`^ArgumentError: x: .*${message.source}`));
      });
    }

    test(`of another kind: refused by ${name} outside of models, too`, () => {
      assert.throws(() => make(poisson(1)), /its start is poisson/);
    });

    test(`a variable that does not fit it: refused by ${name}`, () => {
      const own = model(() => {
        const sd = normal(0, 1);
        return { sd, x: make(normal(0, sd)) };
      });
      assert.throws(() => own.given({}), /normal: its scale is sd, which may be negative/);
    });

    test(`a parameter of it that is computed may lie outside, where the density of ${name} is 0`, () => {
      const own = model(() => {
        const sd = normal(0, 1);
        return { sd, x: make(normal(0, sd.mul(1))) };
      }).given({ x: f64([0, 0, 0]) });
      const expected = -1.5 * Math.log(2 * Math.PI) - Math.log(0.5);
      const found = (u: number) => own.logLikelihood(f64([u])).x.itemSync() as number;
      assert.ok(Math.abs(found(0.5) - expected) < 1e-12);
      assert.equal(found(-0.5), -Infinity);
    });
  }
});

describe("constrained(…) to more than the support", () => {
  const wider: readonly (readonly [string, () => RandomVariable, RegExp])[] = [
    [
      "all numbers, of positive ones",
      () => gamma(2, 2).constrained(real),
      /gamma\(…\)\.constrained\(real\) takes finite numbers, but gamma takes .*; constrained\(…\) keeps a variable to a part/,
    ],
    [
      "an interval that overlaps",
      () => beta(2, 2).constrained(interval(0.5, 2)),
      /beta\(…\)\.constrained\(interval\) takes numbers from 0\.5 to 2, but beta takes numbers from 0 to 1/,
    ],
    ["what has no end", () => uniform(0, 1).constrained(positive), /uniform takes numbers from 0 to 1/],
  ];
  for (const [title, make, message] of wider) {
    test(`${title}: refused by name, sampled or observed`, () => {
      const own = model(() => ({ v: make(), z: normal(0, 1) }));
      assert.throws(() => own.given({}), new RegExp(`^ArgumentError: v: .*${message.source}`));
      assert.throws(() => own.given({ v: [0.5] }), new RegExp(`^ArgumentError: v: .*${message.source}`));
    });
  }

  const parts: readonly (readonly [string, () => RandomVariable])[] = [
    ["a part", () => beta(2, 2).constrained(interval(0.5, 1))],
    ["the same by another way", () => gamma(2, 2).constrained(positiveSoftplus)],
    ["a bound that is sampled", () => gamma(2, 2).constrained(above(normal(0, 1)))],
    ["another round of angles", () => vonMises(0, 1).constrained(interval(0, 2 * Math.PI))],
    ["vectors of a kind", () => uniform(0, 1).shape(2).constrained(ordered)],
  ];
  for (const [title, make] of parts) {
    test(`${title} is fine`, () => {
      const posterior = model(() => ({ v: make() })).given({});
      assert.ok(
        Number.isFinite(posterior.logDensity(f64(new Array(posterior.dim).fill(-1).fill(0.1, 0, 1))).itemSync()),
      );
    });
  }
});

describe("constraints whose bounds make no sense", () => {
  const cases: readonly (readonly [string, () => RandomVariable, RegExp])[] = [
    ["an interval that falls", () => flat(interval(2, 1)), /interval: low is 2 and high is 1; low is less than high/],
    [
      "an interval without an end",
      () => flat(interval(0, Infinity)),
      /interval: high is Infinity; it is a finite number/,
    ],
    ["a scale of 0", () => flat(affine(0, 0)), /affine: scale is 0; it is a finite number other than 0/],
    ["in constrained", () => normal(0, 1).constrained(interval(2, 1)), /interval: low is 2 and high is 1/],
  ];
  for (const [title, make, message] of cases) {
    test(`${title}: refused when it is made, in a model by name`, () => {
      assert.throws(make, message);
      assert.throws(() => model(() => ({ v: make() })).given({}), new RegExp(`v: ${message.source}`));
    });
  }

  test("known from data", () => {
    const own = model(({ b }: { b: Tensor }) => ({ v: flat(interval(1, b)) }));
    assert.throws(() => own.given({}, { b: f64(0.5) }), /v: interval: low is 1 and high is 0\.5/);
  });

  test("of bounds that are sampled, the Jacobian is named", async () => {
    const falling = model(() => {
      const low = halfNormal(1);
      return { low, v: flat(interval(low, low.neg())) };
    }).given({});
    await assert.rejects(
      async () => await falling.sample({ chains: 1, draws: 5 }),
      /NaN: .*Jacobian of v has log density NaN/,
    );
  });

  test("and every impossible observation", async () => {
    const beyond = model(() => {
      const t = uniform(0, 1);
      return { t, y: uniform(0, t) };
    }).given({ y: [0, 2, 0, 3] });
    await assert.rejects(
      async () => await beyond.sample({ chains: 1, draws: 5 }),
      /: y\[1\], y\[3\] have log density -Infinity\./,
    );
  });
});

describe("complex numbers", () => {
  const complex = () => tensor([{ re: 1, im: 2 }]);
  const line = model(() => {
    const m = normal(0, 1);
    return { m, y: normal(m, 1) };
  });
  const wrong: readonly (readonly [string, () => unknown, RegExp])[] = [
    ["observed", () => line.given({ y: complex() }), /^ArgumentError: y: densities .* not of complex ones/],
    [
      "observed, in a list",
      () => line.given({ y: [{ re: 1, im: 2 }] as never }),
      /y: densities .* not of complex ones/,
    ],
    [
      "computed",
      () =>
        model(() => {
          const m = normal(0, 1);
          return { m, z: m.mul(complex()) };
        }).given({}),
      /^ArgumentError: z: densities and draws .* use \.real\(\) and \.imag\(\)/,
    ],
    [
      "of a factor",
      () =>
        model(() => {
          const m = normal(0, 1);
          factor(0);
          factor(m.mul(complex()));
          return { m };
        }).given({}),
      /^ArgumentError: factor 2: densities/,
    ],
    [
      "of an argument",
      () =>
        model(() => {
          const m = normal(0, 1);
          return { m, y: normal(m.mul(complex()), 1) };
        }).given({ y: [1] }),
      /^DTypeError: y: An argument is of real numbers, not c64/,
    ],
  ];
  for (const [title, make, message] of wrong) test(`${title}: refused at given`, () => assert.throws(make, message));
});

test("a variable that is used before it is known to be observed: the error says how to give it its shape", () => {
  const chain = (own: (y: RandomVariable) => RandomVariable) =>
    model(({ X }: { X: Tensor }) => {
      const a = normal(0, 1);
      const y = own(normal(a, 1));
      return { a, y, z: normal(X.matmul(y), 1) };
    });
  const data = {
    X: f64([
      [1, 2],
      [3, 4],
      [5, 6],
    ]),
  };
  const observed = { y: [1, 2], z: [1, 2, 3] };
  assert.throws(
    () => chain((y) => y).given(observed, data),
    /^ShapeError: matmul: .* if it is the y that is observed, write normal\(…\)\.shape\(2\)/,
  );
  assert.deepEqual(
    chain((y) => y.shape(2))
      .given(observed, data)
      .observed.map(({ name }) => name),
    ["y", "z"],
  );
});

describe("errors of the function itself", () => {
  test("stay what they are: data are blamed only where they are missing", () => {
    // biome-ignore lint/suspicious/noExplicitAny: the typo is what the test is about
    const typo = (a: any) => a.mull(2) as Tensor;
    const plain = model(() => {
      const a = normal(0, 1);
      return { a, b: typo(a) };
    });
    assert.throws(() => plain.given({}), /^TypeError: a\.mull is not a function/);
    const optional = model((data: { x: Tensor } | undefined) => {
      const a = normal(0, 1);
      return { a, b: typo(data ? data.x : a) };
    });
    assert.throws(() => optional.given({}, undefined), /^TypeError: a\.mull is not a function/);
    const needy = model((data: { x: Tensor }) => ({ a: normal(data.x, 1) }));
    // @ts-expect-error the model takes data
    assert.throws(() => needy.given({}), /^ArgumentError: model: the function takes data, and none were given/);
    // @ts-expect-error the model takes data
    assert.throws(() => needy.simulate(own()), /^ArgumentError: model: the function takes data, and none were given/);
  });

  test("a factor that is no number is counted", () => {
    for (const wrong of ["x", [1, 2], undefined, Number.NaN]) {
      const off = model(() => {
        factor(1);
        factor(wrong as number);
        return { a: normal(0, 1) };
      });
      assert.throws(() => off.given({}), /^ArgumentError: factor 2: .* is no log density; give a number or a tensor/);
    }
  });
});

describe("a variable that is a parameter of another", () => {
  const refused: readonly (readonly [string, () => Record<string, RandomVariable>, RegExp])[] = [
    [
      "a scale",
      () => using(normal(0, 1), (v) => normal(0, v)),
      /y: normal: its scale is v, which may be negative; .*halfNormal/,
    ],
    [
      "a probability",
      () => using(normal(0, 1), (v) => bernoulli(v)),
      /y: bernoulli: its probability is v, which may be negative; .*beta/,
    ],
    [
      "above 1",
      () => using(gamma(1, 1), (v) => bernoulli(v)),
      /y: bernoulli: its probability is v, which may be above 1; .*unitInterval/,
    ],
    ["a rate", () => using(normal(0, 1), (v) => poisson(v)), /y: poisson: its rate is v, which may be negative/],
    [
      "of a series",
      () => using(flat(), (v) => gaussianRandomWalk(v, { steps: 2 })),
      /y: gaussianRandomWalk: its scale is v/,
    ],
    [
      "bounds below 0",
      () => using(uniform(-1, 1), (v) => exponential(v)),
      /y: exponential: its rate is v, which may be negative/,
    ],
    ["in a list", () => using(normal(0, 1), (v) => normal(0, [v, 1])), /y: normal: its scale is v/],
    ["an element", () => using(normal(0, 1).shape(3), (v) => normal(0, v.at(1))), /y: normal: its scale is v/],
    ["groups", () => using(normal(0, 1).shape(3), (v) => normal(0, v.take([0, 2]))), /y: normal: its scale is v/],
    [
      "another shape",
      () => using(normal(0, 1).shape(4), (v) => normal(0, v.reshape(2, 2))),
      /y: normal: its scale is v/,
    ],
    [
      "of a component",
      () => using(normal(0, 1), (v) => mixture([0.5, 0.5], [normal(0, v), normal(0, 1)])),
      /normal: its scale is v/,
    ],
    [
      "probabilities that do not sum to 1",
      () => using(beta(1, 1).shape(3), (v) => categorical(v)),
      /y: categorical: its probabilities is v, which takes numbers from 0 to 1; it is .* sum to 1\. Use dirichlet/,
    ],
    [
      "those of counts",
      () => using(beta(1, 1).shape(2), (v) => multinomial(2, v)),
      /y: multinomial: its probabilities is v, .* sum to 1/,
    ],
    [
      "weights that do not sum to 1",
      () => using(uniform(0, 1).shape(2), (v) => mixture(v, [normal(0, 1), normal(0, 1)])),
      /y: mixture: its weights is v, .* sum to 1/,
    ],
    [
      "weights along an axis",
      () => using(uniform(0, 1).shape(2), (v) => mixture(v, normal([0, 1], 1))),
      /y: mixture: its weights is v, .* sum to 1/,
    ],
    [
      "a matrix that is no factor",
      () => using(normal(0, 1).shape(2, 2), (v) => mvNormal(0, { cholesky: v })),
      /y: mvNormal: its matrix is v, which takes finite numbers; it is a lower triangular matrix .*lkjCholesky/,
    ],
    [
      "a factor where a covariance stands",
      () => using(lkjCholesky(2, 1), (v) => mvNormal(0, { covariance: v })),
      /y: mvNormal: its matrix is v, .*; it is a symmetric matrix\. Give { cholesky/,
    ],
    [
      "of what is censored",
      () => using(normal(0, 1), (v) => censored(normal(0, v), { high: 3 })),
      /normal: its scale is v/,
    ],
    [
      "a mixture",
      () => using(mixture([0.5, 0.5], [halfNormal(1), normal(3, 1)]), (v) => normal(0, v)),
      /its scale is v/,
    ],
  ];
  function using(v: RandomVariable, make: (v: RandomVariable) => RandomVariable): Record<string, RandomVariable> {
    return { v, y: make(v) };
  }
  for (const [title, make, message] of refused) {
    test(`${title}: refused where it may lie outside, naming both`, () => {
      const y = [
        [1, 1],
        [1, 1],
      ]; // fits whatever shape the parameter has
      assert.throws(() => model(make).given({ y } as never), message);
    });
  }

  const fine: readonly (readonly [string, () => Record<string, RandomVariable>])[] = [
    ["a positive one", () => using(halfNormal(1), (v) => normal(0, v))],
    ["one kept positive", () => using(normal(0, 1).constrained(positive), (v) => normal(0, v))],
    [
      "one whose support is positive",
      () => using(exponential(1).shape(2).constrained(ordered), (v) => normal(0, v.at(0))),
    ],
    ["a share", () => using(uniform(0, 1), (v) => bernoulli(v))],
    ["one of a simplex", () => using(dirichlet([1, 1]), (v) => bernoulli(v.at(0)))],
    ["one with bounds that are sampled", () => using(uniform(0, gamma(1, 1)), (v) => normal(0, v))],
    ["what is computed", () => using(normal(0, 1), (v) => normal(0, v.abs()))],
    ["a simplex", () => using(dirichlet([1, 1, 1]), (v) => categorical(v))],
    ["rows of them", () => using(dirichlet([1, 1]).shape(4), (v) => categorical(v.take([0, 2])))],
    [
      "what is kept to a simplex",
      () => using(gamma(1, 1).shape(2).constrained(simplex), (v) => mixture(v, normal([0, 1], 1))),
    ],
    ["weights in a list", () => using(beta(1, 1), (v) => mixture([v, v.neg().add(1)], [normal(0, 1), normal(2, 1)]))],
    ["a location", () => using(normal(0, 1), (v) => normal(v, 1))],
    ["a mixture of positive ones", () => using(mixture([0.5, 0.5], [halfNormal(1), gamma(3, 1)]), (v) => normal(0, v))],
  ];
  for (const [title, make] of fine) {
    test(`${title} is fine`, () => {
      assert.ok(model(make).given({ y: [1] } as never).dim >= 1);
    });
  }

  test("that is observed is checked by its values", () => {
    const scaled = model(() => using(normal(0, 1), (v) => normal(normal(0, 1), v)));
    assert.equal(scaled.given({ v: 2, y: [1] } as never).dim, 1);
    assert.throws(() => scaled.given({ v: -2, y: [1] } as never), /y: normal: scale is -2/);
  });
});

describe("a function that depends on something else than its data", () => {
  type Variables = () => Record<string, Tensor>;
  /** Differs from the n-th run on. */
  const from = (n: number, first: Variables, then: Variables): Variables => {
    let runs = 0;
    return () => (++runs < n ? first() : then());
  };
  const differing: readonly (readonly [string, (n: number) => Variables, RegExp])[] = [
    [
      "kind",
      (n) =>
        from(
          n,
          () => ({ a: normal(0, 1) }),
          () => ({ a: cauchy(0, 1) }),
        ),
      /a is normal\(…\), and then a is cauchy\(…\)/,
    ],
    [
      "shape",
      (n) =>
        from(
          n,
          () => ({ a: normal(0, 1).shape(2) }),
          () => ({ a: normal(0, 1).shape(3) }),
        ),
      /\[2\].*\[3\]/,
    ],
    [
      "shape of arguments",
      (n) =>
        from(
          n,
          () => ({ a: normal(f64([1, 2]), 1) }),
          () => ({ a: normal(f64([1]), 1) }),
        ),
      /different variables|a is \[2\], and then \[1\]/,
    ],
    [
      "name",
      (n) =>
        from(
          n,
          () => ({ a: normal(0, 1) }),
          () => ({ b: normal(0, 1) }),
        ),
      /a is normal\(…\), and then b is/,
    ],
    [
      "number of variables",
      (n) =>
        from(
          n,
          () => ({ a: normal(0, 1) }),
          () => ({ a: normal(0, 1), b: normal(0, 1) }),
        ),
      /b is normal\(…\), which was not there/,
    ],
    [
      "what is computed",
      (n) =>
        from(
          n,
          () => ({ a: normal(0, 1) }),
          () => ({ a: normal(0, 1), c: f64(1) }),
        ),
      /it computes nothing, and then c/,
    ],
    [
      "argument",
      (n) =>
        from(
          n,
          () => ({ a: normal(0.25, 1) }),
          () => ({ a: normal(0.75, 1) }),
        ),
      /of 0\.25, 1, and then of 0\.75, 1/,
    ],
    [
      "bound",
      (n) =>
        from(
          n,
          () => ({ a: flat(interval(0, 1)) }),
          () => ({ a: flat(interval(0, 2)) }),
        ),
      /of 0, 1, and then of 0, 2/,
    ],
    [
      "component",
      (n) =>
        from(
          n,
          () => ({ a: mixture([1], [normal(0, 1)]) }),
          () => ({ a: mixture([1], [normal(0, 2)]) }),
        ),
      /of 0, 1, and then of 0, 2/,
    ],
  ];
  for (const [what, make, message] of differing) {
    test(`by ${what}: refused at given, and later`, () => {
      if (what !== "shape of arguments") assert.throws(() => model(make(2)).given({}), message);
      const late = model(make(3)).given({});
      const u = tensor(new Array<number>(late.dim).fill(0.5), { dtype: late.dtype, device: "cpu" });
      assert.throws(() => late.logDensity(u), message);
    });
  }

  test("chance is one of them, and the dtype of data is not", () => {
    const random = model(() => ({ a: normal(Math.random(), 1) }));
    assert.throws(
      () => random.given({}),
      /different variables each time it runs: a is normal\(…\) of 0\.\d+, 1, and then of/,
    );
    const careful = model(({ x }: { x: Tensor }) => ({
      a: normal(0, x.dtype === "f64" ? 1e-12 : 1e-6),
      y: normal(x, 1),
    }));
    const posterior = careful.given({ y: [1] }, { x: f64([1]) });
    assert.ok(Number.isFinite(at(posterior.logDensity(tensor([0], { device: "cpu" })))));
  });
});

describe("a part of another distribution", () => {
  const wholes: readonly (readonly [string, (a: RandomVariable) => RandomVariable])[] = [
    ["mixture", (a) => mixture([0.5, 0.5], [a, normal(0, 2)])],
    ["censored", (a) => censored(a, { high: 3 })],
    ["gaussianRandomWalk", (a) => gaussianRandomWalk(1, { steps: 3, start: a })],
    ["ar", (a) => ar([0.5], 1, { steps: 3, start: a })],
  ];
  for (const [name, make] of wholes) {
    test(`${name}: is no variable of its own, returned or used`, () => {
      const message = new RegExp(`a part of ${name}\\(…\\), .* write normal\\(…\\) again`);
      const returned = model(() => {
        const a = normal(0, 1);
        return { a, y: make(a) };
      });
      assert.throws(() => returned.given({ y: [1, 1, 1] }), message);
      const used = model(() => {
        const a = normal(0, 1);
        return { y: make(a), twice: a.mul(2) };
      });
      assert.throws(() => used.given({ y: [1, 1, 1] }), message);
    });
  }
});

describe("arguments of another kind are told apart from bugs", () => {
  const small = model(() => {
    const q = halfNormal(1);
    return { q, twice: q.mul(2), y: normal(q, 1) };
  });
  const posterior = () => small.given({ y: [1] });
  const needy = model(({ x }: { x: Tensor }) => {
    const q = normal(0, 1);
    return { q, y: normal(x.mul(q), 1) };
  });
  const calm = model(({ x }: { x: Tensor }) => ({ q: normal(0, 1), y: normal(x, 1) }));
  const untyped = small as unknown as Posterior<{ y: Tensor }>;
  const some = (value: unknown) => value as never;
  const wrong: readonly (readonly [string, () => unknown, RegExp])[] = [
    ["given()", () => small.given(some(undefined)), /given: undefined stands where observations do/],
    ["given(null)", () => small.given(some(null)), /given: null stands/],
    ["given(tensor)", () => small.given(some(f64([1]))), /given: .*stands where observations do/],
    ["given(a map)", () => small.given(some(new Map([["y", [1, 2]]]))), /given: a Map stands where observations do/],
    ...[f64([1, 2]), null, new Map([["x", f64([1, 2])]]), 3].flatMap((data) =>
      [needy, calm].map(
        (each) =>
          [
            `data without names, ${data instanceof Map ? "a Map" : data}`,
            () => each.given({ y: [1, 2] }, some(data)),
            /the function takes data, and .* was given, which has no names: given\(\{ y \}, \{ x \}\)/,
          ] as const,
      ),
    ),
    [
      "given({ x }, { y })",
      () => needy.given(some({ x: [1, 2] }), some({ y: f64([1, 2]) })),
      /asks for data "x"; there are y\. x is among the observations, which come first: given\(\{ y \}, \{ x \}\)/,
    ],
    ["model(fn).sample()", () => untyped.sample(), /model: sample needs .*given\(\{ y \}, \{ x \}\)\.sample\(…\)/],
    ["model(fn).logDensity(u)", () => untyped.logDensity(f64([1])), /model: logDensity needs to know what is observed/],
    ["model(3)", () => model(some(3)), /model: takes a function, not 3/],
    ["simulate()", () => small.simulate(some(undefined)), /simulate: the first argument is a key, .* not undefined/],
    [
      "priorPredictive()",
      () => posterior().priorPredictive(some(undefined)),
      /priorPredictive: the first argument is a key/,
    ],
    ["priorDraw(3)", () => posterior().priorDraw(some(3)), /priorDraw: the first argument is a key, .* not 3/],
    [
      "posteriorPredictive(3)",
      () => posterior().posteriorPredictive(some(3), { q: 1 }),
      /posteriorPredictive: the first argument is a key/,
    ],
    [
      "posteriorPredictive(key)",
      () => posterior().posteriorPredictive(own(), some(undefined)),
      /undefined stands where values of q do/,
    ],
    ["logDensity(1)", () => posterior().logDensity(some(1)), /Free numbers are a tensor \[1\], not 1/],
    [
      "logDensity(u, null)",
      () => posterior().logDensity(f64([1]), some(null)),
      /logDensity: null stands where options/,
    ],
    [
      "logDensity of an unknown option",
      () => posterior().logDensity(f64([1]), some({ normalised: false })),
      /logDensity: there is no option "normalised"; the only one is normalized/,
    ],
    [
      "logDensityAndGrad of an unknown option",
      () => posterior().logDensityAndGrad(f64([1]), some({ normalised: false })),
      /logDensityAndGrad: there is no option "normalised"/,
    ],
    [
      "densityParts of an unknown option",
      () => posterior().densityParts(f64([1]), some({ normalised: false })),
      /densityParts: there is no option "normalised"/,
    ],
    ["logDensityAndGrad([1])", () => posterior().logDensityAndGrad(some([1])), /Free numbers are a tensor \[1\], not/],
    ...(["simulate", "priorDraw", "priorPredictive", "unconstrain"] as const).map(
      (name) =>
        [
          `${name} of an unknown option`,
          () => {
            const options = some({ dtyp: "f64" });
            if (name === "simulate") return small.simulate(own(), undefined, options);
            if (name === "unconstrain") return posterior().unconstrain({ q: 1 }, options);
            return posterior()[name](own(), options);
          },
          new RegExp(`${name}: there is no option "dtyp"; the only one is dtype`),
        ] as const,
    ),
    ["constrain([1])", () => posterior().constrain(some([1])), /Free numbers are a tensor/],
    [
      "leapfrog without options",
      () => posterior().leapfrog(f64([1]), f64([1]), some(undefined)),
      /leapfrog: undefined stands where options do/,
    ],
    [
      "leapfrog of arrays",
      () => posterior().leapfrog(some([1]), some([1]), { eps: 0.1, steps: 1 }),
      /leapfrog: q and p are tensors/,
    ],
    [
      "gaussianRandomWalk(1)",
      () => gaussianRandomWalk(1, some(undefined)),
      /gaussianRandomWalk: undefined stands where options do/,
    ],
    ["ar([0.5], 1)", () => ar([0.5], 1, some(undefined)), /ar: undefined stands where options do/],
    [
      "truncatedNormal(0, 1)",
      () => truncatedNormal(0, 1, some(undefined)),
      /truncatedNormal: undefined stands where options do/,
    ],
    [
      "censored without bounds",
      () => censored(normal(0, 1), some(undefined)),
      /censored: undefined stands where options do/,
    ],
    ["censored of a number", () => censored(some(3), { low: 1 }), /censored: 3 is no distribution/],
    ["mixture of a number", () => mixture([1], some([3])), /mixture: 3 is no distribution/],
    ["mixture of nothing", () => mixture([1], some(undefined)), /mixture: the components are undefined/],
    ["mvNormal(0)", () => mvNormal(0, some(undefined)), /mvNormal: undefined stands where options do/],
    [
      "mvNormal(0, matrix)",
      () => mvNormal(0, some(f64([[1]]))),
      /mvNormal: a Tensor stands where options do, .* write \{ covariance: … \}/,
    ],
    ["mvNormal(0, {})", () => mvNormal(0, some({})), /mvNormal: give one of \{ covariance \}, .* not none/],
    [
      "mvNormal by two matrices",
      () => mvNormal(0, some({ covariance: [[1]], cholesky: [[1]] })),
      /mvNormal: give one of .* not covariance and cholesky/,
    ],
    ["mvNormal of an unknown one", () => mvNormal(0, some({ cov: [[1]] })), /mvNormal: there is no option "cov"/],
    [
      "interval() in a model",
      () => model(() => ({ x: flat(interval(some(undefined), 1)) })).given({}),
      /x: An argument is a number, a tensor or a list of these, not undefined/,
    ],
    [
      "above() in a model",
      () => model(() => ({ x: flat(above(some(undefined))) })).given({}),
      /x: An argument is a number, a tensor or a list of these, not undefined/,
    ],
    ["custom of a number's shape", () => custom({ logDensity: (x) => x, eventShape: some(3) }), /eventShape is a list/],
    [
      "custom of an unknown option",
      () => custom(some({ logDensity: (x: Tensor) => x, suport: positive })),
      /custom: there is no option "suport"/,
    ],
    ["custom()", () => custom(some(undefined)), /custom: give \{ logDensity/],
    ["flat(3)", () => flat(some(3)), /flat: 3 is no constraint/],
    ["constrained(text)", () => normal(0, 1).constrained(some("positive")), /constrained: "positive" is no constraint/],
    [
      "distribution.logDensity(1)",
      () => normal(0, 1).distribution.logDensity(some(1)),
      /normal\.logDensity: x is 1; make it a tensor/,
    ],
    [
      "distribution.sample()",
      () => normal(0, 1).distribution.sample(some(undefined)),
      /normal\.sample: the first argument is a key/,
    ],
    ["an unknown value", () => posterior().logLikelihood(some({ q: 1, zz: 3 })), /no latent variable "zz"; it takes q/],
    ["an observed one", () => posterior().logLikelihood(some({ q: 1, y: 3 })), /no latent variable "y"; it takes q/],
    [
      "a value that is none",
      () => posterior().unconstrain({ q: some(undefined) }),
      /posterior: q is undefined; it is a/,
    ],
    ["a value that is text", () => posterior().unconstrain({ q: some("a") }), /posterior: q is "a"; it is a number/],
    ["values that are none", () => posterior().unconstrain(some(3)), /3 stands where values of q do/],
    [
      "a value outside the support",
      () => posterior().unconstrain({ q: -3 }),
      /q: the value is -3, but halfNormal takes numbers from 0 on/,
    ],
    ["NaN", () => posterior().unconstrain({ q: Number.NaN }), /q: the value is NaN/],
  ];
  for (const [title, work, message] of wrong) {
    test(title, () => {
      assert.throws(work, (error: Error) => error.name === "ArgumentError" && message.test(error.message));
    });
  }

  test("names may stand in an object of no class", () => {
    const given = Object.assign(Object.create(null), { y: [1, 2] }) as { y: number[] };
    assert.deepEqual(small.given(given).observed[0]?.shape, [2]);
  });

  test("data may be one tensor where the function takes one", () => {
    const whole = model((x: Tensor) => ({ q: normal(0, 1), y: normal(x, 1) }));
    const density = whole.given({ y: [1, 2] }, f64([1, 2])).logDensity(f64([0]));
    assert.ok(Math.abs(at(density) + 1.5 * Math.log(2 * Math.PI)) < 1e-12);
  });

  test("what is computed may stand beside values, as constrain returns it", () => {
    const one = posterior();
    assert.ok(Math.abs(at(one.unconstrain(one.constrain(f64([0.5])) as never)) - 0.5) < 1e-12);
  });

  test("a sample of one's own has the shape that was asked for", () => {
    const short = custom({ logDensity: (x) => x, sample: () => f64([1, 2, 3]) });
    assert.throws(
      () => short.distribution.sample(own(), [2]),
      /custom: sample gives \[3\], where draws of \[2\] are asked/,
    );
    assert.deepEqual(short.distribution.sample(own(), [3]).shape, [3]);
  });
});
