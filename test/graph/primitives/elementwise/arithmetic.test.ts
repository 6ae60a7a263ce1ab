/** Arithmetic of elements: values at the edges of their definitions, and slopes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as E from "../../../../src/graph/primitives/elementwise/arithmetic.js";
import { results, slopesAt, testSlopes } from "./entry-rules.js";

testSlopes(E);

test("quotients and remainders go towards zero, and by zero", () => {
  const rows = [
    [7, 2],
    [-7, 2],
    [7, -2],
    [-7, -2],
    [5, 0],
  ];
  assert.deepEqual(results(E.quotient, "i32", rows), [3, -3, -3, 3, 0]);
  assert.deepEqual(results(E.rem, "i32", rows.slice(0, 4)), [1, -1, 1, -1]);
  assert.deepEqual(
    results(E.rem, "f64", [
      [7.5, 2],
      [-7.5, 2],
      [7.5, Infinity],
      [-0, 3],
      [1, 0],
    ]),
    [1.5, -1.5, 7.5, -0, NaN],
  );
});

test("NaN wins over numbers in extremes, and passes through signs and relu", () => {
  const rows = [
    [NaN, 1],
    [1, NaN],
    [2, 1],
    [-Infinity, Infinity],
  ];
  assert.deepEqual(results(E.maximum, "f64", rows), [NaN, NaN, 2, Infinity]);
  assert.deepEqual(results(E.minimum, "f64", rows), [NaN, NaN, 1, -Infinity]);
  assert.deepEqual(results(E.sign, "f64", [[NaN], [-0], [0], [-3], [1e-300]]), [NaN, -0, 0, -1, 1]);
  assert.deepEqual(results(E.relu, "f64", [[NaN], [-0], [-3], [2]]), [NaN, 0, 0, 2]);
});

test("halves round to the even number, and zeros keep their sign", () => {
  assert.deepEqual(results(E.round, "f64", [[0.5], [1.5], [2.5], [-0.5], [-1.5], [2.6]]), [0, 2, 2, -0, -2, 3]);
  assert.deepEqual(results(E.trunc, "f64", [[-0.5], [-1.7], [1.7]]), [-0, -1, 1]);
  assert.deepEqual(results(E.floor, "f64", [[-0.5], [1.7]]), [-1, 1]);
  assert.deepEqual(results(E.ceil, "f64", [[-0.5], [1.2]]), [-0, 2]);
});

test("slopes at kinks: ties are shared, and 0 has none", () => {
  assert.deepEqual(slopesAt(E.maximum, 2, 2), [0.5, 0.5]);
  assert.deepEqual(slopesAt(E.minimum, 2, 3), [1, 0]);
  assert.deepEqual(slopesAt(E.abs, 0), [0]);
});
