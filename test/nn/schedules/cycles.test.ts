import assert from "node:assert/strict";
import { test } from "node:test";
import { arange, type Tensor } from "../../../src/index.js";
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

describeOnTensorDevices("cosines that restart, late in a run", (device) => {
  const stepsFrom = (first: number, dtype: "i32" | "f32") => arange(first, first + 24, 1, { dtype, device }) as Tensor;
  const assertFrom = async (schedule: schedules.Schedule, first: number, formula: (step: number) => number) => {
    for (const dtype of first > 2 ** 24 ? (["i32"] as const) : (["i32", "f32"] as const)) {
      const found = (await (schedule(stepsFrom(first, dtype)) as Tensor).data()) as Float32Array;
      found.forEach((value, i) => {
        const wanted = formula(first + i);
        assert.ok(Math.abs(value - wanted) < 4e-7, `${dtype}, step ${first + i}: ${value}, not ${wanted}`);
      });
    }
  };

  test("lose no digits", async () => {
    for (const first of [2550, 1e6 + 1, 1e9 + 3])
      await assertFrom(cosineRestarts(1, 10), first, (step) => half((step % 10) / 10));
    const single = cosineRestarts(1, 10);
    assert.ok(Math.abs(Number(await single(123456787).item()) - half(0.7)) < 4e-7);
    assert.ok(Math.abs(Number(await single(123456787.5).item()) - half(0.75)) < 4e-7);
  });

  test("restart at the step where the period begins", async () => {
    for (const [steps, growth] of [
      [1, 2],
      [10, 2],
      [7, 3],
      [10, 1.5],
      [100, 1.01],
    ] as const) {
      // Where periods begin, summed without rounding: growth · 100 is whole.
      const begins: bigint[] = [0n];
      const [scale, times] = [10n ** 60n, BigInt(Math.round(growth * 100))];
      for (let length = BigInt(steps) * scale; begins.at(-1)! < 2n ** 30n * scale; length = (length * times) / 100n) {
        begins.push(begins.at(-1)! + length);
      }
      const formula = (step: number) => {
        const k = begins.findLastIndex((begin) => begin <= BigInt(step) * scale);
        const [begin, end] = [begins[k]!, begins[k + 1]!];
        return half(Number(((BigInt(step) * scale - begin) * 10n ** 15n) / (end - begin)) / 1e15);
      };
      for (const near of [50, 1e6, 1.6e7, 1e9]) {
        const begin = begins.findLast((each) => each <= BigInt(near) * scale)!;
        await assertFrom(cosineRestarts(1, steps, { growth }), Math.max(0, Number(begin / scale) - 12), formula);
      }
    }
  });
});

test("misuse is refused by name", () => {
  assert.throws(() => cosineRestarts(1, 1, { growth: 1 + 1e-9 }), { message: /makes more than 65536 periods/ });
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
