/** digamma: the zero at 1.4616…, the poles, both directions to infinity. */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as exact from "../../support/exact-functions.js";
import { holdsOracle, holdsTable, powers, spread, types } from "./function-checks.js";
import { compiled } from "./math-cases.js";

holdsTable("digamma", [
  [0, -Infinity],
  [-0, Infinity],
  [-1, NaN],
  [-2, NaN],
  [Infinity, Infinity],
  [-Infinity, NaN],
]);

holdsOracle("digamma", exact.digamma, {
  both: [...spread(0.01, 12, 100), ...powers(-100, -1), ...powers(3, 100), [1.4616321], [1.4616322]],
  f64: [...powers(100, 1000), [1.4616321449683622]],
});

test("at whole numbers it is a harmonic number less Euler's constant, and at 1/2 the constant and 2 log 2", () => {
  const EULER = 0.5772156649015329;
  let harmonic = 0;
  for (let n = 1; n <= 30; n++) {
    assert.ok(Math.abs(compiled("digamma", "f64")(n) - (harmonic - EULER)) < 1e-14, `digamma(${n})`);
    harmonic += 1 / n;
  }
  assert.ok(Math.abs(compiled("digamma", "f64")(0.5) + EULER + 2 * Math.LN2) < 1e-15);
});

test("left of zero, errors are small next to the terms of the reflection", () => {
  for (const type of types) {
    for (const x of [-0.5, -1.5, -2.25, -2.75, -5.5, -10.125, -20.0625]) {
      const { high } = exact.digamma(x);
      const off = Math.abs(compiled("digamma", type)(x) - high) / (Math.abs(high) + 10);
      assert.ok(off <= 8 * (type === "f32" ? 2 ** -24 : 2 ** -53), `digamma(${x}) in ${type} is ${off} off`);
    }
  }
});
