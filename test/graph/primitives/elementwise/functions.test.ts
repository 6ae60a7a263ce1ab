/** Functions of mathematics: values where definitions end, and slopes of all of them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as E from "../../../../src/graph/primitives/elementwise/functions.js";
import { results, slopesAt, testSlopes } from "./entry-rules.js";

testSlopes(E);

test("powers of integers wrap, and negative exponents give 0", () => {
  assert.deepEqual(
    results(E.integerPower, "i32", [
      [3, 4],
      [-2, 31],
      [2, 32],
      [5, -1],
      [7, 0],
    ]),
    [81, -(2 ** 31), 0, 0, 1],
  );
});

test("log(eˣ + eʸ) of equal infinities, of far apart and of large operands", () => {
  const rows = [
    [Infinity, Infinity],
    [-Infinity, -Infinity],
    [1000, 1000],
    [0, -1000],
    [-Infinity, 3],
  ];
  assert.deepEqual(results(E.logaddexp, "f64", rows), [Infinity, -Infinity, 1000 + Math.LN2, 0, 3]);
});

test("slopes at corners: flat powers are flat, and so is a length of 0", () => {
  assert.deepEqual(slopesAt(E.pow, 0, 0)[0], 0);
  assert.deepEqual(slopesAt(E.pow, 0, 2), [0, 0]);
  assert.deepEqual(slopesAt(E.hypot, 0, 0), [0, 0]);
  assert.deepEqual(slopesAt(E.logaddexp, Infinity, 0), [1, 0]);
});
