/** The shape of emitted modules: scratch memory, counting beyond 32 bits, and kernels the CPU cannot run. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { emitWasm, rowsPerCount, slotBytes } from "../../../../src/compiler/emit/wasm/emit-kernel.js";
import { KernelBuilder } from "../../../../src/compiler/ir/kernel-builder.js";
import { UnsupportedError } from "../../../../src/core/errors.js";
import { WebAssembly } from "../../../../src/core/webassembly.js";

function withArray(size: number, lanes = 1, isPrivate = false) {
  const k = new KernelBuilder("scratch", 8, lanes);
  const target = k.buffer("f64", true);
  const array = k.array("f64", size, isPrivate);
  k.set(array, k.lane, k.convert("f64", k.row));
  k.store(target, k.row, k.get(array, k.constant("i32", 0)));
  return k.finish();
}

test("a slot has a line for its mark and whole lines for each array", () => {
  assert.equal(slotBytes(withArray(8)), 64 + 64);
  assert.equal(slotBytes(withArray(9)), 64 + 128);
  const k = new KernelBuilder("none", 8);
  k.store(k.buffer("f32", true), k.row, k.constant("f32", 1));
  assert.equal(slotBytes(k.finish()), 0);
});

test("rows beyond 2^31 are counted in fours", () => {
  assert.equal(rowsPerCount({ rows: 2 ** 31 - 1 }), 1);
  assert.equal(rowsPerCount({ rows: 2 ** 31 }), 4);
  const k = new KernelBuilder("many", 2 ** 32);
  k.store(k.buffer("u8", true, true), k.row, k.constant("u32", 1));
  assert.ok(WebAssembly.validate(emitWasm(k.finish())));
});

test("lanes are 1 or 4, and four lanes share their arrays", () => {
  const lanes = (count: number) => new KernelBuilder("lanes", 8, count).finish();
  assert.throws(
    () => emitWasm(lanes(3)),
    (error) => error instanceof UnsupportedError && /3 lanes/.test(error.message),
  );
  assert.ok(WebAssembly.validate(emitWasm(lanes(4))));
  assert.throws(() => emitWasm(withArray(4, 4, true)), /private arrays of several lanes/);
  assert.ok(WebAssembly.validate(emitWasm(withArray(4, 1, true))));
});
