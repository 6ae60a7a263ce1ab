/** Comparisons, choices and casts of elements. */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as E from "../../../../src/graph/primitives/elementwise/truth.js";
import { g } from "../../../../src/graph/vocabulary.js";
import { checkDerivatives, fixed, input } from "../../../support/node-rules.js";
import { results } from "./entry-rules.js";

test("comparisons with NaN are false, but for being unequal; zeros are equal", () => {
  const rows = [
    [1, 2],
    [2, 2],
    [NaN, NaN],
    [0, -0],
  ];
  assert.deepEqual(results(E.equal, "f64", rows), [0, 1, 0, 1]);
  assert.deepEqual(results(E.notEqual, "f64", rows), [1, 0, 1, 0]);
  assert.deepEqual(results(E.less, "f64", rows), [1, 0, 0, 0]);
  assert.deepEqual(results(E.lessEqual, "f64", rows), [1, 1, 0, 1]);
  assert.deepEqual(results(E.greater, "f64", rows), [0, 0, 0, 0]);
  assert.deepEqual(results(E.greaterEqual, "f64", rows), [0, 1, 0, 1]);
  assert.deepEqual(results(E.less, "u32", [[1, 2 ** 32 - 1]]), [1]);
});

test("NaN and infinities are told from numbers", () => {
  assert.deepEqual(results(E.isNan, "f64", [[NaN], [Infinity], [0]]), [1, 0, 0]);
  assert.deepEqual(results(E.isInf, "f64", [[NaN], [-Infinity], [0]]), [0, 1, 0]);
});

test("casts round towards zero, and bits are kept by a bitcast", () => {
  assert.deepEqual(results(E.cast, "f64", [[2.7], [-2.7]], { dtype: "i32" }), [2, -2]);
  assert.deepEqual(results(E.cast, "i32", [[0], [-3]], { dtype: "bool" }), [0, 1]);
  assert.deepEqual(results(E.bitcast, "f32", [[1], [-0]], { dtype: "u32" }), [0x3f800000, 0x80000000]);
});

test("a choice passes its derivative to the side that is taken", () => {
  checkDerivatives((c, a, b) => g.where(c, a, b), [fixed([4], [1, 0, 0, 1], "bool"), input([4]), input([4])]);
});
