import assert from "node:assert/strict";
import { test } from "node:test";
import { schedules } from "../../../src/nn/index.js";
import { describeOnTensorDevices } from "../../support/tensors.js";
import { assertSchedule } from "./at-steps.js";

const { cosine, cosineRestarts, oneCycle, warmup, linear } = schedules;
const half = (share: number) => (1 + Math.cos(Math.PI * share)) / 2;

describeOnTensorDevices("schedules with a turn", (device) => {
  test("follow their formulas", async () => {
    await assertSchedule(cosine(0.5, 12, { floor: 0.1 }), (step) => 0.1 + 0.4 * half(Math.min(1, step / 12)), device);
    await assertSchedule(cosineRestarts(0.5, 6), (step) => 0.5 * half((step % 6) / 6), device);
    // Periods of 3, 6, 12, 24 steps, each from 0.8 of the one before.
    const growing = (step: number) => {
      let [begin, length, peak] = [0, 3, 0.5];
      while (step >= begin + length) [begin, length, peak] = [begin + length, 2 * length, 0.8 * peak];
      return 0.1 + (peak - 0.1) * half((step - begin) / length);
    };
    await assertSchedule(cosineRestarts(0.5, 3, { growth: 2, decay: 0.8, floor: 0.1 }), growing, device);
    const cycle = (step: number) => {
      const [first, last, top] = [0.5 / 25, 0.5 / 25e4, 0.3 * 20 - 1];
      if (step <= top) return 0.5 + (first - 0.5) * half(step / top);
      return last + (0.5 - last) * half(Math.min(1, (step - top) / (19 - top)));
    };
    await assertSchedule(oneCycle(0.5, 20), cycle, device);
    const warm = (step: number) => (step < 5 ? 0.1 + 0.3 * (step / 5) : 0.4 * (1 - Math.min(1, (step - 5) / 10)));
    await assertSchedule(warmup(5, linear(0.4, 0, 10), { from: 0.1 }), warm, device);
    await assertSchedule(warmup(8, 0.4), (step) => 0.4 * Math.min(1, step / 8), device);
  });
});

test("misuse is refused by name", () => {
  assert.throws(() => cosine(1, 0), { message: /^cosine: the number of steps/ });
  assert.throws(() => cosine(1, 5, { flor: 1 } as never), { message: /^cosine: there is no option "flor"/ });
  assert.throws(() => cosineRestarts(1, 5, { growth: 0.5 }), {
    message: /^cosineRestarts: the option growth is 1 or more/,
  });
  assert.throws(() => oneCycle(1, 100, { rising: 1 }), {
    message: /^oneCycle: the option rising lies between 0 and 1/,
  });
  assert.throws(() => oneCycle(1, 2), { message: /^oneCycle: 2 steps are too few/ });
  assert.throws(() => warmup(5, "x" as never), { message: /^warmup: the schedule that follows is a function/ });
});
