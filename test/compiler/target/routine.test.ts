/** A target's own routine: a kernel in SPIR-V of its own, in a program among kernels of the loop language. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { NativeKernel } from "../../../src/compiler/ir/ir.js";
import type { NativeRoutine } from "../../../src/compiler/target/routine.js";
import { grad, jit, type Tensor } from "../../../src/index.js";
import { Backend } from "../../../src/runtime/backend.js";
import { ModuleBuilder } from "../../../src/spirv/module/builder.js";
import { backendFor } from "../../../src/tensor/index.js";
import { vulkanEngineOf } from "../../support/engines.js";
import { tensorOn } from "../../support/forced-tiles.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";

const THREADS = 64;

/** out[i] = 1000 + a[i], which no cumulative sum is: whoever sees it knows that this kernel ran. */
const addThousand: NativeRoutine = (node) => {
  const rows = node.shape.reduce((product, extent) => product * extent, 1);
  const buffers = [
    { dtype: "f32", isWritten: false, isLarge: false },
    { dtype: "f32", isWritten: true, isLarge: false },
  ] as const;
  const kernel: NativeKernel = {
    name: "add a thousand",
    rows,
    lanes: 1,
    buffers,
    arrays: [],
    body: null,
    size: 1,
    isRepeating: false,
    encode: (_, isIndirect) => {
      const m = new ModuleBuilder();
      const address = m.vec(m.u32, 2);
      const push = m.pushConstants([
        ["from", address],
        ["to", address],
      ] as const);
      m.entry("main", { localSize: [THREADS] }, (f) => {
        const i = f.builtin("GlobalInvocationId").x;
        const at = (given: typeof push.from, buffer: number) =>
          isIndirect?.[buffer] ? f.ref(f.pointer(given, m.bufferPointer(address, { writable: false }))).load(0) : given;
        f.if(f.less(i, rows), () => {
          const from = f.ref(f.pointer(at(push.from, 0), m.bufferPointer(m.f32, { writable: false })));
          const to = f.ref(f.pointer(at(push.to, 1), m.bufferPointer(m.f32, {})));
          to.store(i, f.add(from.load(i), 1000));
        });
      });
      const words = m.build();
      const bytes = new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
      return { bytes, numbers: [Math.ceil(rows / THREADS), 1, 1, 0] };
    },
  };
  const steps = [
    { kernel, buffers: [{ kind: "input", index: 0 }, { kind: "result" }], formula: () => "out[i] = a[i] + 1000" },
  ] as const;
  return { temporaries: [], steps };
};

describeOnTensorDevices("a target's own routine", (device) => {
  test("runs in place of the common one, between fused kernels, plainly and recorded", {
    skip: device === "cpu",
  }, () => {
    const { target } = backendFor(device);
    const own = new Backend(device, vulkanEngineOf(device), { ...target, routines: { cumulate: addThousand } }, null);
    const x = tensorOn(
      own as unknown as Backend,
      { shape: [100], values: Array.from({ length: 100 }, (_, i) => i) },
      "f32",
    );
    const f = (t: Tensor) => t.mul(2).cumsum({ axis: 0 }).sub(1);
    const expected = Array.from({ length: 100 }, (_, i) => 2 * i + 999);
    assert.deepEqual(numbersOf(f(x)), expected);
    const quick = jit(f);
    for (let call = 0; call < 3; call++) assert.deepEqual(numbersOf(quick(x)), expected);
    assert.equal(numbersOf(grad((t: Tensor) => f(t).sum())(x)).length, 100);
  });
});
