/** Kernels as text: every kind of statement has its line, and what is nested is indented. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { KernelBuilder } from "../../../src/compiler/ir/kernel-builder.js";
import { printKernel } from "../../../src/compiler/print/print-kernel.js";

test("every statement is printed, with its operands by name", () => {
  const k = new KernelBuilder("everything", 6, 4);
  const [source, target] = [k.buffer("f32", false), k.buffer("f32", true)];
  const counts = k.array("i32", 8);
  const zero = k.constant("f32", 0);
  const [sum] = k.loop(
    12,
    [zero],
    (at, [total]) => {
      const x = k.load(source, at, "f32");
      k.count(counts, at, k.constant("i32", 1));
      return [k.binary("add", total!, x)];
    },
    { isLaneLoop: true },
  );
  k.barrier();
  const isAny = k.compare("gt", k.combineLanes("add", sum!), zero);
  k.when(isAny, () => {
    k.set(counts, k.lane, k.constant("i32", 2));
    return [];
  });
  k.atomic("add", target, k.row, k.convert("f32", k.get(counts, k.lane)), isAny);
  k.store(target, k.row, sum!, true);
  const text = printKernel({ ...k.finish(), gate: { buffer: 0, value: 1 } });
  for (const line of [
    "kernel everything: 6 rows × 4 lanes",
    "  b0: f32",
    "  b1: f32, written",
    "  a0: i32[8]",
    "  only if b0[0] is 1",
    "  barrier",
  ]) {
    assert.ok(text.split("\n").includes(line), `"${line}" in\n${text}`);
  }
  assert.match(text, /\n {2}lane loop %\d+ < 12 with %\d+ = 0\n {4}%\d+: f32 = load b0\[%\d+\]\n/);
  assert.match(text, /\n {4}count a0\[%\d+\] \+= 1 \(each lane\)\n/);
  assert.match(text, /\n {4}→ %\d+ as %\d+\n/);
  assert.match(text, /= combineLanes %\d+ \(add\)\n/);
  assert.match(text, /\n {2}if %\d+\n {4}write a0\[lane\] = 2\n/);
  assert.match(text, /\n {2}%\d+: i32 = read a0\[lane\]\n/);
  assert.match(text, /\n {2}atomic add b1\[row\] = %\d+ if %\d+ \(each lane\)\n/);
  assert.match(text, /\n {2}store b1\[row\] = %\d+$/);
});

test("a kernel whose code was read from a file has no statements to print", () => {
  const k = new KernelBuilder("cached", 1);
  assert.match(printKernel({ ...k.finish(), body: null }), /its code was read from a file/);
});
