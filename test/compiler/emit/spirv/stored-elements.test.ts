/** How each dtype lies in the memory of a device. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { roundToNarrow } from "../../../../src/compiler/elements/narrow-floats.js";
import { bitsType, storageType } from "../../../../src/compiler/emit/spirv/stored-elements.js";
import { spirvTarget } from "../../../../src/compiler/emit/spirv/target.js";
import { KernelBuilder } from "../../../../src/compiler/ir/kernel-builder.js";
import { DTYPE_NAMES, DTYPES } from "../../../../src/core/dtype.js";
import { UnsupportedError } from "../../../../src/core/errors.js";
import { ModuleBuilder } from "../../../../src/spirv/builder.js";
import { byteSizeOf } from "../../../../src/spirv/layout.js";
import { commonGpu } from "../../../support/targets.js";

test("an element takes as many bytes on the device as its dtype says; complex numbers are stored by halves", () => {
  for (const dtype of DTYPE_NAMES) {
    const m = new ModuleBuilder();
    if (DTYPES[dtype].kind === "complex") assert.throws(() => storageType(m, dtype), UnsupportedError);
    else assert.equal(byteSizeOf(storageType(m, dtype)), DTYPES[dtype].bytes, dtype);
  }
});

test("bool is a byte and bf16 a word of 16 bits: devices have no such types in memory", () => {
  const m = new ModuleBuilder();
  assert.equal(storageType(m, "bool"), m.u8);
  assert.equal(storageType(m, "bf16"), m.u16);
});

test("buffers that are exchanged are integers of the element's width", () => {
  const m = new ModuleBuilder();
  assert.equal(bitsType(m, "f32"), m.u32);
  assert.equal(bitsType(m, "f64"), m.u64);
});

test("bf16 is rounded by the device where it has an instruction for it: in the middle of a kernel and in stores", () => {
  const k = new KernelBuilder("rounded", 8);
  const [from, to] = [k.buffer("f32", false), k.buffer("bf16", true)];
  const rounded = roundToNarrow(k, k.load(from, k.row, "f32"), "bf16");
  k.store(to, k.row, k.binary("mul", rounded, rounded));
  const kernel = k.finish();
  const conversions = (convertsBrain: boolean) => {
    const target = spirvTarget({ ...commonGpu, convertsBrain });
    const text = target.disassemble(target.encode(kernel, null).bytes);
    const [, type] = /(%\S+) = OpTypeFloat 16 BFloat16KHR/.exec(text) ?? [];
    return text.split("\n").filter((line) => line.includes(`OpFConvert ${type} `)).length;
  };
  assert.equal(conversions(true), 2);
  assert.equal(conversions(false), 0);
});
