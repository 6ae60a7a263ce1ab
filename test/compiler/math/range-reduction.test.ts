/** Angles modulo a quarter turn, for every size of float, against pi to two thousand bits. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { halfPi, reduceByHalfPi } from "../../../src/compiler/math/range-reduction.js";
import { quarterTurns, toReal } from "../../support/exact-functions.js";
import { largest, rounded } from "../../support/floats.js";
import { evaluator } from "../../support/math-evaluator.js";
import { powers, spread, types } from "./function-checks.js";

test("pi/2 as a pair of floats is right to the second float", () => {
  // pi/2 = 1.57079632679489661923132169163975…
  assert.equal(halfPi.f64.high, Math.PI / 2);
  assert.equal(halfPi.f64.low, 6.123233995736766e-17);
  assert.equal(halfPi.f32.high, Math.fround(Math.PI / 2));
  assert.ok(Math.abs(halfPi.f32.high + halfPi.f32.low - Math.PI / 2) < 2 ** -48);
});

for (const type of types) {
  const ends = { f32: [16367173 * 2 ** 72, largest.f32], f64: [6381956970095103 * 2 ** 797, largest.f64, 1e22] };
  const top = type === "f32" ? 127 : 1023;
  const near = [1, 2, 3, 4, 5, 100, 12345].map((n) => (n * Math.PI) / 2);
  const samples = [...spread(0, 30), ...powers(-30, top, 300)].map(([x]) => x as number);

  test(`the quadrant and the angle of any ${type}, its sign left out`, () => {
    for (const x of [...samples, ...near, ...ends[type]].map((each) => rounded(type, each))) {
      for (const value of [x, -x]) {
        const { quadrant, high, low } = reduceByHalfPi(evaluator, { type, value }, type);
        const want = quarterTurns(x);
        const angle = toReal(want.angle);
        assert.equal(quadrant.value, want.quadrant, `the quadrant of ${value}`);
        const off = Math.abs(high.value - angle.high - angle.low + low.value);
        assert.ok(off <= 2 ** (type === "f32" ? -46 : -93), `the angle of ${value}: 2^${Math.log2(off)}`);
        // A small part of an ulp of the angle, however small that is.
        assert.ok(off <= Math.abs(angle.high) * 2 ** (type === "f32" ? -32 : -62), `the angle of ${value}`);
      }
    }
  });

  test(`an angle of ${type} up to a half of a quarter turn is left alone`, () => {
    for (const x of [0, 2 ** -100, 0.5, 0.785]) {
      const value = rounded(type, x);
      const { quadrant, high, low } = reduceByHalfPi(evaluator, { type, value: -value }, type);
      assert.deepEqual([quadrant.value, high.value, low.value], [0, value, 0]);
    }
  });
}
