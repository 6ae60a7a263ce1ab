/**
 * Every distribution that takes plain arguments, by what all of them have in common: the density is one of probability, draws
 * follow it, moments and distribution functions are its integrals, gradients its slopes, and the ways to write it agree.
 * Integrals are sums over a fine grid of free numbers, in f64; a kink in a density, as of laplace, costs them the fifth digit.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { deferringErrors } from "../../../src/bayes/arguments/deferred-errors.js";
import { sumOfTerms } from "../../../src/bayes/numerics/terms.js";
import type { Distribution } from "../../../src/bayes/variables/distribution.js";
import { UnsupportedError } from "../../../src/core/errors.js";
import { sizeOf } from "../../../src/core/shape.js";
import { key } from "../../../src/random/key.js";
import type { Tensor } from "../../../src/tensor/index.js";
import { grad } from "../../../src/transforms/grad.js";
import { vmap } from "../../../src/transforms/vmap.js";
import { expectDistribution, expectFrequencies } from "../../support/goodness-of-fit.js";
import { f64, numbersOf } from "../../support/tensors.js";
import { makerOf } from "./cases.js";
import { argumentsFor, sweptNames } from "./rule-arguments.js";

const DRAWS = 20000;
const onCpu = { dtype: "f64", device: "cpu" } as const;

/** Points of the support with the probability that each stands for. */
interface Grid {
  /** [points, ...shape of a draw]. */
  readonly x: Tensor;
  readonly masses: readonly number[];
}

/** Counts up to this are looked at; the arguments make larger ones impossible, or nearly so. */
const MOST = 2000;

/** All vectors of whole numbers with so many elements and such a sum. */
function compositions(length: number, total: number): number[][] {
  if (length === 1) return [[total]];
  return Array.from({ length: total + 1 }, (_, first) => first).flatMap((first) =>
    compositions(length - 1, total - first).map((rest) => [first, ...rest]),
  );
}

function gridOf(distribution: Distribution, args: readonly unknown[]): Grid {
  const { support, eventShape } = distribution;
  if (!support.bijection) {
    const counts =
      eventShape.length === 0
        ? f64(Array.from({ length: MOST }, (_, n) => n))
        : f64(compositions(eventShape[0]!, args.find((arg) => typeof arg === "number") as number));
    return { x: counts, masses: numbersOf(distribution.logDensity(counts)).map(Math.exp) };
  }
  const { bijection } = support;
  const dim = sizeOf(bijection.freeShape(eventShape));
  // u = sinh t reaches far into heavy tails, and sums over equal steps of t converge fast.
  const [end, step] = dim === 1 ? [36, 1 / 256] : [5, 1 / 12];
  const count = Math.round((2 * end) / step) + 1;
  const ts = Array.from({ length: count }, (_, i) => -end + i * step);
  const axes = Array.from({ length: dim }, () => ts);
  const points = axes.reduce<number[][]>((all, axis) => all.flatMap((point) => axis.map((t) => [...point, t])), [[]]);
  const free = f64(points.map((point) => point.map(Math.sinh)));
  const shaped = eventShape.length === 0 ? free.squeeze(-1) : free;
  const { value, logJacobian } = bijection.forward(shaped, [points.length, ...eventShape]);
  const logs = numbersOf(distribution.logDensity(value).add(logJacobian));
  const masses = logs.map((log, i) => {
    const stretch = points[i]!.reduce((product, t) => product * Math.cosh(t) * step, 1);
    // Far out the value may be infinite, or the end of the support itself.
    return Number.isFinite(log) ? Math.exp(log) * stretch : 0;
  });
  return { x: value, masses };
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** Expectations under the grid, of every element of a draw. */
function expectationsOf({ x, masses }: Grid, of: (value: number, element: number) => number): number[] {
  const size = x.size / masses.length;
  const values = numbersOf(x);
  return Array.from({ length: size }, (_, e) =>
    sum(masses.map((mass, i) => (mass === 0 ? 0 : mass * of(values[i * size + e]!, e)))),
  );
}

function expectClose(found: readonly number[], expected: readonly number[], tolerance: number, what: string): void {
  assert.equal(found.length, expected.length, what);
  expected.forEach((value, i) => {
    const isClose = Math.abs(found[i]! - value) <= tolerance * Math.max(1, Math.abs(value));
    assert.ok(isClose, `${what}: number ${i} is ${found[i]}, not ${value}`);
  });
}

/** A closed form, or null where there is none or it is not finite. */
function closedForm(of: () => Tensor): number[] | null {
  try {
    const found = numbersOf(of());
    return found.every(Number.isFinite) ? found : null;
  } catch (error) {
    if (error instanceof UnsupportedError) return null;
    throw error;
  }
}

function expectDraws(distribution: Distribution, grid: Grid, what: string): void {
  const { isDiscrete } = distribution.support;
  const drawn = distribution.sample(key(11, { device: "cpu" }), [DRAWS], { dtype: isDiscrete ? "i32" : "f64" });
  assert.ok(numbersOf(distribution.support.holds(drawn.cast("f64"))).every(Boolean), `${what}: inside the support`);
  const draws = numbersOf(drawn);
  if (distribution.eventShape.length > 0) {
    const size = sizeOf(distribution.eventShape);
    const means = expectationsOf(grid, (value) => value);
    const variances = expectationsOf(grid, (value, e) => (value - means[e]!) ** 2);
    means.forEach((mean, e) => {
      const own = draws.filter((_, i) => i % size === e);
      const z = (sum(own) / DRAWS - mean) / Math.sqrt(variances[e]! / DRAWS);
      assert.ok(Math.abs(z) < 4, `${what}: element ${e} of the draws is off by ${z} standard errors on average`);
    });
    return;
  }
  if (isDiscrete) {
    const counts = grid.masses.map(() => 0);
    for (const draw of draws) counts[draw]!++;
    expectFrequencies(counts, grid.masses, what);
    return;
  }
  expectDistribution(draws, cdfOf(grid), what);
}

/** The distribution function, interpolated between the points of a grid, which rise. */
function cdfOf({ x, masses }: Grid): (value: number) => number {
  const values = numbersOf(x);
  let total = 0;
  // Of the mass of a point, half lies to either side.
  const below = masses.map((mass) => {
    total += mass;
    return total - mass / 2;
  });
  const isRising = values[values.length - 1]! > values[0]!;
  assert.ok(isRising, "free numbers lead upwards");
  return (value) => {
    let [low, high] = [0, values.length - 1];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (values[middle]! <= value) low = middle;
      else high = middle;
    }
    const width = values[high]! - values[low]!;
    const share = width > 0 && Number.isFinite(width) ? (value - values[low]!) / width : 0;
    return below[low]! + share * (below[high]! - below[low]!);
  };
}

/** Numbers of a few points that carry mass, where the density is looked at. */
function pointsOf({ masses }: Grid): number[] {
  const likely = masses.flatMap((mass, i) => (mass > 1e-6 ? [i] : []));
  return [...new Set([0.13, 0.41, 0.58, 0.87].map((share) => likely[Math.floor(share * likely.length)]!))];
}

/** The slope of a function by how far its argument is moved, from differences over a small part of a width. */
function slopeOf(f: (by: number) => number, width: number): number {
  const central = (h: number) => (f(h) - f(-h)) / (2 * h);
  // Extrapolated: the error is of order h⁴.
  return (4 * central(width * 2 ** -11) - central(width * 2 ** -10)) / 3;
}

const flat = (arg: number | number[]): number[] => (typeof arg === "number" ? [arg] : arg);

for (const name of sweptNames) {
  describe(name, () => {
    for (const args of argumentsFor(name)) {
      const make = (given: readonly unknown[] = args): Distribution => makerOf(name)(...given).distribution;
      const title = `${name}(${JSON.stringify(args).slice(1, -1)})`;
      const grid = gridOf(make(), args);

      test(`${title} is a probability, and its draws follow it`, () => {
        expectClose([sum(grid.masses)], [1], 5e-5, "all probability");
        expectDraws(make(), grid, title);
      });

      test(`${title} has its moments and distribution function`, () => {
        const distribution = make();
        const mean = closedForm(() => distribution.mean(onCpu));
        // The mean of angles is a direction, not an average.
        if (mean && distribution.support.name !== "angle") {
          expectClose(
            mean,
            expectationsOf(grid, (value) => value),
            1e-4,
            "mean",
          );
          const variance = closedForm(() => distribution.variance(onCpu));
          if (variance) {
            expectClose(
              variance,
              expectationsOf(grid, (value, e) => (value - mean[e]!) ** 2),
              1e-4,
              "variance",
            );
          }
        }
        const { logCdf, logSurvival } = distribution;
        assert.equal(logCdf === undefined, logSurvival === undefined, "both or neither");
        if (!logCdf || !logSurvival) return;
        const x = grid.x.take(f64(pointsOf(grid)).cast("i32"));
        const below = numbersOf(logCdf(x)).map(Math.exp);
        expectClose(below, numbersOf(x).map(cdfOf(grid)), 1e-4, "distribution function");
        expectClose(
          numbersOf(logSurvival(x)).map(Math.exp),
          below.map((p) => 1 - p),
          1e-9,
          "survival",
        );
      });

      test(`${title} has gradients that are slopes, by arguments and values`, () => {
        const { parameters = [], eventShape, support } = make();
        for (const i of pointsOf(grid)) {
          const x = grid.x.at(i);
          args.forEach((arg, a) => {
            const { rule } = parameters[a]!;
            // Whole numbers have no slope, and probabilities only together.
            if (!rule.isValid(0.5) || (rule.joint && rule.within)) return;
            const density = (values: Tensor) =>
              make(args.map((other, b) => (b === a ? values : other)))
                .logDensity(x)
                .sum();
            const values = flat(arg);
            const like = (numbers: readonly number[]) =>
              typeof arg === "number" ? f64(numbers[0]!) : f64([...numbers]);
            const slopes = numbersOf(grad(density)(like(values)));
            const expected = values.map((_, e) =>
              slopeOf((by) => density(like(values.with(e, values[e]! + by))).itemSync() as number, 0.25),
            );
            expectClose(slopes, expected, 1e-6, `by ${parameters[a]!.name}`);
          });
          if (eventShape.length > 0 || !support.bijection) continue;
          const own = (value: Tensor) => make().logDensity(value);
          const value = x.itemSync() as number;
          const width = Math.min(1, Math.abs(value)) / 16 || 1 / 16;
          const slope = slopeOf((by) => own(f64(value + by)).itemSync() as number, width);
          expectClose([grad(own)(x).itemSync() as number], [slope], 1e-5, `by the value ${value}`);
        }
      });

      test(`${title} is the same however it is written`, () => {
        const distribution = make();
        const { support, eventShape, noncentered, freeTerms } = distribution;
        const x = grid.x.take(f64(pointsOf(grid)).cast("i32"), { axis: 0 });
        const expected = numbersOf(distribution.logDensity(x));
        const total = (terms: ReturnType<Distribution["terms"]>) =>
          numbersOf(sumOfTerms([...terms, x.mul(0).reshape([x.shape[0]!, -1]).sum({ axis: -1 })]) as Tensor);
        expectClose(total(distribution.terms(x)), expected, 1e-10, "terms");
        expectClose(total(distribution.terms(x, true)), expected, 1e-9, "short terms");
        if (freeTerms && support.bijection) {
          const free = support.bijection.inverse(x);
          expectClose(total(freeTerms(free)), expected, 1e-9, "terms by free numbers");
          expectClose(total(freeTerms(free, true)), expected, 1e-9, "short terms by free numbers");
        }
        const batch = make(args.map((arg) => (typeof arg === "number" ? f64([arg, arg]) : f64([arg, arg]))));
        assert.deepEqual([batch.batchShape, batch.eventShape], [[2], eventShape]);
        const both = numbersOf(batch.logDensity(x.expandDims(1)));
        expectClose(
          both,
          expected.flatMap((log) => [log, log]),
          1e-12,
          "arguments with an axis",
        );
        if (!noncentered || eventShape.length > 0) return;
        const { base, forward, inverse } = noncentered();
        const z = inverse(x);
        expectClose(numbersOf(forward(z)), numbersOf(x), 1e-12, "there and back");
        const stretch = numbersOf(vmap(grad((one: Tensor) => forward(one)))(z)).map((s) => Math.log(Math.abs(s)));
        const standard = numbersOf(base.logDensity(z)).map((log, i) => log - stretch[i]!);
        expectClose(standard, expected, 1e-10, "by standard numbers");
      });
    }

    test("refuses what its rules refuse, by the name of the argument", () => {
      const [args] = argumentsFor(name);
      const { parameters = [] } = deferringErrors(() => makerOf(name)(...args!)).distribution;
      parameters.forEach(({ name: parameter }, i) => {
        const wrong = args!.map((arg, j) =>
          j !== i ? arg : typeof arg === "number" ? Number.NaN : arg.with(0, Number.NaN),
        );
        assert.throws(() => makerOf(name)(...wrong), new RegExp(`^ArgumentError: ${name}: ${parameter} is NaN`));
      });
    });
  });
}
