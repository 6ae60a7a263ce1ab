/** The skew normal distribution where its formulas could lose digits. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { skewNormal } from "../../../src/bayes/index.js";
import { key } from "../../../src/random/key.js";
import { tensor } from "../../../src/tensor/index.js";
import { numbersOf } from "../../support/tensors.js";

describe("skew normal numbers far out, or of a large slant, keep their digits", () => {
  // By mpmath with 50 digits.
  const cases = [
    [-3, 1000, -4500013.651097565],
    [0.5, 1e6, -0.35079135264472744],
    [-0.001, 1e4, -53.4570770031572],
    [-40, 1, -1604.8342333663984],
    [40, -2, -4005.5269127095353],
  ] as const;
  for (const [x, slant, expected] of cases) {
    test(`skewNormal(0, 1, ${slant}) at ${x}`, () => {
      const at = (dtype: "f32" | "f64") =>
        skewNormal(0, 1, slant)
          .distribution.logDensity(tensor([x], { dtype, device: "cpu" }))
          .itemSync() as number;
      assert.ok(
        Math.abs(at("f64") - expected) < 1e-12 * Math.max(1, Math.abs(expected)),
        `${at("f64")}, not ${expected}`,
      );
      assert.ok(
        Math.abs(at("f32") - expected) < 2e-6 * Math.max(1, Math.abs(expected)),
        `${at("f32")}, not ${expected}`,
      );
    });
  }

  test("draws of a large slant are half normal, of either sign", () => {
    for (const slant of [1e30, -1e30]) {
      const drawn = numbersOf(skewNormal(0, 1, slant).distribution.sample(key(2, { device: "cpu" }), [1000]));
      assert.ok(drawn.every((value) => value * Math.sign(slant) >= 0));
      assert.ok(
        Math.abs(drawn.reduce((sum, value) => sum + value, 0) / 1000 - Math.sign(slant) * Math.sqrt(2 / Math.PI)) <
          0.08,
      );
    }
  });
});
