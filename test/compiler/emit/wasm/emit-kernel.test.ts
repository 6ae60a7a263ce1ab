/** The shape of emitted modules: scratch memory, counting beyond 32 bits, and kernels the CPU cannot run. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { emitWasm, rowsPerCount, slotBytes } from "../../../../src/compiler/emit/wasm/emit-kernel.js";
import { canTakeTurns, planVectors } from "../../../../src/compiler/emit/wasm/vector-plan.js";
import { KernelBuilder } from "../../../../src/compiler/ir/kernel-builder.js";
import { UnsupportedError } from "../../../../src/core/errors.js";
import { WebAssembly } from "../../../../src/core/webassembly.js";
import { disassemble } from "../../../../src/wasm/disassemble.js";
import { runKernel } from "../../../support/kernels.js";

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

test("wherever a thread's rows begin and end, each row finds its place by division, and no other row is touched", () => {
  const [rows, by] = [100, 48];
  const k = new KernelBuilder("places", rows);
  const target = k.buffer("i32", true);
  const place = k.binary("irem", k.row, k.constant("i32", by));
  const line = k.binary("idiv", k.row, k.constant("i32", by));
  k.store(target, k.row, k.binary("add", k.binary("mul", line, k.constant("i32", 1000)), place));
  const kernel = k.finish();
  assert.ok(planVectors(kernel).isRowVector && canTakeTurns(kernel.body));
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 65536, shared: true });
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(emitWasm(kernel)), { env: { memory } });
  const words = new Int32Array(memory.buffer);
  const [args, buffer] = [1024, 4096];
  words[args / 4] = buffer;
  for (const [start, end] of [
    [0, 100],
    [4, 97],
    [8, 40],
    [12, 13],
    [20, 84],
    [33, 100],
  ] as const) {
    words.fill(-1, buffer / 4, buffer / 4 + rows);
    (exports.run as (args: number, start: number, end: number) => void)(args, start, end);
    const want = Array.from({ length: rows }, (_, i) =>
      i >= start && i < end ? 1000 * Math.floor(i / by) + (i % by) : -1,
    );
    assert.deepEqual([...words.subarray(buffer / 4, buffer / 4 + rows)], want, `rows ${start} to ${end}`);
  }
});

test("rows of a table are found once for sixteen elements: one division, one load of the row's number", () => {
  const [rows, by] = [96, 48];
  const k = new KernelBuilder("rows", rows);
  const [target, numbers, table] = [k.buffer("f32", true), k.buffer("i32", false), k.buffer("f32", false)];
  const number = k.load(numbers, k.binary("idiv", k.row, k.constant("i32", by)), "i32");
  const place = k.binary(
    "add",
    k.binary("mul", number, k.constant("i32", by)),
    k.binary("irem", k.row, k.constant("i32", by)),
  );
  k.store(target, k.row, k.load(table, place, "f32"));
  const kernel = k.finish();
  assert.ok(canTakeTurns(kernel.body));
  // For a vector, and for all the vectors that take turns.
  const count = (what: RegExp) => disassemble(emitWasm(kernel)).match(what)?.length;
  assert.equal(count(/i32\.div_u/g), 2);
  assert.equal(count(/i32\.rem_u/g), 2);
  const values = Float32Array.from({ length: 3 * by }, (_, i) => i);
  const [found] = runKernel("cpu", kernel, [new Float32Array(rows), Int32Array.of(2, 0), values]);
  assert.deepEqual([...found], [...values.subarray(2 * by), ...values.subarray(0, by)]);
});
