import assert from "node:assert/strict";
import { test } from "node:test";
import { tensor } from "../../../src/index.js";
import { schedules } from "../../../src/nn/index.js";
import { asFloat, checkValue, progressOf } from "../../../src/nn/schedules/schedule.js";

test("whole steps become f32, floats stay, and progress ends at 1", async () => {
  assert.equal(asFloat(tensor(3, { dtype: "i32", device: "cpu" })).dtype, "f32");
  assert.equal(asFloat(tensor(3, { dtype: "f64", device: "cpu" })).dtype, "f64");
  assert.deepEqual(await progressOf(tensor([0, 1, 2, 9], { device: "cpu" }), 4).array(), [0, 0.25, 0.5, 1]);
});

test("values are finite numbers", () => {
  assert.equal(checkValue("linear", "the value", -2), -2);
  assert.throws(() => checkValue("linear", "the value", NaN), {
    message: /^linear: the value is a finite number, not NaN/,
  });
  assert.throws(() => checkValue("linear", "the factor", 0, 0), {
    message: /^linear: the factor is a finite number above 0, not 0/,
  });
});

test("steps may be plain numbers", async () => {
  const { constant, cosine, linear, piecewise, warmup } = schedules;
  assert.ok(Math.abs((await cosine(1, 4)(2).item()) - 0.5) < 1e-6);
  assert.equal(await linear(1, 0, 4)(1).item(), 0.75);
  assert.equal(await constant(0.5)(7).item(), 0.5);
  assert.equal(await piecewise(1, { 3: 0.5 })(3).item(), 0.5);
  assert.equal(await warmup(4, () => 0.5)(2).item(), 0.25);
  assert.throws(() => cosine(1, 4)("2" as never), {
    name: "ArgumentError",
    message: /^A schedule takes a step, a number or a tensor/,
  });
});
