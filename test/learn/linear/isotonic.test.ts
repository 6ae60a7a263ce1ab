/** Isotonic regression against scikit-learn and against pooling written as a loop. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Tensor, tensor, vmap } from "../../../src/index.js";
import { isotonicRegression } from "../../../src/learn/index.js";
import { called, compareLinear } from "../../support/linear-cases.js";
import { randomFrom } from "../../support/random.js";
import { f64, numbersOf } from "../../support/tensors.js";

compareLinear(["isotonicRegression"], {
  make: ({ options }) => isotonicRegression(options),
  within: [1e-12, 1e-6],
  async more(model, each, x, within) {
    const places = tensor(
      (each.new as number[]).map((v) => [v]),
      { dtype: x.dtype, device: x.device },
    );
    const found = numbersOf(called(model, "predict", places));
    (each.at as (number | null)[]).forEach((value, i) => {
      if (value === null) assert.ok(Number.isNaN(found[i]));
      else
        assert.ok(
          Math.abs(found[i]! - value) <= 10 * within * Math.max(1, Math.abs(value)),
          `${found[i]}, not ${value}`,
        );
    });
  },
});

/** Pool adjacent violators, one after the other. */
function pooled(y: readonly number[], weights: readonly number[]): number[] {
  const blocks: { sum: number; weight: number; count: number }[] = [];
  y.forEach((value, i) => {
    let last = { sum: value * weights[i]!, weight: weights[i]!, count: 1 };
    while (blocks.length > 0 && blocks.at(-1)!.sum / blocks.at(-1)!.weight > last.sum / last.weight) {
      const before = blocks.pop()!;
      last = { sum: before.sum + last.sum, weight: before.weight + last.weight, count: before.count + last.count };
    }
    blocks.push(last);
  });
  return blocks.flatMap(({ sum, weight, count }) => new Array(count).fill(sum / weight));
}

test("random weights and values, and values that pool one at a time, give what a loop gives", async () => {
  const random = randomFrom(3);
  const climbing = Array.from({ length: 30 }, (_, i) => (i < 29 ? i : -1000));
  const noisy = Array.from({ length: 60 }, (_, i) => i / 10 + random.below(100) / 10);
  for (const y of [climbing, noisy]) {
    const weights = y.map(() => 1 + random.below(4));
    const x = y.map((_, i) => [i]);
    const model = await isotonicRegression().fit(f64(x), f64(y), { weights });
    const want = pooled(y, weights);
    numbersOf(model.predict(f64(x))).forEach((value, i) => {
      assert.ok(Math.abs(value - want[i]!) < 1e-10, `${value} at ${i}, not ${want[i]}`);
    });
  }
});

test("samples at one place make a constant, which has no outside, as in scikit-learn", async () => {
  const model = await isotonicRegression({ outOfBounds: "nan" }).fit([[3], [3]], [1, 2], { device: "cpu" });
  assert.deepEqual(numbersOf(model.predict([[2], [3], [4]])), [1.5, 1.5, 1.5]);
});

test("samples at one place share their mean, and fits are mapped over targets", async () => {
  const model = await isotonicRegression().fit(f64([[1], [1], [2]]), f64([4, 2, 5]));
  assert.deepEqual(numbersOf(model.predict(f64([[1], [1.5], [2]]))), [3, 4, 5]);
  const fit = (y: Tensor) => isotonicRegression().fitTensors(f64([[1], [2], [3]]), y).learned.values;
  assert.deepEqual(
    numbersOf(
      vmap(fit)(
        f64([
          [1, 2, 3],
          [3, 2, 1],
        ]),
      ),
    ),
    [1, 2, 3, 2, 2, 2],
  );
});

test("misuse is refused by name", async () => {
  assert.throws(() => isotonicRegression({ yMin: 2, yMax: 1 }), /yMin is 2 and yMax 1/);
  assert.throws(() => isotonicRegression({ increasing: "yes" as "auto" }), /increasing is "yes"/);
  await assert.rejects(
    async () => isotonicRegression().fit(f64([[1, 2]]), [1]),
    /the samples have 2 features; it takes one/,
  );
});
