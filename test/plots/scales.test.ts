/** Scales and ticks of axes, and the lines drawn on them. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { padded, scaleTo, ticksIn, tickText } from "../../src/plots/scales.js";
import { linePath } from "../../src/plots/svg.js";

describe("axes", () => {
  test("have round ticks inside the domain", () => {
    assert.deepEqual(ticksIn([0, 10], 5), [0, 2, 4, 6, 8, 10]);
    assert.deepEqual(ticksIn([-0.13, 0.32], 4), [0, 0.2]);
    assert.deepEqual(ticksIn([0.9999, 1.0002], 3).map(tickText), ["0.9999", "1", "1.0001", "1.0002"]);
    assert.deepEqual([1e6, -2.5e-7, 0, 1500].map(tickText), ["1e6", "-2.5e-7", "0", "1500"]);
  });

  test("are never empty, and hold what is outside at the edge", () => {
    assert.deepEqual(padded([5, 5]), [4.5, 5.5]);
    assert.deepEqual(padded([0, 0]), [-0.5, 0.5]);
    const scale = scaleTo([0, 10], [100, 0]);
    assert.deepEqual([scale(5), scale(-3), scale(20)], [50, 100, 0]);
  });

  test("lines break where a point is missing", () => {
    assert.equal(
      linePath([
        [0, 1],
        [1.04, 2],
        [2, Number.NaN],
        [3, 4],
      ]),
      "M0 1L1 2M3 4",
    );
  });
});
