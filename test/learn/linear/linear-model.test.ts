/** Centring against sums written out. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { centred, linearPrediction } from "../../../src/learn/linear/linear-model.js";
import { f64, numbersOf } from "../../support/tensors.js";

const x = f64([
  [1, 2],
  [3, 5],
  [8, -1],
]);
const y = f64([1, 2, 6]);

test("centred columns have the mean zero, with weights the weighted mean", () => {
  const plain = centred(x, y, null, true);
  assert.deepEqual(numbersOf(plain.x), [-3, 0, -1, 3, 4, -3]);
  assert.deepEqual(numbersOf(plain.y), [-2, -1, 3]);
  const weighted = centred(x, y, f64([1, 0, 3]), true);
  // means (1 + 24)/4, (2 − 3)/4 and (1 + 18)/4; rows times √1, 0, √3
  const root = Math.sqrt(3);
  const near = (got: number[], want: number[]) =>
    assert.ok(got.every((value, i) => Math.abs(value - want[i]!) < 1e-14));
  near(numbersOf(weighted.x), [-5.25, 2.25, 0, 0, 1.75 * root, -0.75 * root]);
  near(numbersOf(weighted.y), [-3.75, 0, 1.25 * root]);
});

test("the intercept makes the prediction at the means the mean of the targets", () => {
  const { learned } = centred(x, y, null, true);
  const model = learned(f64([2, -1]));
  assert.deepEqual(numbersOf(linearPrediction(model, f64([[4, 2]]))), [3]);
  assert.deepEqual(numbersOf(centred(x, y, null, false).learned(f64([2, -1])).intercept), [0]);
});

test("a column that does not vary among samples that count is exactly zero, whatever the weights round to", () => {
  const steady = f64([
    [0.1, 1],
    [0.1, 2],
    [7, 3],
    [0.1, 5],
  ]);
  const weights = f64([1.1, 2.3, 0, 0.7]);
  const found = centred(steady, f64([2.3, 2.3, 9, 2.3]), weights, true);
  for (const row of [0, 2, 6]) assert.equal(numbersOf(found.x)[row], 0);
  for (const row of [0, 1, 3]) assert.equal(numbersOf(found.y)[row], 0);
});
