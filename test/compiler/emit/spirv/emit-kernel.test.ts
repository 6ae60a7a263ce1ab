/** The interface of emitted kernels, read back from their words. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { emitSpirv, INLINE_BUFFERS } from "../../../../src/compiler/emit/spirv/emit-kernel.js";
import { KernelBuilder } from "../../../../src/compiler/ir/kernel-builder.js";
import { disassemble } from "../../../../src/spirv/read/disassemble.js";
import { reflect } from "../../../../src/spirv/read/reflect.js";

/** Adds up one element of each of several buffers. */
function sumOf(count: number, rows = 100, lanes = 1) {
  const k = new KernelBuilder("sum", rows, lanes);
  const sources = Array.from({ length: count - 1 }, () => k.buffer("f32", false));
  const target = k.buffer("f32", true);
  const loaded = sources.map((source) => k.load(source, k.row, "f32"));
  k.store(
    target,
    k.row,
    loaded.reduce((a, b) => k.binary("add", a, b)),
  );
  return k.finish();
}

const entryOf = (words: Uint32Array) => reflect(words).entry("main", new Map())!;

test("addresses stand in the push block while they fit, and then in a table that it points to", () => {
  assert.equal(entryOf(emitSpirv(sumOf(3))).pushBytes, 24);
  assert.equal(entryOf(emitSpirv(sumOf(INLINE_BUFFERS))).pushBytes, 8 * INLINE_BUFFERS);
  assert.equal(entryOf(emitSpirv(sumOf(INLINE_BUFFERS + 1))).pushBytes, 8);
});

test("an indirect buffer takes one load more: that of its address", () => {
  const loads = (words: Uint32Array) => disassemble(words).match(/OpLoad/g)!.length;
  const plain = loads(emitSpirv(sumOf(3)));
  assert.equal(loads(emitSpirv(sumOf(3), { isIndirect: [false, true, false] })), plain + 1);
});

test("kernels need no descriptors, and no shared memory where lanes do not exchange", () => {
  const { bindings, sharedBytes, localSize } = entryOf(emitSpirv(sumOf(3)));
  assert.deepEqual([bindings.length, sharedBytes, localSize], [0, 0, [64, 1, 1]]);
});

test("arrays of a row are shared memory of its workgroup; private ones are not", () => {
  const k = new KernelBuilder("arrays", 8, 32);
  const [shared, own] = [k.array("f32", 40), k.array("f32", 40, true)];
  const target = k.buffer("f32", true);
  k.set(own, k.lane, k.convert("f32", k.lane));
  k.set(shared, k.lane, k.get(own, k.lane));
  k.barrier();
  k.store(target, k.lane, k.get(shared, k.constant("i32", 3)), false);
  assert.equal(entryOf(emitSpirv(k.finish())).sharedBytes, 160);
});

test("floats are never contracted", () => {
  const words = emitSpirv(sumOf(4));
  const text = disassemble(words);
  assert.equal(text.match(/NoContraction/g)!.length, text.match(/OpFAdd/g)!.length);
});

test("large kernels ask the driver not to unroll", () => {
  const k = new KernelBuilder("loop", 8);
  const target = k.buffer("i32", true);
  const [sum] = k.loop(50, [k.constant("i32", 0)], (at, [total]) => [k.binary("xor", total!, at)]);
  k.store(target, k.row, sum!);
  const kernel = k.finish();
  assert.match(disassemble(emitSpirv(kernel, { maxUnrolledSize: 1 })), /OpLoopMerge .* DontUnroll/);
  assert.doesNotMatch(disassemble(emitSpirv(kernel)), /DontUnroll/);
});

test("a row that has a workgroup is numbered without its threads, so that drivers know it to be the same for all", () => {
  const divisions = (lanes: number) => {
    const words = emitSpirv(sumOf(3, 100, lanes), { subgroupSize: 32 });
    return disassemble(words).match(/OpU(Div|Mod)/g)?.length ?? 0;
  };
  assert.equal(divisions(64), 0);
  assert.ok(divisions(8) > 0, "several rows in a workgroup");
});
