/** Schedules beside their formulas, at the first 40 steps: all at once, and one step as a scalar. */
import assert from "node:assert/strict";
import { arange, jit, type Tensor, tensor } from "../../../src/index.js";
import type { schedules } from "../../../src/nn/index.js";

export async function assertSchedule(
  schedule: schedules.Schedule,
  formula: (step: number) => number,
  device: string,
): Promise<void> {
  const all = jit((steps: Tensor) => schedule(steps) as Tensor)(arange(0, 40, 1, { dtype: "f32", device }) as Tensor);
  const found = [...(await all.data())];
  found.forEach((value, step) => {
    assert.ok(Math.abs(value - formula(step)) <= 2e-6, `step ${step}: ${value}, not ${formula(step)}`);
  });
  const one = await (schedule(tensor(7, { dtype: "f32", device })) as Tensor).item();
  assert.ok(Math.abs(one - found[7]!) <= 1e-7);
}
