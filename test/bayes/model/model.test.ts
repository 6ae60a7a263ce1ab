/** The model language: names, shapes, observations, factors, and what it says about mistakes. */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import {
  bernoulli,
  beta,
  categorical,
  censored,
  custom,
  dirichlet,
  factor,
  flat,
  gamma,
  gaussianRandomWalk,
  halfCauchy,
  halfNormal,
  interval,
  logNormal as logNormalVariable,
  mixture,
  mixtureLogits,
  model,
  multinomial,
  mvNormal,
  normal,
  ordered,
  poisson,
  RandomVariable,
  truncatedNormal,
  uniform,
} from "../../../src/bayes/index.js";
import { key } from "../../../src/random/key.js";
import { setDefaultDevice, Tensor, tensor, where, zeros } from "../../../src/tensor/index.js";
import { lgamma } from "../../support/special-functions.js";
import { f64, numbersOf } from "../../support/tensors.js";

// Models below make tensors of their own, which go to the default device.
before(() => setDefaultDevice("cpu"));

const at = (x: Tensor): number => x.itemSync() as number;
const close = (actual: number, expected: number, tolerance = 1e-12): void =>
  assert.ok(Math.abs(actual - expected) <= tolerance * Math.max(1, Math.abs(expected)), `${actual}, not ${expected}`);
const logNormal = (x: number, m: number, s: number): number =>
  -0.5 * ((x - m) / s) ** 2 - Math.log(s) - 0.5 * Math.log(2 * Math.PI);

const y = f64([28, 8, -3, 7]);
const s = f64([15, 10, 16, 11]);
const schools = model(({ s }: { s: Tensor }) => {
  const mu = normal(0, 5);
  const tau = halfCauchy(5);
  const theta = normal(mu, tau).shape(4).noncentered();
  return { mu, tau, theta, y: normal(theta, s) };
});

describe("a model and its data", () => {
  test("name the variables by the keys of what is returned, in the order of the program", () => {
    const posterior = schools.given({ y }, { s });
    assert.equal(posterior.dim, 6);
    assert.deepEqual(
      posterior.latents.map(({ name, shape, offset }) => [name, shape, offset]),
      [
        ["mu", [], 0],
        ["tau", [], 1],
        ["theta", [4], 2],
      ],
    );
    assert.deepEqual(
      posterior.observed.map(({ name, shape, distribution }) => [name, shape, distribution]),
      [["y", [4], "normal"]],
    );
  });

  test("give the log density that the formulas give", () => {
    const posterior = schools.given({ y }, { s });
    const u = [1.5, 0.4, -0.3, 0.9, 0.1, -1.2];
    const [mu, tau] = [u[0]!, Math.exp(u[1]!)];
    const halfCauchyAt = Math.log(2 / Math.PI / 5) - Math.log1p((tau / 5) ** 2);
    const theta = u.slice(2).map((z) => mu + tau * z);
    const prior = logNormal(mu, 0, 5) + halfCauchyAt + u[1]! + u.slice(2).reduce((t, z) => t + logNormal(z, 0, 1), 0);
    const perSchool = theta.map((t, i) => logNormal(numbersOf(y)[i]!, t, numbersOf(s)[i]!));
    const likelihood = perSchool.reduce((a, b) => a + b);
    const parts = posterior.densityParts(f64(u));
    close(at(parts.prior), prior);
    close(at(parts.likelihood), likelihood);
    close(at(posterior.logDensity(f64(u))), prior + likelihood);
    numbersOf(posterior.logLikelihood(f64(u)).y).forEach((value, i) => {
      close(value, perSchool[i]!);
    });
    const values = posterior.constrain(f64(u));
    close(at(values.tau), tau);
    numbersOf(values.theta).forEach((value, i) => {
      close(value, theta[i]!);
    });
    numbersOf(posterior.unconstrain(values)).forEach((value, i) => {
      close(value, u[i]!);
    });
  });

  test("take observations as numbers in arrays, and data of another dtype", () => {
    const expected = at(schools.given({ y }, { s }).logDensity(f64([1, 0, 1, 0, 1, 0])));
    const single = tensor([15, 10, 16, 11], { device: "cpu" });
    const posterior = schools.given({ y: [28, 8, -3, 7] }, { s: single });
    close(at(posterior.logDensity(f64([1, 0, 1, 0, 1, 0]))), expected);
    const f32 = posterior.logDensity(tensor([1, 0, 1, 0, 1, 0], { device: "cpu" }));
    assert.equal(f32.dtype, "f32");
    close(at(f32), expected, 1e-6);
  });

  test("without constants the density differs by a constant", () => {
    const posterior = schools.given({ y }, { s });
    const points = [f64([1, 0, 1, 0, 1, 0]), f64([-2, 1, 0.3, 2, -1, 0.5])];
    const [a, b] = points.map((u) => at(posterior.logDensity(u)) - at(posterior.logDensity(u, { normalized: false })));
    assert.ok(Math.abs(a!) > 1);
    close(a!, b!);
  });

  test("without constants an observed logNormal number leaves its own logarithm out", () => {
    const waiting = model(() => {
      const mu = normal(0, 1);
      return { mu, y: logNormalVariable(mu, 2) };
    });
    const posterior = waiting.given({ y: f64([2, 3]) });
    const z = [2, 3].map((y) => (Math.log(y) - 0.5) / 2);
    close(at(posterior.logDensity(f64([0.5]), { normalized: false })), -0.5 * (0.25 + z[0]! ** 2 + z[1]! ** 2));
    const constants = -Math.log(2 * 3) - 2 * Math.log(2) - 1.5 * Math.log(2 * Math.PI);
    close(at(posterior.logDensity(f64([0.5]))), -0.5 * (0.25 + z[0]! ** 2 + z[1]! ** 2) + constants);
  });

  test("if on a random variable is refused with where and cond", () => {
    const branching = model(() => {
      const b = normal(0, 1);
      return { b, y: normal((b as unknown as number) > 0 ? 1 : 0, 1) };
    });
    assert.throws(() => branching.given({ y: f64([1]) }), {
      name: "ArgumentError",
      message:
        /a\.greater\(b\) for a > b; in place of if, choose with where\(.*cond\(\).*not known while the function is traced/,
    });
  });

  test("centred and non-centred models have the same density, but for the change of variables", () => {
    const centred = model(({ s }: { s: Tensor }) => {
      const mu = normal(0, 5);
      const tau = halfCauchy(5);
      const theta = normal(mu, tau).shape(4);
      return { mu, tau, theta, y: normal(theta, s) };
    }).given({ y }, { s });
    const posterior = schools.given({ y }, { s });
    const u = f64([1.5, 0.4, -0.3, 0.9, 0.1, -1.2]);
    const same = centred.unconstrain(posterior.constrain(u));
    close(at(posterior.logDensity(u)), at(centred.logDensity(same)) + 4 * 0.4);
  });
});

describe("random variables", () => {
  test("are tensors: operands, arguments, receivers, shapes", () => {
    let seen: Tensor[] = [];
    const x = f64([
      [1, 2, 3],
      [4, 5, 6],
    ]);
    const posterior = model(() => {
      const b = normal(0, 1).shape(3);
      const scale = halfNormal(1);
      assert.ok(b instanceof Tensor && b instanceof RandomVariable);
      assert.deepEqual([...b.shape], [3]);
      assert.equal(b.shape.length, 3 - 2);
      assert.equal(b.rank, 1);
      seen = [
        x.matmul(b),
        b.mul(scale).add(1),
        where(b.greater(0), b, 0),
        x.sub(b),
        zeros([6], { dtype: "f64", device: "cpu" })
          .reshape(2, 3)
          .add(b)
          .reshape([...b.shape, 2]),
        f64([1, 2, 3]).reshape(b.shape).sub(b),
        b.at("1:").sum(),
      ];
      return { b, scale, y: normal(x.matmul(b), scale) };
    }).given({ y: [1, 2] });
    posterior.logDensity(f64([1, -2, 3, 0]));
    assert.deepEqual(numbersOf(seen[0]!), [6, 12]);
    assert.deepEqual(numbersOf(seen[1]!), [2, -1, 4]);
    assert.deepEqual(numbersOf(seen[2]!), [1, 0, 3]);
    assert.deepEqual(numbersOf(seen[5]!), [0, 4, 0]);
    assert.deepEqual(numbersOf(seen[6]!), [1]);
  });

  test("that are used but not returned are sampled under a name of their own", () => {
    const posterior = model(() => {
      const scale = halfNormal(1);
      const z = normal(0, 1).shape(2);
      normal(0, 1);
      return { theta: z.mul(scale), y: normal(z.sum(), 1) };
    }).given({ y: 0.5 });
    assert.deepEqual(
      posterior.latents.map(({ name, isAnonymous }) => [name, isAnonymous]),
      [
        ["halfNormal_1", true],
        ["normal_1", true],
      ],
    );
    const values = posterior.constrain(f64([0, 2, 3])) as Readonly<Record<string, Tensor>>;
    assert.deepEqual(numbersOf(values.theta!), [2, 3]);
    assert.deepEqual(numbersOf(values.normal_1!), [2, 3]);
    assert.deepEqual(posterior.deterministics, [{ kind: "deterministic", name: "theta", shape: [2] }]);
  });

  test("that only others depend on are found through them", () => {
    const posterior = model(() => {
      const deep = normal(0, 1);
      const middle = normal(deep, 1);
      return { y: normal(middle, 1) };
    }).given({ y: 1 });
    assert.equal(posterior.dim, 2);
  });

  test("that are components of mixtures are none of their own", () => {
    const posterior = model(() => {
      const mu = normal(0, 3).shape(2).constrained(ordered);
      return { mu, y: mixture([0.3, 0.7], [normal(mu.at(0), 1), normal(mu.at(1), 2)]) };
    }).given({ y: [0.5, 3] });
    assert.equal(posterior.dim, 2);
    const u = [-1, 0.5];
    const mu = [-1, -1 + Math.exp(0.5)];
    const mix = (v: number) =>
      Math.log(0.3 * Math.exp(logNormal(v, mu[0]!, 1)) + 0.7 * Math.exp(logNormal(v, mu[1]!, 2)));
    const expected = logNormal(mu[0]!, 0, 3) + logNormal(mu[1]!, 0, 3) + 0.5 + mix(0.5) + mix(3);
    close(at(posterior.logDensity(f64(u))), expected);
  });

  test("may have bounds that depend on others", () => {
    const posterior = model(() => {
      const top = gamma(3, 1);
      const x = uniform(0, top);
      const w = flat(interval(x, top));
      return { top, x, w };
    }).given({});
    const u = [0.7, -0.4, 1.1];
    const top = Math.exp(0.7);
    const share = 1 / (1 + Math.exp(0.4));
    const x = top * share;
    const part = 1 / (1 + Math.exp(-1.1));
    const jacobians = 0.7 + Math.log(top * share * (1 - share)) + Math.log((top - x) * part * (1 - part));
    const density = 2 * Math.log(top) - top - lgamma(3) - Math.log(top);
    close(at(posterior.logDensity(f64(u))), jacobians + density);
    const values = posterior.constrain(f64(u));
    close(at(values.w), x + (top - x) * part);
    numbersOf(posterior.unconstrain(values)).forEach((value, i) => {
      close(value, u[i]!);
    });
  });

  test("have a value only inside their model, and shapes only until they are used", () => {
    assert.throws(() => normal(0, 1).add(1), /only while its model runs/);
    assert.match(`${normal(0, 1).shape(3)}`, /RandomVariable\(normal, shape \[3\]\)/);
    const late = model(() => {
      const x = normal(0, 1);
      x.add(1);
      return { x: x.shape(3) };
    });
    assert.throws(() => late.given({}), /used already; call shape/);
  });
});

describe("factor", () => {
  test("adds to the log density, summed", () => {
    const posterior = model(() => {
      const p = beta(1, 1);
      factor(p.log().mul(f64([3, 4])));
      factor(-2);
      return { p };
    }).given({});
    const p = 1 / (1 + Math.exp(-0.3));
    close(at(posterior.logDensity(f64([0.3]))), 7 * Math.log(p) - 2 + Math.log(p * (1 - p)));
  });

  test("outside a model is an error", () => {
    assert.throws(() => factor(1), /inside a model/);
  });
});

describe("counts", () => {
  test("are taken as integers, and have the likelihood of formulas", () => {
    const counts = tensor([0, 3, 7], { dtype: "i32", device: "cpu" });
    const posterior = model(() => {
      const rate = gamma(2, 1);
      return { rate, k: poisson(rate) };
    }).given({ k: counts });
    const rate = Math.exp(0.5);
    numbersOf(posterior.logLikelihood(f64([0.5])).k).forEach((value, i) => {
      const k = [0, 3, 7][i]!;
      close(value, k * Math.log(rate) - rate - lgamma(k + 1));
    });
  });

  test("come as vectors from multinomial, one likelihood for each", () => {
    const posterior = model(() => {
      const p = beta(2, 2);
      return { p, k: multinomial(4, [0.5, 0.25, 0.25]), n: bernoulli(p) };
    }).given({
      k: [
        [4, 0, 0],
        [1, 2, 1],
      ],
      n: [1, 0, 1],
    });
    const { k, n } = posterior.logLikelihood(f64([0]));
    assert.deepEqual([k.shape, n.shape], [[2], [3]]);
    close(numbersOf(k)[0]!, 4 * Math.log(0.5));
  });
});

describe("mistakes are named at once", () => {
  test("names that mean something else in JavaScript, under which a saved fit could not be resumed", () => {
    for (const name of ["__proto__", "constructor", "prototype"]) {
      const named = () => Object.defineProperty({}, name, { value: normal(0, 1), enumerable: true });
      assert.throws(() => model(named as never).given({}), {
        name: "ArgumentError",
        message: `model: "${name}" is no name for a variable; return it under another one.`,
      });
    }
  });

  const regression = model(({ x }: { x: Tensor }) => {
    const b = normal(0, 1);
    return { b, twice: b.mul(2), y: normal(x.mul(b), 1) };
  });
  const x = f64([1, 2, 3]);

  test("an unknown variable", () => {
    // @ts-expect-error z is not a variable of the model
    assert.throws(() => regression.given({ z: [1, 2, 3] }, { x }), /no variable "z"; it has b, y/);
  });
  test("an observed value that is computed", () => {
    // @ts-expect-error twice is no random variable
    assert.throws(() => regression.given({ twice: 1 }, { x }), /^\w*Error: twice: this is no random variable/);
  });
  test("data that are plain numbers where the function wants a tensor", () => {
    for (const plain of [[1, 2, 3], Float64Array.of(1, 2, 3), 2]) {
      assert.throws(
        // @ts-expect-error x is a tensor
        () => regression.given({ y: [1, 2, 3] }, { x: plain }),
        /^ArgumentError: model: .*mul is not a function.* x is plain numbers.*\{ x: tensor\(…\) \}/,
      );
    }
    // Those that it takes as they are stay so.
    const counted = model(({ n, at }: { n: number; at: number[] }) => ({
      z: normal(
        at.map((i) => i / n),
        1,
      ),
    }));
    assert.equal(counted.given({}, { n: 4, at: [1, 2, 3] }).dim, 3);
  });
  test("data that are missing", () => {
    const none = /ArgumentError: model: the function takes data, and none were given/;
    // @ts-expect-error the model takes data
    assert.throws(() => regression.given({ y: [1, 2, 3] }), none);
    // @ts-expect-error x is missing
    assert.throws(() => regression.given({ y: [1] }, { z: x }), /asks for data "x"; there are z\./);
    const scaled = model(({ s }: { s?: Tensor }) => ({ mu: normal(0, 1), y: normal(0, s as Tensor) }));
    assert.throws(
      () => scaled.given({ y: [1] }, { sigma: x } as object),
      /^ArgumentError: y: normal: scale is undefined; .* The model asks for data "s"; there are sigma\./,
    );
    assert.throws(
      () => scaled.simulate(key(0, { device: "cpu" }), { sigma: x } as object),
      /y: normal: scale is undefined; .* asks for data "s"/,
    );
    const optional = model(({ s }: { s?: number }) => ({ mu: normal(0, 1), y: normal(0, s ?? 1) }));
    assert.equal(optional.given({ y: [1] }, {}).dim, 1);
  });
  test("observations that are no numbers, or none", () => {
    const strings = ["a", "b", "c"] as unknown as number[];
    assert.throws(() => regression.given({ y: strings }, { x }), /y: tensor: "a" is/);
    assert.throws(() => regression.given({ y: [[1, 2], [3]] }, { x }), /^ShapeError: y: tensor: ragged/);
    assert.throws(() => model(() => ({ m: normal(0, 1), y: normal(0, 1) })).given({ y: [] }), /y: there are no values/);
  });
  test("arguments that make no sense, in the model and among data", () => {
    const throwsFor = (make: (s: Tensor) => RandomVariable, s: number[], message: RegExp) => {
      const latent = model((own: { s: Tensor }) => ({ v: make(own.s) }));
      assert.throws(() => latent.given({}, { s: f64(s) }), message);
      const observed = model((own: { s: Tensor }) => ({ m: normal(0, 1), v: make(own.s) }));
      assert.throws(() => observed.given({ v: s.map(() => 0.5) }, { s: f64(s) }), message);
    };
    throwsFor((s) => normal(0, s), [1, -1], /v: normal: scale\[1\] is -1; it is a positive number/);
    throwsFor((s) => normal(0, [1, s.at(0)]), [-2, 1], /v: normal: scale is -2; it is a positive number/);
    throwsFor((s) => halfNormal(s), [Number.NaN, 1], /v: halfNormal: scale\[0\] is NaN/);
    throwsFor(() => normal(0, -1), [1], /v: normal: scale is -1/);
    throwsFor(() => uniform(2, 1), [1], /v: uniform: low is 2 and high is 1; low is less than high/);
    throwsFor((s) => uniform(1, s), [2, 0.5], /v: uniform: low is 1 and high is 0\.5/);
    throwsFor(
      (s) => truncatedNormal(0, 1, { low: 1, high: s }),
      [0.5],
      /v: truncatedNormal: low is 1 and high is 0\.5/,
    );
    throwsFor((s) => mixture([0.5, 0.5], [normal(0, s), normal(0, 1)]), [-1], /v: normal: scale is -1/);
    throwsFor((s) => mixture([s.at(0), 0.5], [normal(0, 1), normal(1, 1)]), [-1], /v: mixture: weights is -1/);
    throwsFor((s) => censored(normal(0, s), { high: 3 }), [-1], /v: (normal: scale is -1|a censored)/);
    const walk = model(({ s }: { s: Tensor }) => ({ v: gaussianRandomWalk(s, { steps: 3 }) }));
    assert.throws(() => walk.given({}, { s: f64(-1) }), /v: gaussianRandomWalk: scale is -1/);
    // An argument that depends on what is sampled has no value yet.
    assert.equal(model(() => ({ v: normal(0, normal(0, 1).square()) })).given({}).dim, 2);
  });
  test("a shape that does not fit", () => {
    assert.throws(
      () => regression.given({ y: [1, 2] }, { x }),
      /y: the data have the shape \[2\], but normal has \[3\]/,
    );
    assert.throws(
      () => model(() => ({ a: normal(0, 1), v: normal(0, 1).shape(2) })).given({ v: [1, 2, 3] }),
      /v: the data have the shape \[3\], but normal has \[2\]/,
    );
    assert.throws(() => model(() => ({ v: normal(f64([1, 2, 3]), 1).shape(2) })).given({}), /v: normal: its arguments/);
    assert.throws(() => model(() => ({ v: normal(f64([1, 2]), f64([1, 2, 3])) })).given({}), /v: .*do not broadcast/);
  });
  test("values outside the support", () => {
    const counts = model(() => ({ rate: gamma(1, 1), k: poisson(3) }));
    assert.throws(() => counts.given({ k: [1, -2] }), /k: value 1 is -2, but poisson takes whole numbers from 0 on/);
    assert.throws(() => counts.given({ k: [1.5] }), /k: .*1\.5/);
    const shares = model(() => ({ a: gamma(1, 1), p: beta(1, 1) }));
    assert.throws(() => shares.given({ p: 1.2 }), /p: the value is 1\.2\d*, but beta takes numbers from 0 to 1/);
    assert.throws(
      () => regression.given({ y: [1, Number.NaN, 3] }, { x }),
      /y: value 1 is NaN, but normal takes finite/,
    );
    // Where the support depends on what is sampled, only the density can tell.
    model(() => {
      const top = gamma(1, 1);
      return { top, v: uniform(0, top) };
    }).given({ v: 100 });
  });
  test("a log density of one's own that is not one number for each draw", () => {
    const square = (x: Tensor) => x.square().mul(-0.5);
    const whole = custom({ logDensity: (x) => square(x).sum() });
    assert.throws(
      () => model(() => ({ v: custom({ logDensity: (x) => square(x).sum() }).shape(3) })).given({}),
      /v: custom: logDensity gives \[\] for values of \[3\], .*\[3\].*without \.sum\(\)/,
    );
    assert.throws(() => whole.distribution.logDensity(f64([1, 2])), /custom: logDensity gives \[\]/);
    assert.throws(
      () => model(() => ({ a: normal(0, 1), v: custom({ logDensity: square, eventShape: [2] }) })).given({ v: [1, 2] }),
      /v: custom: logDensity gives \[2\] for values of \[2\], .*\[\]/,
    );
    // @ts-expect-error a number is no tensor
    assert.throws(() => custom({ logDensity: () => 1 }).distribution.logDensity(f64(1)), /logDensity gives number/);
    const vector = model(() => ({ v: custom({ logDensity: (x) => square(x).sum({ axis: -1 }), eventShape: [3] }) }));
    close(at(vector.given({}).logDensity(f64([1, 2, 3]))), -7);
  });
  test("a discrete variable that is not observed", () => {
    assert.throws(() => model(() => ({ p: beta(1, 1), k: bernoulli(0.5) })).given({}), /k: a bernoulli.*mixture/);
  });
  test("nothing to infer", () => {
    assert.throws(() => model(() => ({ y: normal(0, 1) })).given({ y: 1 }), /nothing to infer/);
    assert.throws(() => model(() => ({ y: f64(1) })).given({}), /nothing to infer/);
  });
  test("one variable under two names", () => {
    const twice = model(() => {
      const a = normal(0, 1);
      return { a, b: a };
    });
    assert.throws(() => twice.given({}), /a and b are the same variable/);
  });
  test("functions that return something else", () => {
    // @ts-expect-error returns a tensor
    assert.throws(() => model(() => f64(1)).given({}), /returns an object/);
    // @ts-expect-error returns a number
    assert.throws(() => model(() => ({ a: 1 })).given({}), /a is number/);
    // @ts-expect-error is async
    assert.throws(() => model(async () => ({ a: normal(0, 1) })).given({}), /async/);
  });
  test("functions that differ from run to run", () => {
    let runs = 0;
    const fickle = model(() => {
      runs++;
      const a = normal(0, 1);
      return runs > 2 ? { a, b: normal(a, 1) } : { a, b: a.add(1) };
    });
    const posterior = fickle.given({});
    assert.throws(() => posterior.logDensity(f64([0])), /different variables each time/);
  });
  test("weights of a mixture that are not one for each component", () => {
    const two = () => [normal(0, 1), normal(5, 1)];
    const wrong: readonly (readonly [() => unknown, RegExp])[] = [
      [() => mixture([1], normal([0, 5], 1)), /mixture: 1 weights for 2 components/],
      [() => mixture(f64([1]), normal([0, 5], 1)), /mixture: 1 weights for 2 components/],
      [() => mixture(f64([[1], [1]]), normal([0, 5], 1)), /mixture: 1 weights for 2 components/],
      [() => mixture([1], two()), /mixture: 1 weights for 2 components/],
      [() => mixture([0.2, 0.3, 0.5], normal([0], 1)), /mixture: 3 weights for 1 components/],
      [() => mixtureLogits([0], normal([0, 5], 1)), /mixture: 1 weights for 2 components/],
      [() => mixture(0.5, normal([0, 5], 1)), /mixture: a single number as weights for 2 components/],
      [() => mixture(f64(0.5), normal([0, 5], 1)), /mixture: a single number as weights for 2/],
      [() => mixture(0.5, two()), /mixture: a single number as weights for 2/],
      [() => mixtureLogits(0, normal([0, 5], 1)), /mixture: a single number as weights for 2/],
    ];
    for (const [make, message] of wrong) assert.throws(make, message);
    const latent = (shape: number[], make: (w: RandomVariable) => RandomVariable) =>
      model(() => {
        const w = beta(1, 1).shape(shape);
        return { w, y: make(w) };
      });
    assert.throws(() => latent([], (w) => mixture(w, normal([0, 5], 1))).given({ y: 1 }), /a single number as weights/);
    assert.throws(() => latent([1], (w) => mixture(w, normal([0, 5], 1))).given({ y: 1 }), /1 weights for 2 comp/);
    // Each has one: at the first of two components far apart, the density is that one's share.
    const { distribution } = mixture(f64([0.25, 0.75]), normal([0, 50], 1));
    const share = Math.log(0.25) - 0.5 * Math.log(2 * Math.PI);
    assert.ok(Math.abs((distribution.logDensity(f64(0)).itemSync() as number) - share) < 1e-12);
  });
  test("probabilities that do not sum to 1, where they are known", () => {
    const off = (make: () => unknown, message: RegExp) => assert.throws(make, message);
    const two = () => [normal(0, 1), normal(1, 1)];
    off(() => categorical([0.5, 0.6]), /categorical: probabilities sum to 1\.1, not to 1; .* or use categoricalLogits/);
    off(() => multinomial(3, [0.5, 0.25, 0.2]), /multinomial: probabilities sum to 0\.95, not to 1; divide/);
    off(() => mixture([1, 2], two()), /mixture: weights is 2/);
    off(() => mixture([0.2, 0.2], two()), /mixture: weights sum to 0\.4, not to 1; .* or use mixtureLogits/);
    off(() => mixture([0.2, 0.2], normal([0, 1], 1)), /mixture: weights sum to 0\.4/);
    const among = (make: (s: Tensor) => RandomVariable, s: number[] | number[][]) => () =>
      model((own: { s: Tensor }) => ({ m: normal(0, 1), v: make(own.s) })).given({ v: [1, 1] }, { s: f64(s) });
    off(
      among((s) => categorical(s), [0.5, 0.4]),
      /v: categorical: probabilities sum to 0\.9/,
    );
    off(
      among(() => categorical([0.5, 0.6]), [1]),
      /v: categorical: probabilities sum to 1\.1/,
    );
    off(
      among(
        (s) => categorical(s),
        [
          [0.5, 0.5],
          [0.5, 0.4],
        ],
      ),
      /v: categorical: probabilities sum to 0\.9/,
    );
    off(
      among((s) => mixture(s, two()), [0.5, 0.4]),
      /v: mixture: weights sum to 0\.9/,
    );
    off(
      among((s) => mixture(s, normal([0, 1], 1)), [0.5, 0.4]),
      /v: mixture: weights sum to 0\.9/,
    );
    // The list is over components, whatever the axes of its parts.
    off(
      among(
        (s) => mixture([s.at(0), s.at(1)], two()),
        [
          [0.5, 0.1],
          [0.5, 0.8],
        ],
      ),
      /v: mixture: weights sum to 0\.9/,
    );
    off(
      among((s) => mixture([0.5, s], two()), [0.5, 0.4]),
      /v: mixture: weights sum to 0\.9/,
    );
    among(
      (s) => mixture([s.at(0), s.at(1)], two()),
      [
        [0.5, 0.1],
        [0.5, 0.9],
      ],
    )();
    among((s) => categorical(s), [[0.1, 0.2, 0.7]])();
    const thirds = tensor([1 / 3, 1 / 3, 1 / 3], { dtype: "f32" });
    model(() => ({ m: normal(0, 1), v: categorical(thirds) })).given({ v: [2] });
    // What is sampled is nobody's to check.
    model(() => {
      const w = dirichlet([1, 1]);
      return { w, v: mixture(w.mul(3), two()) };
    }).given({ v: [1] });
  });
  test("matrices that are no covariance or no lower factor, where they are known", () => {
    const off = (spread: Parameters<typeof mvNormal>[1], message: RegExp) => {
      assert.throws(() => mvNormal(0, spread), message);
      const [[kind, matrix]] = Object.entries(spread) as [[string, number[][]]];
      const among = model(({ m }: { m: Tensor }) => ({ v: mvNormal(0, { [kind]: m } as typeof spread) }));
      assert.throws(() => among.given({}, { m: f64(matrix) }), new RegExp(`v: ${message.source}`));
    };
    const [upper, flipped] = [
      [
        [1, 0.5],
        [0, 1],
      ],
      [
        [-1, 0],
        [0.5, 1],
      ],
    ];
    const crooked = [
      [2, 0.5],
      [0.4, 1],
    ];
    off({ cholesky: upper }, /mvNormal: cholesky\[0,1\] is 0\.5; .* lower triangular, .* transpose/);
    off({ cholesky: flipped }, /mvNormal: cholesky\[0,0\] is -1; .* diagonal .* positive/);
    off({ covariance: crooked }, /mvNormal: covariance\[0,1\] is 0\.5 and \[1,0\] is 0\.4; .* symmetric/);
    off({ precision: crooked }, /mvNormal: precision\[0,1\] is 0\.5 and \[1,0\] is 0\.4/);
    off({ covariance: [[1, 0]] }, /mvNormal: covariance is 1 × 2; it is square/);
    const indefinite = [
      [1, 2],
      [2, 1],
    ];
    off({ covariance: indefinite }, /mvNormal: covariance is not positive definite/);
    off({ precision: indefinite }, /mvNormal: precision is not positive definite/);
    const rounded = [
      [2, 0.5],
      [0.5 + 1e-7, 1],
    ];
    model(() => ({ v: mvNormal(0, { covariance: rounded }) })).given({});
  });
  test("functions that read the values of variables", () => {
    const nosy = model(() => {
      const a = normal(0, 1);
      return (a.itemSync() as number) > 0 ? { a } : { a };
    });
    assert.throws(() => nosy.given({}), /value of a tensor .* was asked for/);
  });
  test("arguments that make no sense", () => {
    assert.throws(() => normal(0, -1), /normal: scale is -1; it is a positive number/);
    assert.throws(() => bernoulli(1.5), /bernoulli: probability is 1\.5/);
    assert.throws(() => normal(Number.NaN, 1), /location is NaN/);
    assert.throws(() => gamma(1, 1).noncentered(), /noncentered\(\) is for/);
    assert.throws(() => mixture([0.5, 0.5], [normal(0, 1).shape(3), normal(0, 2)]), /mixture: its part normal/);
    assert.throws(
      () => model(() => ({ v: normal(0, 1).shape(2).noncentered().constrained(ordered) })).given({}),
      /v: a variable is either/,
    );
  });
  test("free numbers of the wrong number or dtype", () => {
    const posterior = regression.given({ y: [1, 2, 3] }, { x });
    assert.throws(() => posterior.logDensity(f64([1, 2])), /1 free numbers: give a vector \[1\], not \[2\]/);
    assert.throws(() => posterior.logDensity(tensor([1], { dtype: "i32", device: "cpu" })), /floats, not i32/);
    assert.throws(() => posterior.unconstrain({}), /no value of b; it takes b/);
    assert.throws(() => posterior.unconstrain({ b: [1, 2] }), /b has the shape \[\], not \[2\]/);
  });
});
