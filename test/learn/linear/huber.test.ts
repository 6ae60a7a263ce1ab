/** Huber's regression against scikit-learn's objective, minimised to the end. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { huberRegressor } from "../../../src/learn/index.js";
import { closeTo } from "../../support/learn-cases.js";
import { compareLinear } from "../../support/linear-cases.js";
import { f64, numbersOf } from "../../support/tensors.js";

compareLinear(["huberRegressor"], {
  make: ({ options }, dtype) => huberRegressor({ ...options, tol: dtype === "f64" ? 1e-10 : 1e-4 }),
  within: [1e-6, 1e-4],
  async more({ learned }, each, _, within) {
    await closeTo(learned.scale!, each.scale, within, "scale");
    assert.deepEqual(numbersOf(learned.outliers!), each.outliers);
  },
});

test("an outlier moves the line little, and is named", async () => {
  const x = Array.from({ length: 20 }, (_, i) => [i]);
  const y = x.map(([v]) => 2 * v! + 1 + Math.sin(v! * 5) / 10);
  y[10] = 1000;
  const { learned } = await huberRegressor({ tol: 1e-9 }).fit(f64(x), f64(y));
  assert.ok(Math.abs(numbersOf(learned.coefficients)[0]! - 2) < 0.02);
  assert.equal(numbersOf(learned.outliers)[10], 1);
});

test("misuse is refused by name", () => {
  assert.throws(() => huberRegressor({ epsilon: 0.5 }), /huberRegressor: epsilon is 0.5; it is a number, 1 or more/);
});

/** Σ weight · (σ + σ H(r/σ)) + alpha · Σ w²; w is the coefficients and, last, the intercept. */
function huberLoss(
  x: readonly number[][],
  y: readonly number[],
  weights: readonly number[],
  w: number[],
  scale: number,
) {
  const ofRow = (row: readonly number[], i: number): number => {
    const r = Math.abs(row.reduce((sum, v, j) => sum + v * w[j]!, w.at(-1)!) - y[i]!);
    const beyond = 2 * 1.35 * r - scale * 1.35 ** 2;
    return weights[i]! * (scale + (r <= scale * 1.35 ? (r * r) / scale : beyond));
  };
  const penalty = w.slice(0, -1).reduce((sum, each) => sum + each * each, 0) * 1e-4;
  return x.reduce((sum, row, i) => sum + ofRow(row, i), 0) + penalty;
}

for (const [name, size, samples, features] of [
  ["columns of sizes from 1e-6 to 1e6", 1e6, 25, 3],
  ["as many columns as samples that count", 1, 12, 8],
  ["more features than samples", 1, 6, 15],
] as const) {
  test(`${name}, with weights of zero: no step of any parameter lowers the loss`, async () => {
    const x = Array.from({ length: samples }, (_, i) =>
      Array.from({ length: features }, (_, j) => Math.sin(12.9898 * (i + 1) * (j + 2) ** 2) * size ** (1 - (j % 3))),
    );
    const y = x.map((row, i) => row[0]! / size + Math.cos(5 * i) / 3);
    const weights = x.map((_, i) => (i % 3 === 0 ? 0 : 1 + (i % 4) / 2));
    const options = { tol: 1e-10, maxIter: 1000 };
    const { learned } = await huberRegressor(options).fit(f64(x), f64(y), { weights });
    const w = [...numbersOf(learned.coefficients), numbersOf(learned.intercept)[0]!];
    const scale = numbersOf(learned.scale)[0]!;
    const found = huberLoss(x, y, weights, w, scale);
    w.forEach((_, j) => {
      for (const step of [1e-3, -1e-3]) {
        const moved = w.map((each, k) => each + (k !== j ? 0 : k === features ? step : step / size ** (1 - (k % 3))));
        assert.ok(huberLoss(x, y, weights, moved, scale) >= found, `parameter ${j}`);
      }
    });
    for (const factor of [0.9, 1.1])
      assert.ok(huberLoss(x, y, weights, w, scale * factor) >= found - 1e-6, "the scale");
    if (features > samples) assert.ok(found < 1e-4, `samples are met, and the loss is ${found}`);
  });
}
