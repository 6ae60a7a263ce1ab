import assert from "node:assert/strict";
import { test } from "node:test";
import { tensor } from "../../../src/index.js";
import { optimizers } from "../../../src/nn/index.js";
import { checkRate, negated, rateAt, reached, times } from "../../../src/nn/optimizers/rate.js";

const scalar = (value: number, dtype: "f32" | "f64" = "f64") => tensor(value, { dtype, device: "cpu" });

test("a rate is a number as it is, a schedule of the step from 0, or a scalar in the dtype of the parameters", async () => {
  assert.equal(rateAt(0.1, scalar(3), "f64"), 0.1);
  assert.equal(
    rateAt(() => 0.2, scalar(3), "f64"),
    0.2,
  );
  const scheduled = rateAt((step) => step.mul(2), scalar(3), "f64");
  assert.equal(typeof scheduled === "number" ? scheduled : await scheduled.item(), 4);
  const given = rateAt(tensor([0.5], { dtype: "f64", device: "cpu" }), scalar(3), "f32");
  assert.ok(typeof given !== "number");
  assert.deepEqual([given.dtype, given.shape, await given.item()], ["f32", [], 0.5]);
  assert.throws(() => checkRate("sgd", tensor([1, 2])), { name: "ShapeError" });
});

test("numbers that are known stay numbers", async () => {
  assert.deepEqual([negated(2), times(2, 3)], [-2, 6]);
  for (const product of [times(2, scalar(3)), times(scalar(3), 2)]) {
    assert.equal(typeof product === "number" ? product : await product.item(), 6);
  }
});

test("the correction of an average keeps its digits near 1", async () => {
  const decay = 1 - 1e-6;
  // 1 - decay^3 = 3e - 3e² + e³ for e = 1e-6
  const exact = 3e-6 - 3e-12 + 1e-18;
  assert.ok(Math.abs((await reached(decay, scalar(3, "f32")).item()) / exact - 1) < 1e-6);
  assert.equal(await reached(0, scalar(3)).item(), 1);
});

test("a rate is finite and not negative; a factor may be negative", () => {
  for (const rate of [NaN, -1, Infinity, "0.1" as never, null as never]) {
    for (const make of [optimizers.adam, optimizers.sgd, optimizers.adafactor, optimizers.muon]) {
      assert.throws(() => make(rate), { name: "ArgumentError", message: /: the rate is a finite number from 0 on/ });
    }
  }
  optimizers.sgd(0);
  optimizers.scale(-1);
  assert.throws(() => optimizers.scale(NaN), { message: /^scale: the factor is a finite number, .*not NaN/ });
});
