/** Shape arithmetic: against definitions by loops, and the wording of its errors. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ArgumentError, ShapeError } from "../../src/core/errors.js";
import {
  broadcastShapes,
  checkBroadcastTo,
  checkPermutation,
  checkShape,
  normalizeAxes,
  normalizeAxis,
  ravelIndex,
  reducedShape,
  reshapeInfer,
  sameShape,
  sizeOf,
  stridesOf,
  unravelIndex,
} from "../../src/core/shape.js";

describe("sizes and strides", () => {
  test("a scalar has one element, an empty axis makes none", () => {
    assert.equal(sizeOf([]), 1);
    assert.equal(sizeOf([3, 0, 2 ** 53]), 0);
    assert.equal(sizeOf([2, 3, 4]), 24);
    assert.deepEqual(stridesOf([2, 3, 4]), [12, 4, 1]);
    assert.deepEqual(stridesOf([]), []);
  });

  test("sizes past 2^53 are refused, the last exact one is not", () => {
    assert.equal(sizeOf([2 ** 53 - 1]), 2 ** 53 - 1);
    assert.throws(() => sizeOf([2 ** 30, 2 ** 30], "zeros"), /^ShapeError: zeros: \[1073741824, 1073741824\] has more/);
  });

  test("a shape with a negative, fractional or missing size is refused", () => {
    for (const size of [-1, 1.5, Number.NaN, Infinity]) {
      assert.throws(() => checkShape([2, size], "full"), new RegExp(`full: axis 1 of .* has size ${size}`));
    }
    assert.deepEqual(checkShape([2, 0], "full"), [2, 0]);
  });

  test("equal shapes", () => {
    assert.ok(sameShape([2, 3], [2, 3]) && !sameShape([2, 3], [2]) && !sameShape([2, 3], [3, 2]));
  });
});

describe("broadcasting", () => {
  test("aligns at the last axis and stretches ones", () => {
    assert.deepEqual(broadcastShapes("add", [3, 1], [4]), [3, 4]);
    assert.deepEqual(broadcastShapes("add", [], [2, 3]), [2, 3]);
    assert.deepEqual(broadcastShapes("where", [2, 1, 1], [3, 1], [4]), [2, 3, 4]);
    assert.deepEqual(broadcastShapes("add", [0], [1]), [0]);
    assert.deepEqual(broadcastShapes("add", [1], [0, 1]), [0, 1]);
    assert.deepEqual(broadcastShapes("add"), []);
  });

  test("an error names the operation, the shapes, the axis and the remedy", () => {
    assert.throws(() => broadcastShapes("add", [2, 3], [2]), {
      name: "ShapeError",
      message:
        "add: shapes [2, 3] and [2] do not broadcast: at axis -1 (counted from the end) the sizes are 3 and 2. " +
        "Sizes must be equal or 1; reshape, or insert an axis with expandDims.",
    });
    assert.throws(() => broadcastShapes("mul", [0], [3]), ShapeError);
  });

  test("to a given shape goes one way only", () => {
    assert.deepEqual(checkBroadcastTo("broadcastTo", [3, 1], [2, 3, 5]), [2, 3, 5]);
    assert.throws(() => checkBroadcastTo("broadcastTo", [2, 3], [3]), ShapeError);
    assert.throws(() => checkBroadcastTo("broadcastTo", [3], [1]), /\[3\] does not broadcast to \[1\]/);
  });
});

describe("axes", () => {
  test("negative ones count from the end", () => {
    assert.equal(normalizeAxis(-1, 3, "sum"), 2);
    assert.ok(Object.is(normalizeAxis(-0, 3, "sum"), 0));
    assert.deepEqual(normalizeAxes([-1, 0], 3, "sum"), [2, 0]);
    assert.deepEqual(normalizeAxes(undefined, 3, "sum"), [0, 1, 2]);
    assert.deepEqual(normalizeAxes(-2, 3, "sum"), [1]);
    assert.deepEqual(normalizeAxes([], 3, "sum"), []);
  });

  test("what is out of range, fractional or repeated is refused", () => {
    assert.throws(() => normalizeAxis(3, 3, "sum"), /sum: axis 3 is out of range for 3 dimensions; use -3 to 2/);
    assert.throws(() => normalizeAxis(0, 0, "sum"), /a scalar has no axes/);
    assert.throws(() => normalizeAxis(0.5, 3, "sum"), /not a whole number/);
    assert.throws(() => normalizeAxes([0, -3], 3, "sum"), /axes \[0, -3\] name axis 0 of 3 twice/);
  });

  test("reduced axes go away or stay with size 1", () => {
    assert.deepEqual(reducedShape([2, 3, 4], [0, 2]), [3]);
    assert.deepEqual(reducedShape([2, 3, 4], [0, 2], true), [1, 3, 1]);
  });

  test("a permutation names every axis once", () => {
    assert.deepEqual(checkPermutation([2, 0, -2], 3, "permute"), [2, 0, 1]);
    assert.throws(() => checkPermutation([0, 1], 3, "permute"), /names 2 axes of 3/);
    assert.throws(() => checkPermutation([0, 0, 1], 3, "permute"), ShapeError);
  });
});

describe("reshape", () => {
  test("works out one size of -1", () => {
    assert.deepEqual(reshapeInfer([2, 3, 4], [4, -1]), [4, 6]);
    assert.deepEqual(reshapeInfer([6], [-1]), [6]);
    assert.deepEqual(reshapeInfer([], [1, -1]), [1, 1]);
    assert.deepEqual(reshapeInfer([0, 3], [-1, 3]), [0, 3]);
    assert.deepEqual(reshapeInfer([0], [0, 5]), [0, 5]);
  });

  test("refuses what does not fit", () => {
    assert.throws(() => reshapeInfer([2, 3], [4]), /reshape: \[2, 3\] has 6 elements, \[4\] has 4; they must be equal/);
    assert.throws(() => reshapeInfer([2, 3], [-1, 4]), /6 is no multiple of 4/);
    assert.throws(() => reshapeInfer([6], [-1, -1]), /more than one -1/);
    assert.throws(() => reshapeInfer([6], [-2, 3]), /has size -2/);
    assert.throws(() => reshapeInfer([0], [-1, 0]), /can be anything/);
  });
});

describe("indices", () => {
  test("positions and indices are inverse to each other", () => {
    const shape = [3, 1, 4, 2];
    for (let position = 0; position < sizeOf(shape); position++) {
      const index = unravelIndex(position, shape);
      assert.equal(ravelIndex(index, shape), position);
      assert.equal(
        index.reduce((sum, i, axis) => sum + i * stridesOf(shape)[axis], 0),
        position,
      );
    }
  });

  test("stay exact beyond 2^32", () => {
    const shape = [2 ** 20, 2 ** 20, 2 ** 12];
    const index = [2 ** 20 - 1, 12345, 2 ** 12 - 1];
    assert.deepEqual(unravelIndex(ravelIndex(index, shape), shape), index);
  });

  test("count from the end, and are refused outside", () => {
    assert.equal(ravelIndex([-1, -1], [2, 3]), 5);
    assert.throws(() => ravelIndex([2, 0], [2, 3], "item"), /item: index 2 is out of range for axis 0 of size 2/);
    assert.throws(() => ravelIndex([0], [2, 3]), ShapeError);
    assert.throws(() => unravelIndex(6, [2, 3]), ArgumentError);
  });
});
