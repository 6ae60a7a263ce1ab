/** How each dtype lies in the memory of a device. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { bitsType, storageType } from "../../../../src/compiler/emit/spirv/stored-elements.js";
import { DTYPE_NAMES, DTYPES } from "../../../../src/core/dtype.js";
import { UnsupportedError } from "../../../../src/core/errors.js";
import { ModuleBuilder } from "../../../../src/spirv/module/builder.js";
import { byteSizeOf } from "../../../../src/spirv/module/layout.js";

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
