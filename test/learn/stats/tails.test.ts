/** Distribution functions against mpmath's values, which make-tails-cases.py writes; transforms, edges and misuse. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";
import { grad, jit, type Tensor, tensor, vmap } from "../../../src/index.js";
import { stats } from "../../../src/learn/index.js";
import { describeOnTensorDevices, f64, numbersOf } from "../../support/tensors.js";

interface TailCase {
  readonly name: "tSf";
  readonly args: readonly [number, number];
  readonly want: number;
}

const cases = JSON.parse(readFileSync(resolve("test/learn/stats/tails-cases.json"), "utf8")) as readonly TailCase[];

/** Relative errors of a function of the cases that f32 can hold, or of all. */
function checkCases(name: TailCase["name"], place: { device: string; dtype: "f32" | "f64" }, within: number): void {
  const own = cases.filter((each) => each.name === name && (place.dtype === "f64" || each.want > 1e-30));
  const columns = (own[0] as TailCase).args.map((_, i) =>
    tensor(
      own.map(({ args }) => args[i] as number),
      place,
    ),
  );
  const found = numbersOf(stats[name](...(columns as [Tensor, Tensor])));
  own.forEach(({ args, want }, i) => {
    const error = Math.abs((found[i] as number) - want);
    assert.ok(error <= within * want, `${name}(${args.join(", ")}) is ${found[i]}, not ${want}`);
  });
}

const names = [...new Set(cases.map(({ name }) => name))];

for (const name of names) {
  test(`${name} has mpmath's values to 1e-12, relatively, deep in the tails`, () => {
    checkCases(name, { device: "cpu", dtype: "f64" }, 1e-12);
  });
}

describeOnTensorDevices("distribution functions", (device) => {
  test("tails of t and χ² in f32", () => {
    checkCases("tSf", { device, dtype: "f32" }, 3e-5);
  });
});

test("edges and arguments outside", () => {
  const on = { dtype: "f64", device: "cpu" } as const;
  const { NaN: none, POSITIVE_INFINITY: inf } = Number;
  assert.deepEqual(numbersOf(stats.chiSquareSf([-1, 0, inf, none], 3, on)), [1, 1, 0, none]);
  assert.deepEqual(numbersOf(stats.chiSquareCdf([-1, 0, inf, none], 3, on)), [0, 0, 1, none]);
  assert.deepEqual(numbersOf(stats.fSf([-1, 0, inf, none], 3, 4, on)), [1, 1, 0, none]);
  assert.deepEqual(numbersOf(stats.tSf([-inf, 0, inf, none], 3, on)), [1, 0.5, 0, none]);
  assert.deepEqual(numbersOf(stats.tSf(1, [0, -1, none], on)), [none, none, none]);
  assert.deepEqual(numbersOf(stats.kolmogorovSf([-1, 0, inf, none], on)), [1, 1, 0, none]);
  assert.deepEqual(numbersOf(stats.betainc(2, 3, [0, 1, -0.1, 1.1], on)), [0, 1, none, none]);
});

test("they broadcast, trace and have gradients: densities", () => {
  const on = { dtype: "f64", device: "cpu" } as const;
  assert.deepEqual(stats.fSf(f64([[1], [2]]), [3, 4, 5], 6, on).shape, [2, 3]);
  const t = f64([-2, 0.5, 3]);
  const sf = (x: Tensor): Tensor => stats.tSf(x, 5);
  const want = numbersOf(sf(t));
  // A number that was seen with several values is data, and the compiler computes with it elsewhere: the last digit may differ.
  for (const found of [numbersOf(jit(sf)(t)), numbersOf(vmap(sf)(t))]) {
    for (const [i, value] of found.entries()) {
      assert.ok(Math.abs(value - want[i]!) <= 4e-16 * want[i]!, `${value}, not ${want[i]}`);
    }
  }
  const slopes = numbersOf(grad((x: Tensor) => stats.chiSquareSf(x, 4).sum())(f64([0.5, 3, 20])));
  [0.5, 3, 20].forEach((x, i) => {
    const density = (x / 4) * Math.exp(-x / 2);
    assert.ok(Math.abs((slopes[i] as number) + density) < 1e-12 * density + 1e-300, `${slopes[i]} and ${-density}`);
  });
});

test("misuse is refused by name", () => {
  assert.throws(() => stats.normalSf(1, { dtype: "f16" as "f32" }), /stats.normalSf: the option dtype is "f16"/);
  assert.throws(() => stats.fSf(1, 2, 3, { digits: 3 } as object), /stats.fSf: there is no option "digits"/);
});
