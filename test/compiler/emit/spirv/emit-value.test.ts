/** Operations that SPIR-V, Vulkan or a driver defines otherwise than the loop-nest language. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { emitSpirv } from "../../../../src/compiler/emit/spirv/emit-kernel.js";
import type { IRType, Value } from "../../../../src/compiler/ir/ir.js";
import { KernelBuilder } from "../../../../src/compiler/ir/kernel-builder.js";
import { disassemble } from "../../../../src/spirv/read/disassemble.js";

/** The text of a kernel that applies an operation to two loaded operands. */
function textOf(type: IRType, rule: (k: KernelBuilder, a: Value, b: Value) => Value): string {
  const k = new KernelBuilder("operation", 8);
  const [x, y] = [0, 1].map(() => k.load(k.buffer(type as "f32", false), k.row, type));
  const value = rule(k, x!, y!);
  k.store(k.buffer(value.type, true), k.row, value);
  return disassemble(emitSpirv(k.finish()));
}

test("the remainder of signed integers is a - (a / b) b: Vulkan leaves OpSRem undefined for negative operands", () => {
  assert.doesNotMatch(
    textOf("i32", (k, a, b) => k.binary("irem", a, b)),
    /OpSRem|OpSMod/,
  );
  assert.match(
    textOf("u32", (k, a, b) => k.binary("irem", a, b)),
    /OpUMod/,
  );
});

test("minima and maxima of floats test for NaN, which must win; those of integers are one instruction", () => {
  for (const op of ["min", "max"] as const) {
    assert.match(
      textOf("f32", (k, a, b) => k.binary(op, a, b)),
      /OpIsNan/,
    );
    assert.match(
      textOf("i32", (k, a, b) => k.binary(op, a, b)),
      new RegExp(op === "min" ? "SMin" : "SMax"),
    );
  }
});

test("an i32 becomes an i64 as two words: Mesa folds comparisons of a sign extension wrongly", () => {
  assert.doesNotMatch(
    textOf("i32", (k, a) => k.convert("i64", a)),
    /OpSConvert/,
  );
  assert.match(
    textOf("u32", (k, a) => k.convert("u64", a)),
    /OpUConvert/,
  );
});

test("a multiply-add of floats may be fused; of integers it is two instructions", () => {
  assert.match(
    textOf("f32", (k, a, b) => k.mulAdd(a, b, a)),
    /Fma/,
  );
  assert.match(
    textOf("i32", (k, a, b) => k.mulAdd(a, b, a)),
    /OpIMul[\s\S]*OpIAdd/,
  );
});
