/**
 * The library on every Vulkan device there is: the same bits as in JavaScript. A device that does not offer to preserve
 * denormals may flush them; everything else, rounding included, is the library's to guarantee.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { spirvOps } from "../../../src/compiler/emit/spirv/scalar-ops.js";
import { mathFunctions } from "../../../src/compiler/math/library.js";
import type { FloatType } from "../../../src/compiler/math/scalar-ops.js";
import { UnsupportedError } from "../../../src/core/errors.js";
import { ModuleBuilder } from "../../../src/spirv/index.js";
import { floatControlsOf } from "../../../src/spirv/module/float-controls.js";
import type { VulkanDevice } from "../../../src/vulkan/index.js";
import { describeOnOpenDevices, underValidation } from "../../support/devices.js";
import { asFloats, bytesPer, floats, isDenormal } from "../../support/floats.js";
import { applyTo, argumentsFor, compiled, type MathFunctionName, names } from "./math-cases.js";

const GROUP = 64;

/** out[i] = f(x[i]) or f(x[i], y[i]); buffers padded to whole groups. */
function shader(name: MathFunctionName, type: FloatType, device: VulkanDevice): Uint32Array {
  const floatControls = floatControlsOf(device.properties.floatControls);
  const m = new ModuleBuilder({ noContraction: true, floatControls });
  const element = type === "f32" ? m.f32 : m.f64;
  const inputs = Array.from({ length: mathFunctions[name].arity }, (_, binding) =>
    m.storageBuffer(element, { binding, writable: false }),
  );
  const out = m.storageBuffer(element, { binding: inputs.length });
  m.entry("main", { localSize: [GROUP] }, (f) => {
    const i = f.builtin("GlobalInvocationId").x;
    const args = inputs.map((input) => input.load(i));
    out.store(i, applyTo(name, spirvOps(f), args, type));
  });
  return m.build();
}

async function runOn(device: VulkanDevice, name: MathFunctionName, type: FloatType, rows: readonly number[][]) {
  const padded = Math.ceil(rows.length / GROUP) * GROUP;
  const kernel = device.kernel(shader(name, type, device));
  const inputs = Array.from({ length: mathFunctions[name].arity }, (_, position) => {
    const values = floats(type, padded);
    values.set(rows.map((row) => row[position]));
    return device.upload(values);
  });
  const out = device.alloc(padded * bytesPer(type));
  kernel.run({ buffers: [...inputs, out], groups: [padded / GROUP] });
  return asFloats(type, await out.read());
}

describeOnOpenDevices("the math library", underValidation("slow, and the same shaders"), (device) => {
  for (const type of ["f32", "f64"] as const) {
    test(`every function in ${type} gives the bits it gives in JavaScript`, async (t) => {
      const control = floatControlsOf(device().properties.floatControls)[type === "f32" ? 32 : 64];
      const mayFlush = control?.denormals !== "preserve";
      for (const name of names) {
        const f = compiled(name, type);
        const rows = argumentsFor(name, type, 2000);
        let results: ArrayLike<number>;
        try {
          results = await runOn(device(), name, type, rows);
        } catch (error) {
          if (!(error instanceof UnsupportedError)) throw error;
          t.skip(error.message);
          return;
        }
        rows.forEach((args, i) => {
          const expected = f(...args);
          const mayBeFlushed = mayFlush && [expected, ...args].some((x) => isDenormal(type, x));
          if (Object.is(results[i], expected) || mayBeFlushed) return;
          assert.fail(`${name}(${args.join(", ")}) is ${results[i]} on the device, ${expected} in JavaScript`);
        });
      }
    });
  }
});
