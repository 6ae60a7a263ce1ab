/** WebAssembly as a target: the numbers that go with a kernel, and its mapping in words. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { wasmTarget } from "../../../../src/compiler/emit/wasm/target.js";
import { KernelBuilder } from "../../../../src/compiler/ir/kernel-builder.js";

function kernel(rows: number, rounds = 0) {
  const k = new KernelBuilder("work", rows);
  const [source, target] = [k.buffer("f32", false), k.buffer("f32", true)];
  let x = k.load(source, k.row, "f32");
  if (rounds > 0) [x] = k.loop(rounds, [x], (_, [total]) => [k.binary("mul", total!, total!)]) as [typeof x];
  k.store(target, k.row, x);
  return k.finish();
}

test("a kernel counts its rows, and says how many of them are worth a thread: fewer where each is much work", () => {
  const { encode } = wasmTarget(4);
  const [count, light, slot] = encode(kernel(1000), null).numbers;
  const [, heavy] = encode(kernel(1000, 500), null).numbers;
  assert.deepEqual([count, slot], [1000, 0]);
  assert.ok(light! > 100 * heavy! && heavy! >= 1, `${light} and ${heavy}`);
});

test("threads take whole vectors of rows, and where there are many whole lines of the cache", () => {
  const target = wasmTarget(2);
  const mapping = (rows: number) => {
    const made = kernel(rows, 100_000);
    return target.mappingOf(made, target.encode(made, null).numbers);
  };
  assert.equal(mapping(12), "over 2 threads, 4 rows at a time; vectors of 4 rows");
  assert.equal(mapping(50), "over 2 threads, 16 rows at a time; vectors of 4 rows");
});

test("small kernels stay on one thread, large ones are split over all", () => {
  const target = wasmTarget(4);
  const mapping = (rows: number) => {
    const made = kernel(rows);
    return target.mappingOf(made, target.encode(made, null).numbers);
  };
  assert.equal(mapping(100), "on one thread; vectors of 4 rows");
  assert.match(mapping(1e6), /^over 4 threads, \d+ rows at a time; vectors of 4 rows$/);
});

test("division is the CPU's own, which rounds correctly", () => {
  assert.equal(wasmTarget(1).settings.division, "native");
});
