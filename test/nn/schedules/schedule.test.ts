import assert from "node:assert/strict";
import { test } from "node:test";
import { tensor } from "../../../src/index.js";
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
