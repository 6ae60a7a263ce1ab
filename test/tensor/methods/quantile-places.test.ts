/** Positions of quantiles: NumPy's values of every rule, and the same by numbers as by tensors. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { numbers, placeOf, quantileMethods, tensors } from "../../../src/tensor/methods/quantile-places.js";
import { f64, numbersOf } from "../../support/tensors.js";

/** np.quantile([10, 20, 30, 40, 50], q, method) for q = 0.1, 0.4, 0.5, 0.85. */
const BY_NUMPY: Readonly<Record<string, readonly number[]>> = {
  linear: [14, 26, 30, 44],
  lower: [10, 20, 30, 40],
  higher: [20, 30, 30, 50],
  nearest: [10, 30, 30, 40],
  midpoint: [15, 25, 30, 45],
  invertedCdf: [10, 20, 30, 50],
  averagedInvertedCdf: [10, 25, 30, 50],
  closestObservation: [10, 20, 20, 40],
  interpolatedInvertedCdf: [10, 20, 25, 42.5],
  hazen: [10, 25, 30, 47.5],
  weibull: [10, 24, 30, 50],
  medianUnbiased: [10, 24.666666666666668, 30, 48.666666666666664],
  normalUnbiased: [10, 24.75, 30, 48.375],
};
const LIST = [10, 20, 30, 40, 50];

test("every rule is NumPy's", () => {
  assert.deepEqual(Object.keys(BY_NUMPY).sort(), [...quantileMethods].sort());
  const element = (i: number) => LIST[Math.min(Math.max(i, 0), LIST.length - 1)]!;
  for (const method of quantileMethods) {
    [0.1, 0.4, 0.5, 0.85].forEach((q, at) => {
      const { below, weight } = placeOf(numbers, method, LIST.length, q);
      const found = element(below) * (1 - weight) + element(below + 1) * weight;
      assert.ok(Math.abs(found - BY_NUMPY[method]![at]!) < 1e-12, `${method} at ${q}: ${found}`);
    });
  }
});

test("tensors give the same positions as numbers, halves and ends included", () => {
  const shares = [0, 0.1, 0.3, 0.5, 0.7, 0.9, 1];
  for (const method of quantileMethods) {
    for (const n of [1, 4, 5]) {
      const { below, weight } = placeOf(tensors, method, f64(shares.map(() => n)), f64(shares));
      const want = shares.map((q) => placeOf(numbers, method, n, q));
      assert.deepEqual(
        numbersOf(below),
        want.map((place) => place.below),
        `${method} of ${n}`,
      );
      assert.deepEqual(
        numbersOf(weight).map(Math.abs),
        want.map((place) => Math.abs(place.weight)),
        `${method} of ${n}`,
      );
    }
  }
});
