/** sigmoid and softplus, down to the denormals. */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as exact from "../../support/exact-functions.js";
import { holdsOracle, holdsTable, negated, powers, spread, types } from "./function-checks.js";
import { compiled } from "./math-cases.js";

holdsTable("sigmoid", [
  [0, 0.5],
  [-0, 0.5],
  [Infinity, 1],
  [-Infinity, 0],
  [1000, 1],
  [-1000, 0],
]);

holdsTable("softplus", [
  [Infinity, Infinity],
  [-Infinity, 0],
  [1000, 1000],
  [-1000, 0],
]);

const SAMPLES = {
  both: [...spread(-20, 20, 80), ...powers(-60, 0), ...negated(powers(-60, 0))],
  f32: spread(-103, -80),
  f64: [...spread(-744, -700), ...spread(20, 50)],
};
holdsOracle("sigmoid", exact.sigmoid, SAMPLES);
holdsOracle("softplus", exact.softplus, SAMPLES);

test("softplus of a large number is the number", () => {
  for (const type of types) {
    for (const x of [100, 1e10, 1e38]) assert.equal(compiled("softplus", type)(Math.fround(x)), Math.fround(x));
  }
});
