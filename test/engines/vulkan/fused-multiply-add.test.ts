/** Multiply-adds of a real device that is said to round them once. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Value } from "../../../src/compiler/ir/ir.js";
import { KernelBuilder } from "../../../src/compiler/ir/kernel-builder.js";
import { describeGpu } from "../../../src/runtime/open.js";
import { vulkanEngineOf } from "../../support/engines.js";
import { randomFloats } from "../../support/floats.js";
import { runKernel } from "../../support/kernels.js";
import { fusedMultiplyAdd } from "../../support/math-evaluator.js";
import { describeOnTensorDevices } from "../../support/tensors.js";

describeOnTensorDevices("multiply-adds", (device) => {
  const isFused = device !== "cpu" && describeGpu(vulkanEngineOf(device)).fusesMultiplyAdds;
  const skip = isFused ? false : "the device is not said to round them once";

  test("what is left of a product that cancels is exact", { skip }, () => {
    const count = 1024;
    for (const type of ["f32", "f64"] as const) {
      const k = new KernelBuilder("multiply-add", count);
      const [a, b, c] = [0, 1, 2].map(() => k.load(k.buffer(type, false), k.row, type)) as [Value, Value, Value];
      k.store(k.buffer(type, true), k.row, k.mulAdd(a, b, c), false);
      const random = randomFloats(type, 3);
      const numbers = Array.from({ length: count }, () => [random.between(1, 2), random.between(1, 2)] as const);
      const round = type === "f32" ? Math.fround : (x: number) => x;
      const columns = [
        numbers.map(([x]) => x),
        numbers.map(([, y]) => y),
        numbers.map(([x, y]) => -round(x * y)),
      ] as const;
      const Floats = type === "f32" ? Float32Array : Float64Array;
      const results = runKernel(device, k.finish(), [...columns.map((each) => Floats.from(each)), new Floats(count)]);
      assert.deepEqual(
        [...results.at(-1)!],
        columns[0].map((x, i) => fusedMultiplyAdd(x, columns[1][i]!, columns[2][i]!)),
      );
    }
  });
});
