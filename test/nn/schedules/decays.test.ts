import assert from "node:assert/strict";
import { test } from "node:test";
import { arange, type Tensor, tensor } from "../../../src/index.js";
import { schedules } from "../../../src/nn/index.js";
import { describeOnTensorDevices } from "../../support/tensors.js";
import { assertSchedule } from "./at-steps.js";

const { constant, linear, exponential, polynomial, inverseSquareRoot, piecewise } = schedules;

describeOnTensorDevices("schedules that go one way", (device) => {
  test("follow their formulas, and their last values stay", async () => {
    await assertSchedule(constant(0.5), () => 0.5, device);
    const left = (step: number, steps: number) => 1 - Math.min(1, step / steps);
    await assertSchedule(linear(0.5, 0.1, 10), (step) => 0.1 + 0.4 * left(step, 10), device);
    await assertSchedule(polynomial(0.5, 0.1, 10, { power: 3 }), (step) => 0.1 + 0.4 * left(step, 10) ** 3, device);
    await assertSchedule(exponential(0.5, 0.25, 4), (step) => 0.5 * 0.25 ** (step / 4), device);
    const stairs = exponential(0.5, 0.25, 4, { staircase: true, floor: 0.01 });
    await assertSchedule(stairs, (step) => Math.max(0.01, 0.5 * 0.25 ** Math.floor(step / 4)), device);
    const root = (step: number) => 0.5 * Math.min((step + 1) / 4, Math.sqrt(4 / (step + 1)));
    await assertSchedule(inverseSquareRoot(0.5, 4), root, device);
    const parts = piecewise(0.5, { 8: 0.05, 3: 0.2 });
    await assertSchedule(parts, (step) => (step < 3 ? 0.5 : step < 8 ? 0.2 : 0.05), device);
  });
});

test("a constant has a value for each step; whole steps are taken as they are", async () => {
  assert.deepEqual(await constant(0.5)(arange(3)).array(), [0.5, 0.5, 0.5]);
  assert.deepEqual(constant(0.5)(tensor(3)).shape, []);
  assert.deepEqual(
    await (linear(1, 0, 4)(arange(0, 5, 1, { dtype: "i32", device: "cpu" }) as Tensor) as Tensor).array(),
    [1, 0.75, 0.5, 0.25, 0],
  );
});

test("misuse is refused by name", () => {
  assert.throws(() => constant("x" as never), { message: /^constant: the value is a number/ });
  assert.throws(() => linear(1, 0, 0), { message: /^linear: the number of steps is a whole number from 1 on/ });
  assert.throws(() => polynomial(1, 0, 5, { power: 0 }), {
    message: /^polynomial: the power is a finite number above 0/,
  });
  assert.throws(() => exponential(1, 0, 5), { message: /^exponential: the factor/ });
  assert.throws(() => piecewise(1, { 1.5: 2 }), { message: /^piecewise: the step of a change is a whole number/ });
  assert.throws(() => piecewise(1, 3 as never), { message: /^piecewise: the changes are values by step/ });
  assert.throws(() => inverseSquareRoot(1, 0), { message: /^inverseSquareRoot: the number of steps of the warm-up/ });
});
