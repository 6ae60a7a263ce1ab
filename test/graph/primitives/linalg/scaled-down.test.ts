/** Matrices brought to a size between 1 and 2, by exact powers of two; those that are not finite become NaN. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { scaledDown } from "../../../../src/graph/primitives/linalg/scaled-down.js";
import { g } from "../../../../src/graph/vocabulary.js";
import { given, input, numbers, valuesOf } from "../../../support/node-rules.js";

const parts = (values: readonly number[], dtype: "f32" | "f64") =>
  valuesOf(
    (a) => {
      const { scaled, scale } = scaledDown(g, a);
      return [scaled, scale];
    },
    [input([1, 1, values.length], values, dtype)],
  ) as [number[], number[]];

test("the largest element lies between 1 and 2, and the scale is the power of two that was divided by", () => {
  for (const [dtype, values] of [
    ["f64", [3, -5, 0.25]],
    ["f64", [1e300, -1.5e300]],
    ["f64", [1e-300, 0]],
    ["f32", [1, 0.5]],
    ["f32", [2 ** 127, 2 ** 100]],
    ["f32", [-(2 ** -126)]],
  ] as const) {
    const [scaled, [scale]] = parts(values, dtype);
    const largest = Math.max(...scaled.map(Math.abs));
    assert.ok(largest >= 1 && largest < 2, `${values}: ${largest}`);
    assert.ok(Number.isInteger(Math.log2(scale!)));
    for (const [i, x] of values.entries()) {
      const back = scaled[i]! * scale!;
      assert.equal(back, dtype === "f32" ? Math.fround(x) : x);
    }
  }
});

test("zeros stay zeros, and a matrix with an infinity or NaN is NaN everywhere", () => {
  assert.deepEqual(parts([0, 0], "f64"), [[0, 0], [1]]);
  for (const bad of [Infinity, -Infinity, NaN]) {
    assert.ok(parts([1, bad, 0], "f64")[0].every(Number.isNaN), `${bad}`);
  }
});

test("each matrix of a batch has its own scale; of complex numbers the larger part decides", () => {
  const [scale] = valuesOf((a) => scaledDown(g, a).scale, [input([2, 1, 2], [4, 1, 0.5, 0.1])]);
  assert.deepEqual(scale, [4, 0.5]);
  const complex = g.complex(given(input([1, 1, 2], [1, 2])), given(input([1, 1, 2], [-9, 0])));
  assert.deepEqual(numbers(scaledDown(g, complex).scale), [8]);
});
