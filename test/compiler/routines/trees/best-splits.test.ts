/** The best split of histograms against a search in plain JavaScript: missing values either way, bounds, limits, categories. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { tensor } from "../../../../src/index.js";
import { splitsByGain } from "../../../../src/tensor/index.js";
import { describeOnTensorDevices, devicesWithDoubles, numbersOf } from "../../../support/tensors.js";

const BINS = 256;

/** A histogram of one feature: bins of gradient, hessian, count. */
const histogram = (bins: readonly (readonly [number, number, number])[], missing: readonly number[] = [0, 0, 0]) => {
  const flat = new Float64Array(3 * BINS);
  const setBin = (b: number, bin: readonly number[]) => {
    bin.forEach((value, channel) => {
      flat[channel * BINS + b] = value;
    });
  };
  bins.forEach((bin, b) => {
    setBin(b, bin);
  });
  setBin(BINS - 1, missing);
  return flat;
};

const limits = { minSamplesLeaf: 2, minHessian: 1e-3, l2: 0, isMonotone: true };

describeOnTensorDevices("best splits", (device) => {
  const dtype = devicesWithDoubles().includes(device) ? "f64" : "f32";
  const search = (
    features: readonly Float64Array[],
    facts: readonly number[],
    traits: readonly (readonly number[])[],
    order: readonly [number[][], number[]] | null = null,
  ) => {
    const flat = new Float64Array(features.length * BINS * 3);
    features.forEach((each, f) => {
      flat.set(each, f * BINS * 3);
    });
    return numbersOf(
      splitsByGain(
        tensor(flat, { dtype, shape: [1, features.length, 3, BINS] }),
        tensor([[...facts]], { dtype }),
        tensor(
          traits.map((t) => [...t]),
          { dtype: "i32" },
        ),
        order && [tensor([order[0]], { dtype: "i32" }), tensor([order[1]], { dtype: "i32" })],
        limits,
      ),
    );
  };
  const wide = [-1e30, 1e30];

  test("the feature and the bin with the largest gain win, the first of equals", () => {
    const split = histogram([
      [-4, 4, 4],
      [-2, 2, 2],
      [6, 6, 6],
    ]);
    const flat = histogram([
      [0, 6, 6],
      [0, 6, 6],
    ]);
    const [gain, feature, position, direction, gradient, hessian, count] = search(
      [flat, split, split],
      [0, 12, 12, 0, ...wide],
      [
        [2, 0, 0, 0],
        [3, 0, 0, 0],
        [3, 0, 0, 0],
      ],
    );
    // 6²/6 on either side.
    assert.ok(Math.abs(gain! - 12) < 1e-5);
    assert.deepEqual([feature, position, direction, gradient, hessian, count], [1, 1, 0, -6, 6, 6]);
  });

  test("missing values go to the side that gains more; none, where no bin is left apart", () => {
    const bins: [number, number, number][] = [
      [-4, 4, 4],
      [5, 5, 5],
    ];
    const left = search([histogram(bins, [-3, 3, 3])], [-2, 12, 12, 0, ...wide], [[2, 1, 0, 0]]);
    assert.deepEqual(left.slice(1), [0, 0, 1, -7, 7, 7]);
    const right = search([histogram(bins, [3, 3, 3])], [4, 12, 12, 0, ...wide], [[2, 1, 0, 0]]);
    assert.deepEqual(right.slice(1), [0, 0, 0, -4, 4, 4]);
    const alone = search([histogram([[-4, 4, 4]], [3, 3, 3])], [-1, 7, 7, 0, ...wide], [[1, 1, 0, 0]]);
    assert.deepEqual(alone.slice(1), [0, 0, 0, -4, 4, 4]);
  });

  test("too few samples, and a wrong direction of a monotone feature, are no split", () => {
    const bins: [number, number, number][] = [
      [-1, 1, 1],
      [1, 9, 9],
    ];
    assert.equal(search([histogram(bins)], [0, 10, 10, 0, ...wide], [[2, 0, 0, 0]])[0], -1);
    const rising: [number, number, number][] = [
      [5, 5, 5],
      [-5, 5, 5],
    ];
    assert.ok(search([histogram(rising)], [0, 10, 10, 0, ...wide], [[2, 0, 1, 0]])[0]! > 0);
    assert.equal(search([histogram(rising)], [0, 10, 10, 0, ...wide], [[2, 0, -1, 0]])[0], -1);
  });

  test("categories are looked at in the given order, up to the middle from either side", () => {
    const bins: [number, number, number][] = [
      [3, 3, 3],
      [-6, 3, 3],
      [3, 3, 3],
    ];
    const places = Array.from({ length: BINS }, (_, b) => b);
    places.splice(0, 3, 1, 0, 2);
    const [, , position, direction, gradient] = search(
      [histogram(bins)],
      [0, 9, 9, 0, ...wide],
      [[3, 0, 0, 1]],
      [[places], [3]],
    );
    assert.deepEqual([position, direction, gradient], [0, 0, -6]);
    // Missing values are one more category, here the last in the order: alone it gains most.
    const known: [number, number, number][] = [
      [0, 3, 3],
      [-1, 3, 3],
    ];
    const withMissing = search(
      [histogram(known, [9, 3, 3])],
      [8, 9, 9, 0, ...wide],
      [[2, 1, 0, 1]],
      [[[1, 0, BINS - 1, ...places.slice(3)]], [3]],
    );
    assert.deepEqual(withMissing.slice(1, 5), [0, 1, 0, -1]);
    assert.equal(search([histogram(bins)], [0, 9, 9, 0, ...wide], [[3, 0, 0, 1]], [[places], [1]])[0], -1);
  });
});
