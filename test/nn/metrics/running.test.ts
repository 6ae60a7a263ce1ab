/** Running means. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { jit, type Tensor, tensor } from "../../../src/index.js";
import { metrics } from "../../../src/nn/index.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";

const { runningMean, startMean } = metrics;

describeOnTensorDevices("runningMean", () => {
  test("is the weighted mean of all values, also in a jitted step", () => {
    const step = jit((state: metrics.RunningMean, value: Tensor, weight: Tensor) => runningMean(state, value, weight));
    let [plain, jitted] = [startMean(), startMean()];
    const batches = [[0.5, 32], [0.75, 32], [0.25, 8], [1, 0]] as const; // biome-ignore format: pairs
    for (const [value, weight] of batches) {
      plain = runningMean(plain, tensor(value), weight);
      jitted = step(jitted, tensor(value), tensor(weight));
    }
    for (const { mean, weight } of [plain, jitted]) {
      assert.ok(Math.abs(numbersOf(mean)[0]! - (16 + 24 + 2) / 72) < 1e-7);
      assert.deepEqual(numbersOf(weight), [72]);
    }
  });
});

test("nothing yet stays nothing, and states that are none are refused", () => {
  const state = startMean({ device: "cpu", dtype: "f64" });
  const same = runningMean(state, tensor(3, { device: "cpu", dtype: "f64" }), 0);
  assert.deepEqual([...numbersOf(same.mean), ...numbersOf(same.weight)], [0, 0]);
  assert.throws(() => runningMean(null as never, state.mean), { name: "ArgumentError", message: /startMean\(\)/ });
  assert.throws(() => runningMean(state, tensor([1], { device: "cpu" })), { name: "ShapeError", message: /\[1\]/ });
});
