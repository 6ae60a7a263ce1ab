/** The CPU's own kernel of histograms: where it is taken, and that it runs only in the branch that is taken. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { wasmTarget } from "../../../../src/compiler/emit/wasm/target.js";
import { isWhole } from "../../../../src/compiler/ir/ir.js";
import { cpuProfile } from "../../../../src/compiler/target/profile.js";
import { cond, type Tensor, tensor, withDevice, zeros } from "../../../../src/index.js";
import { histogramByNode, rowsAtRoot } from "../../../../src/tensor/index.js";
import { numbersOf } from "../../../support/tensors.js";

const codes = [3, 3, 7, 255];

function histogram(): Tensor {
  const words = tensor(Uint32Array.from(codes), { shape: [1, codes.length] }) as Tensor;
  const gradients = { gradients: tensor([1, 2, 4, 8]), hessians: null, largest: tensor([8, 1]) };
  const slotOfNode = zeros([1], { dtype: "i32" });
  return histogramByNode(words, rowsAtRoot(words), slotOfNode, gradients, null, { slots: 1, isPrecise: false });
}

test("rows that are listed are summed by a kernel that the loop-nest language cannot say; others by one that it can", () => {
  withDevice("cpu", () => {
    const { node } = histogram();
    const { routines, settings } = wasmTarget(2);
    const kernels = (profile: typeof cpuProfile) =>
      routines?.nodeHistogram?.(node, profile, settings).steps.map(({ kernel }) => isWhole(kernel));
    assert.deepEqual(kernels(cpuProfile), [true, false]);
    assert.ok(kernels({ ...cpuProfile, maxLanes: 4 })?.every(Boolean));
  });
});

test("it runs in a branch, and only there", () => {
  withDevice("cpu", () => {
    for (const isAsked of [true, false]) {
      const found = numbersOf(
        cond(tensor(isAsked), histogram, () => zeros([1, 4, 2, 256], { dtype: "f64" })) as Tensor,
      );
      assert.deepEqual([found[3], found[7], found[255], found[4]], isAsked ? [3, 4, 8, 0] : [0, 0, 0, 0]);
      assert.deepEqual([found[256 + 3], found[256 + 7]], isAsked ? [2, 1] : [0, 0]);
    }
  });
});
