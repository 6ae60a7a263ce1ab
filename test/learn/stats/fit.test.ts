/** Tests of Kolmogorov & Smirnov and of Shapiro & Wilk against the values of make-fit-cases.py; transforms, batches, NaN and misuse. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";
import { grad, jit, type Tensor, vmap } from "../../../src/index.js";
import { stats } from "../../../src/learn/index.js";
import { kolmogorovChance, pathChance } from "../../../src/learn/stats/kolmogorov-chances.js";
import { describeOnTensorDevices, f64, numbersOf } from "../../support/tensors.js";

interface Wanted {
  readonly statistic: number;
  readonly pValue: number;
}

interface FitCase extends Wanted {
  readonly x: number[];
  readonly y: number[];
  readonly distribution: "normal" | "uniform";
  readonly options: stats.RankTestOptions;
}

interface FitCases {
  readonly distances: readonly {
    n: number;
    d: number;
    alternative: stats.Alternative;
    want: number;
    within: number;
  }[];
  readonly one: readonly FitCase[];
  readonly two: readonly FitCase[];
  readonly shapiro: readonly FitCase[];
  readonly wide: Readonly<Record<stats.Alternative, Wanted>>;
}

const cases = JSON.parse(readFileSync(resolve("test/learn/stats/fit-cases.json"), "utf8")) as FitCases;

const uniform = (x: Tensor): Tensor => x.clip(0, 1) as Tensor;
const cdfs = { normal: stats.normalCdf, uniform } as const;
const value = (of: Tensor): number => numbersOf(of)[0] as number;

/** The statistic, and the p value relatively. */
function check(found: stats.TestResult, want: Wanted, within: number, what: string): void {
  for (const part of ["statistic", "pValue"] as const) {
    const [got, right] = [value(found[part]), want[part]];
    assert.ok(Math.abs(got - right) <= within * right, `${what}: ${part} is ${got}, not ${right}`);
  }
}

test("chances of a distance are right for few and many observations, far in the tails too", () => {
  for (const { n, d, alternative, want, within } of cases.distances) {
    const got = kolmogorovChance(d, n, alternative);
    assert.ok(Math.abs(got - want) <= within * want, `n ${n}, d ${d}, ${alternative}: ${got}, not ${want}`);
  }
});

test("the distance of one observation has closed forms", () => {
  for (const d of [0.5, 0.6, 0.99]) {
    assert.ok(Math.abs(kolmogorovChance(d, 1, "twoSided") - 2 * (1 - d)) < 1e-15);
    assert.ok(Math.abs(kolmogorovChance(d, 1, "less") - (1 - d)) < 1e-15);
  }
  // Two orders of three leave at a distance of 1: all of one sample first.
  assert.ok(Math.abs(pathChance(1, 2, (i, j) => Math.abs(2 * i - j) >= 2) - 2 / 3) < 1e-15);
});

test("kolmogorovSmirnov has SciPy's values in f64", () => {
  const on = { dtype: "f64", device: "cpu" } as const;
  for (const { x, distribution, options, ...want } of cases.one) {
    const found = stats.kolmogorovSmirnov(x, cdfs[distribution], { ...options, ...on });
    check(found, want, 1e-9, `${x.length} ${distribution} ${JSON.stringify(options)}`);
  }
  for (const { x, y, options, ...want } of cases.two) {
    const found = stats.kolmogorovSmirnov(x, y, { ...options, ...on });
    check(found, want, 1e-10, `${x.length}, ${y.length} ${JSON.stringify(options)}`);
  }
});

test("samples that are too large for exact values have SciPy's, too", () => {
  const many = f64(Array.from({ length: 12_000 }, (_, i) => ((i * 7919) % 12_007) / 12_007));
  const few = f64(Array.from({ length: 3000 }, (_, i) => (((i * 104_729) % 3001) / 3001) ** 1.05));
  for (const alternative of ["twoSided", "less", "greater"] as const) {
    check(stats.kolmogorovSmirnov(many, few, { alternative }), cases.wide[alternative], 1e-6, alternative);
  }
});

test("shapiroWilk has the values of AS R94 in doubles", () => {
  for (const { x, ...want } of cases.shapiro) check(stats.shapiroWilk(f64(x)), want, 1e-9, `${x.length} observations`);
});

describeOnTensorDevices("tests of fit in f32", (device) => {
  test("they have the same values", () => {
    for (const { x, distribution, options, ...want } of cases.one.slice(0, 6)) {
      check(stats.kolmogorovSmirnov(x, cdfs[distribution], { ...options, device }), want, 2e-4, distribution);
    }
    for (const { x, y, options, ...want } of cases.two.slice(0, 8)) {
      check(stats.kolmogorovSmirnov(x, y, { ...options, device }), want, 2e-5, `${x.length}, ${y.length}`);
    }
    for (const { x, ...want } of cases.shapiro.slice(2, 10)) {
      check(stats.shapiroWilk(x, { device }), want, 2e-4, `${x.length} observations`);
    }
  });
});

test("limits and Shapiro & Wilk go through jit, vmap and grad, and take batches", () => {
  const rows = f64([[1, 4, 2, 8, 5], [2, 3, 9, 1, 4], [0, 1, 1, 5, 7]]); // biome-ignore format: a matrix
  const other = f64([2, 3, 5, 7, 11, 13]);
  const limits = [
    (x: Tensor): Tensor => stats.shapiroWilk(x).pValue,
    (x: Tensor): Tensor => stats.kolmogorovSmirnov(x, other, { method: "asymptotic" }).pValue,
    (x: Tensor): Tensor =>
      stats.kolmogorovSmirnov(x, (at) => stats.normalCdf(at.sub(4).div(3)), { method: "asymptotic" }).pValue,
  ];
  for (const limit of limits) {
    const wanted = [0, 1, 2].map((i) => value(limit(rows.at(i) as Tensor)));
    for (const found of [vmap(limit)(rows), jit(vmap(limit))(rows)]) {
      for (const [i, p] of numbersOf(found).entries()) assert.ok(Math.abs(p - (wanted[i] as number)) < 1e-14);
    }
  }
  const batch = stats.kolmogorovSmirnov(rows, (at) => stats.normalCdf(at.sub(4).div(3)), { axis: 1 }).pValue;
  const wanted = [0, 1, 2].map((i) => value((limits[2] as (x: Tensor) => Tensor)(rows.at(i) as Tensor)));
  for (const [i, p] of numbersOf(batch).entries()) assert.ok(Math.abs(p - (wanted[i] as number)) < 1e-14);
  const [shapiro] = limits as [(x: Tensor) => Tensor];
  const moved = (step: number): Tensor => f64([1, 4, 2, 8 + step, 5]);
  const slope = numbersOf(grad((x: Tensor) => shapiro(x))(moved(0)))[3] as number;
  assert.ok(Math.abs(slope - (value(shapiro(moved(1e-5))) - value(shapiro(moved(-1e-5)))) / 2e-5) < 1e-8);
});

test("NaN and constant samples", () => {
  const x = f64([1, Number.NaN, 3, 4]);
  const results = [stats.shapiroWilk(x), stats.shapiroWilk(f64([2, 2, 2, 2]))];
  for (const method of ["auto", "exact", "asymptotic"] as const) {
    results.push(
      stats.kolmogorovSmirnov(x, stats.normalCdf, { method }),
      stats.kolmogorovSmirnov(x, [1, 2], { method }),
    );
  }
  for (const { statistic, pValue } of results) {
    assert.deepEqual([value(statistic), value(pValue)], [Number.NaN, Number.NaN]);
  }
});

test("misuse is refused by name", () => {
  const matrix = [[1, 2], [3, 4]]; // biome-ignore format: a matrix
  assert.throws(() => stats.shapiroWilk([1, 2]), /stats.shapiroWilk: a sample has 2 observations; it takes three/);
  assert.throws(() => stats.kolmogorovSmirnov([1, 2], (x) => x.sum() as Tensor), /it keeps the shape/);
  assert.throws(() => stats.kolmogorovSmirnov([1, 2], () => 3 as unknown as Tensor), /gives no tensor/);
  assert.throws(() => stats.kolmogorovSmirnov([], [1]), /a sample is empty/);
  assert.throws(() => stats.kolmogorovSmirnov(matrix, stats.normalCdf, { method: "exact" }), /a batch takes/);
});
