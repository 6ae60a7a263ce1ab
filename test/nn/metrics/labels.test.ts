/** Labels as metrics compare them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { tensor } from "../../../src/index.js";
import { classLabels, ranksOfLabels } from "../../../src/nn/metrics/labels.js";
import { f64, numbersOf } from "../../support/tensors.js";

test("ranks count better classes, and equal ones with a smaller number", () => {
  const scores = f64([[3, 1, 3, 2], [3, 1, 3, 2], [3, 1, 3, 2], [Number.NaN, 0, 0, 0], [0, 0, 0, 0]]); // biome-ignore format: rows
  const labels = tensor([0, 2, 1, 0, 4], { dtype: "i32", device: "cpu" });
  assert.deepEqual(numbersOf(ranksOfLabels(scores, labels)), [0, 1, 3, 4, 4]);
  assert.deepEqual(numbersOf(classLabels("f", scores, scores.neg())).slice(0, 3), [1, 1, 1]);
});
