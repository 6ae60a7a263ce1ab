/** Moments and tests against SciPy's values, which make-stats-cases.py writes; transforms, devices, NaN and misuse. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";
import { grad, jit, type Tensor, vmap } from "../../../src/index.js";
import { stats } from "../../../src/learn/index.js";
import { describeOnTensorDevices, f64, numbersOf } from "../../support/tensors.js";

type Values = readonly (number | string | null)[];

interface StatsCase {
  readonly name: string;
  readonly args: readonly unknown[];
  readonly options: Readonly<Record<string, unknown>>;
  readonly want: Values | Readonly<Record<string, Values>>;
}

const cases = JSON.parse(readFileSync(resolve("test/learn/stats/stats-cases.json"), "utf8")) as readonly StatsCase[];

const isList = (want: StatsCase["want"]): want is Values => Array.isArray(want);

/** Relative to the largest value; p values, which may be tiny, each by itself. */
function near(found: Tensor, want: Values, within: number, what: string): void {
  const [got, wanted] = [numbersOf(found), want.map((each) => (each === null ? Number.NaN : Number(each)))];
  assert.equal(got.length, wanted.length, `${what}: the number of values`);
  const size = Math.max(1e-3, ...wanted.filter(Number.isFinite).map(Math.abs));
  got.forEach((value, i) => {
    const right = wanted[i] as number;
    const allowed = within * (what.endsWith("pValue") ? right : size);
    const isNear = Object.is(value, right) || value === right || Math.abs(value - right) <= allowed;
    assert.ok(isNear, `${what}: value ${i} is ${value}, not ${right}`);
  });
}

function check({ name, args, options, want }: StatsCase, place: object, within: number): void {
  const given = name === "wilcoxon" && args.length === 1 ? [...args, null] : args;
  const functions = stats as unknown as Record<string, (...given: unknown[]) => unknown>;
  const found = (functions[name] as (...given: unknown[]) => unknown)(...given, { ...options, ...place });
  const what = `${name}(${JSON.stringify(options)})`;
  if (isList(want)) near(found as Tensor, want, within, what);
  else {
    for (const [part, values] of Object.entries(want)) {
      near(
        (found as Record<string, Tensor>)[part] as Tensor,
        values,
        within,
        `${what}, ${JSON.stringify(given)}, ${part}`,
      );
    }
  }
}

for (const name of new Set(cases.map((each) => each.name))) {
  test(`${name} has SciPy's values in f64`, () => {
    for (const each of cases) if (each.name === name) check(each, { dtype: "f64", device: "cpu" }, 1e-10);
  });
}

describeOnTensorDevices("statistics in f32", (device) => {
  test("the first case of several tests has SciPy's values", () => {
    for (const name of ["tTestIndependent", "spearman", "kruskal", "wilcoxon", "kurtosis", "contingencyTest"]) {
      check(cases.find((each) => each.name === name) as StatsCase, { device }, 2e-5);
    }
  });
});

test("NaN among observations gives NaN, and exact tests refuse it", () => {
  const [x, y] = [f64([1, Number.NaN, 3, 4]), f64([2, 4, 3, 1])];
  const results = [stats.tTest(x), stats.pearson(x, y), stats.spearman(x, y), stats.kruskal([x, y])];
  results.push(stats.wilcoxon(x), stats.mannWhitney(x, y), stats.kendall(x, y), stats.levene([x, y]));
  for (const { statistic, pValue } of results)
    assert.deepEqual(numbersOf(statistic).concat(numbersOf(pValue)), [Number.NaN, Number.NaN]);
  for (const each of [stats.skew(x), stats.iqr(x), stats.trimmedMean(x), stats.sem(x)]) {
    assert.ok(Number.isNaN(numbersOf(each)[0]));
  }
  assert.throws(() => stats.mannWhitney(x, y, { method: "exact" }), /ties, zeros or NaN/);
});

test("tests are functions of tensors: jit, vmap and grad go through them", () => {
  const x = f64([[1, 4, 2, 8, 5], [2, 3, 9, 1, 4], [0, 1, 1, 5, 7]]); // biome-ignore format: a matrix
  const y = f64([2, 3, 5, 7, 11]);
  const value = (row: Tensor): Tensor => stats.spearman(row, y).pValue;
  const rows = [0, 1, 2].map((i) => numbersOf(value(x.at(i) as Tensor))[0] as number);
  for (const [i, p] of numbersOf(vmap(value)(x)).entries()) assert.ok(Math.abs(p - (rows[i] as number)) < 1e-14);
  assert.ok(Math.abs((numbersOf(jit(value)(x.at(0) as Tensor))[0] as number) - (rows[0] as number)) < 1e-14);
  const p = (shift: number): number => numbersOf(stats.tTest(x.at(0).add(shift) as Tensor).pValue)[0] as number;
  const slope = numbersOf(grad((s: Tensor) => stats.tTest(x.at(0).add(s) as Tensor).pValue)(f64(0)))[0] as number;
  assert.ok(Math.abs(slope - (p(1e-5) - p(-1e-5)) / 2e-5) < 1e-8);
});

test("misuse is refused by name", () => {
  assert.throws(() => stats.tTestPaired([1, 2], [1, 2, 3]), /stats.tTestPaired: the samples are paired/);
  assert.throws(() => stats.tTest([1, 2], { alternative: "more" as "less" }), /alternative/);
  assert.throws(() => stats.fisherExact([[1, 2, 3], [3, 4, 5]]), /the table is \[2, 2\]/); // biome-ignore format: a matrix
  assert.throws(() => stats.fisherExact([[1, 2.5], [3, 4]]), /a count is 2.5/); // biome-ignore format: a matrix
  assert.throws(() => stats.kendall([1, 1, 2], [1, 2, 3], { method: "exact" }), /nothing is exact/);
  assert.throws(() => stats.trimmedMean([1, 2], { share: 0.5 }), /share is 0.5/);
  assert.throws(() => stats.anova([[1, 2]]), /two samples or more/);
});

test("a rank correlation with a sample that does not vary is NaN, and so is its p value", () => {
  for (const n of [1, 3, 8, 40]) {
    const [steady, rising] = [Array(n).fill(3), Array.from({ length: n }, (_, i) => i)];
    for (const other of [rising, steady]) {
      const { statistic, pValue } = stats.kendall(steady, other, { dtype: "f64" });
      assert.ok(Number.isNaN(statistic.itemSync()) && Number.isNaN(pValue.itemSync()), `${n} pairs`);
    }
  }
});
