import assert from "node:assert/strict";
import { test } from "node:test";
import { jit, type Tensor, tensor } from "../../../src/index.js";
import { schedules } from "../../../src/nn/index.js";
import { describeOnTensorDevices } from "../../support/tensors.js";

const { plateau } = schedules;

/** PyTorch's ReduceLROnPlateau, written out. */
function scales(metrics: readonly number[], options: Required<schedules.PlateauOptions>): number[] {
  const { factor, patience, cooldown, threshold, floor, mode } = options;
  let [scale, best, bad, resting] = [1, mode === "min" ? Infinity : -Infinity, 0, 0];
  return metrics.map((metric) => {
    const isBetter = mode === "min" ? metric < best * (1 - threshold) : metric > best * (1 + threshold);
    if (isBetter) [best, bad] = [metric, 0];
    else bad++;
    if (resting > 0) [resting, bad] = [resting - 1, 0];
    if (bad > patience) [scale, resting, bad] = [Math.max(scale * factor, floor), cooldown, 0];
    return scale;
  });
}

describeOnTensorDevices("plateau", (device) => {
  test("shrinks as PyTorch's does", async () => {
    const metrics = [5, 4, 4.1, 4.2, 3.999, 3.99, 4, 4, 3, 3, 3, 3, 3, 3, 3, 2, 3, 3, 3, 3, 3, 3];
    for (const mode of ["min", "max"] as const) {
      const options = { factor: 0.5, patience: 2, cooldown: 2, threshold: 0.01, floor: 0.2, mode };
      const given = mode === "min" ? metrics : metrics.map((metric) => 10 - metric);
      const follower = plateau(options);
      const step = jit((metric: Tensor, state: schedules.PlateauState) => follower.update(metric, state));
      let state = follower.init({ device });
      const found: number[] = [];
      for (const metric of given) {
        state = step(tensor(metric, { dtype: "f32", device }), state);
        found.push(Math.round((await state.scale.item()) * 1e6) / 1e6);
      }
      assert.deepEqual(found, scales(given, options));
      assert.ok(new Set(found).size >= 3);
    }
  });
});

test("misuse is refused by name", () => {
  assert.throws(() => plateau({ factor: 0 }), { message: /^plateau: the factor is a finite number above 0/ });
  assert.throws(() => plateau({ factor: 2 }), { message: /^plateau: the factor is below 1/ });
  assert.throws(() => plateau({ patience: -1 }), { message: /^plateau: the patience is a whole number from 0 on/ });
  assert.throws(() => plateau({ mode: "low" as never }), { message: /^plateau: the mode is "low"/ });
});
