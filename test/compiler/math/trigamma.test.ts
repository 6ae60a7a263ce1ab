/** trigamma: from the pole at zero to where it is 1/x, and left of zero. */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as exact from "../../support/exact-functions.js";
import { holdsOracle, holdsTable, powers, spread, types } from "./function-checks.js";
import { compiled } from "./math-cases.js";

holdsTable("trigamma", [
  [0, Infinity],
  [-0, Infinity],
  [-1, Infinity],
  [-2, Infinity],
  [-(2 ** 60), Infinity],
  [Infinity, 0],
  [-Infinity, NaN],
]);

holdsOracle("trigamma", exact.trigamma, {
  both: [...spread(0.01, 12, 100), ...powers(-50, -1), ...powers(3, 100), [1.4616321], [1.4616322]],
  f64: [...powers(-400, -100), [1.4616321449683622]],
});

test("at 1 it is pi²/6, at 1/2 pi²/2, and a step up takes 1/x² away", () => {
  const f = compiled("trigamma", "f64");
  assert.ok(Math.abs(f(1) - Math.PI ** 2 / 6) < 1e-15);
  assert.ok(Math.abs(f(0.5) - Math.PI ** 2 / 2) < 4e-15);
  for (const x of [0.3, 1.5, 4.75, 40.5]) assert.ok(Math.abs(f(x) - f(x + 1) - 1 / x ** 2) < 1e-14);
});

test("left of zero, errors are small next to the terms of the reflection", () => {
  for (const type of types) {
    for (const x of [-0.5, -1.5, -2.25, -2.75, -5.5, -10.125, -20.0625]) {
      const { high } = exact.trigamma(x);
      const off = Math.abs(compiled("trigamma", type)(x) - high) / (Math.abs(high) + 10);
      assert.ok(off <= 8 * (type === "f32" ? 2 ** -24 : 2 ** -53), `trigamma(${x}) in ${type} is ${off} off`);
    }
  }
});
