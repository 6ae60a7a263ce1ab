/** Fused multiply-adds: products have them where the engine does, and nothing else does, so that all else keeps its bits. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { emitWasm } from "../../../../src/compiler/emit/wasm/emit-kernel.js";
import { hasRelaxedSimd } from "../../../../src/compiler/emit/wasm/multiply-add.js";
import { wasmTarget } from "../../../../src/compiler/emit/wasm/target.js";
import type { Value } from "../../../../src/compiler/ir/ir.js";
import { KernelBuilder } from "../../../../src/compiler/ir/kernel-builder.js";
import { WebAssembly } from "../../../../src/core/webassembly.js";
import { openHostDevice } from "../../../../src/engines/host/device.js";
import { hostBackend } from "../../../../src/runtime/open.js";
import { disassemble } from "../../../../src/wasm/disassemble.js";

const ROWS = 8;

/** rule(x, y, z) of eight rows. */
function kernelOf(rule: (k: KernelBuilder, x: Value, y: Value, z: Value) => Value) {
  const k = new KernelBuilder("three", ROWS);
  const [x, y, z] = [0, 1, 2].map(() => k.load(k.buffer("f32", false), k.row, "f32"));
  k.store(k.buffer("f32", true), k.row, rule(k, x!, y!, z!));
  return k.finish();
}

const fusable = () => kernelOf((k, x, y, z) => k.mulAdd(x, y, z));

test("mulAdd is one relaxed instruction where the engine has it, and two plain ones elsewhere", () => {
  const text = (relaxedSimd: boolean) => disassemble(emitWasm(fusable(), relaxedSimd));
  assert.match(text(true), /f32x4\.relaxed_madd/);
  assert.doesNotMatch(text(false), /relaxed/);
  for (const plain of ["f32x4.mul", "f32x4.add"]) assert.ok(text(false).includes(plain), plain);
});

test("a product and a sum that are written apart are never fused: the math library keeps its bits", () => {
  const apart = () => kernelOf((k, x, y, z) => k.binary("add", k.binary("mul", x, y), z));
  assert.deepEqual(emitWasm(apart(), true), emitWasm(apart(), false));
});

test("integers have no fused instruction", () => {
  const k = new KernelBuilder("integers", ROWS);
  const [x, y] = [0, 1].map(() => k.load(k.buffer("i32", false), k.row, "i32"));
  k.store(k.buffer("i32", true), k.row, k.mulAdd(x!, y!, x!));
  assert.doesNotMatch(disassemble(emitWasm(k.finish(), true)), /relaxed/);
});

test("programs that differ in this are kept apart on disk", () => {
  assert.notEqual(wasmTarget(1, undefined, { relaxedSimd: true }).identity, wasmTarget(1).identity);
});

test("PUMICE_FMA=off switches it off", async () => {
  const before = process.env.PUMICE_FMA;
  process.env.PUMICE_FMA = "off";
  const plain = openHostDevice({ threads: 1 });
  delete process.env.PUMICE_FMA;
  const fusing = openHostDevice({ threads: 1 });
  if (before !== undefined) process.env.PUMICE_FMA = before;
  assert.deepEqual([plain.mayFuse, fusing.mayFuse], [false, true]);
  assert.equal(hostBackend(plain, { files: null }).target.identity, "wasm");
  await Promise.all([plain.close(), fusing.close()]);
});

const skip = hasRelaxedSimd() ? false : "this engine has no relaxed SIMD (Node 22 has)";

test("a fused multiply-add rounds once, or twice on processors without it", { skip }, () => {
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 65536, shared: true });
  const module = new WebAssembly.Module(emitWasm(fusable(), true));
  const { run } = new WebAssembly.Instance(module, { env: { memory } }).exports as {
    run: (...given: number[]) => void;
  };
  const words = new Int32Array(memory.buffer, 0, 4);
  words.set([256, 512, 768, 1024]);
  const column = (at: number) => new Float32Array(memory.buffer, at, ROWS);
  // (1 + 2^-12)² = 1 + 2^-11 + 2^-24: the last term is lost when the square is rounded by itself.
  column(256).fill(1 + 2 ** -12);
  column(512).fill(1 + 2 ** -12);
  column(768).fill(-(1 + 2 ** -11));
  run(0, 0, ROWS);
  for (const value of column(1024)) assert.ok(value === 2 ** -24 || value === 0, String(value));
});
