/** Errors, R², perplexity. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { tensor } from "../../../src/index.js";
import { metrics } from "../../../src/nn/index.js";
import { f64, numbersOf } from "../../support/tensors.js";

const isNear = (x: { dataSync(): unknown }, want: number) =>
  assert.ok(Math.abs(numbersOf(x as never)[0]! - want) < 1e-12, `${numbersOf(x as never)}, not ${want}`);

test("errors and R² are those of the formulas", () => {
  const [p, t] = [f64([2.5, 0, 2, 8]), f64([3, -0.5, 2, 7])];
  isNear(metrics.meanAbsoluteError(p, t), 0.5);
  isNear(metrics.meanSquaredError(p, t), 0.375);
  isNear(metrics.rootMeanSquaredError(p, t), Math.sqrt(0.375));
  isNear(metrics.r2(p, t), 1 - 1.5 / 29.1875);
  isNear(metrics.r2(t, t), 1);
  assert.deepEqual(numbersOf(metrics.r2(p, f64([1, 1, 1, 1]))), [Number.NaN]);
  assert.throws(() => metrics.r2(p, f64([1])), { name: "ShapeError", message: /^r2/ });
});

test("perplexity of equal shares is the number of classes", () => {
  const labels = tensor([0, 3, 1], { dtype: "i32", device: "cpu" });
  isNear(metrics.perplexity(f64([[0, 0, 0, 0], [1, 1, 1, 1], [5, 5, 5, 5]]), labels, { fromLogits: true }), 4); // biome-ignore format: rows
  const ignoring = { fromLogits: true, ignoreIndex: 1 };
  isNear(metrics.perplexity(f64([[0, 0, 0, 0], [1, 1, 1, 1], [9, 0, 0, 0]]), labels, ignoring), 4); // biome-ignore format: rows
});
