/** Division in the math library: corrected by default, the device's own where it is said to round correctly. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { spirvOps } from "../../../../src/compiler/emit/spirv/scalar-ops.js";
import { divide } from "../../../../src/compiler/math/correct-rounding.js";
import { ModuleBuilder } from "../../../../src/spirv/module/builder.js";
import { disassemble } from "../../../../src/spirv/read/disassemble.js";

function quotient(options: { division?: "native" | "corrected" } = {}): string {
  const m = new ModuleBuilder({ noContraction: true });
  const [a, b] = [0, 1].map((binding) => m.storageBuffer(m.f32, { binding, writable: false }));
  const out = m.storageBuffer(m.f32, { binding: 2 });
  m.entry("main", { localSize: [1] }, (f) => {
    const i = f.builtin("GlobalInvocationId").x;
    out.store(i, divide(spirvOps(f, options), a!.load(i), b!.load(i), "f32"));
  });
  return disassemble(m.build());
}

const operations = (text: string): string[] => text.match(/Op[FI](Add|Sub|Mul|Div)\b/g) ?? [];

test("native division is one instruction", () => {
  assert.deepEqual(operations(quotient({ division: "native" })), ["OpFDiv"]);
});

test("corrected division is the default, and takes a remainder besides the estimate", () => {
  const corrected = operations(quotient({ division: "corrected" }));
  assert.deepEqual(operations(quotient()), corrected);
  assert.ok(corrected.length > 10);
  assert.ok(corrected.includes("OpIMul") || corrected.includes("OpFMul"));
});
