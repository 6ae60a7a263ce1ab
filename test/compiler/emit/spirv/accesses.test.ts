/** What the declarations of a kernel's memory depend on. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { surveyAccesses } from "../../../../src/compiler/emit/spirv/accesses.js";
import type { CombineOp, IRType } from "../../../../src/compiler/ir/ir.js";
import { KernelBuilder } from "../../../../src/compiler/ir/kernel-builder.js";

function updated(type: "i32" | "f32" | "f64", op: CombineOp, atomicFloats: readonly IRType[]): boolean {
  const k = new KernelBuilder("update", 4);
  k.atomic(op, k.buffer(type, true), k.row, k.constant(type, 1));
  return surveyAccesses(k.finish(), atomicFloats).exchanged.has(0);
}

test("atomics without an instruction are exchanged: products, and floats but for sums that the device has", () => {
  assert.equal(updated("i32", "add", []), false);
  assert.equal(updated("i32", "max", []), false);
  assert.equal(updated("i32", "mul", []), true);
  assert.equal(updated("f32", "add", []), true);
  assert.equal(updated("f32", "add", ["f32"]), false);
  assert.equal(updated("f64", "add", ["f32"]), true);
  assert.equal(updated("f32", "max", ["f32"]), true);
});

test("a buffer that lanes read and write is shared by them, unless there is only one", () => {
  const survey = (lanes: number) => {
    const k = new KernelBuilder("shared", 4, lanes);
    const buffer = k.buffer("f32", true);
    k.store(buffer, k.lane, k.read(buffer, k.row, "f32"), false);
    return surveyAccesses(k.finish(), []).sharedByLanes.has(0);
  };
  assert.equal(survey(8), true);
  assert.equal(survey(1), false);
});

test("arrays have the width of their widest access; two widths do not go together", () => {
  const k = new KernelBuilder("wide", 4, 8);
  const [single, wide] = [k.array("f32", 16), k.array("f32", 16)];
  const [x] = k.getMany(wide, k.row, 4);
  k.set(single, k.lane, x!);
  assert.deepEqual(surveyAccesses(k.finish(), []).widths, [1, 4]);
  const mixed = new KernelBuilder("mixed", 4, 8);
  const array = mixed.array("f32", 16);
  const [a, b] = mixed.getMany(array, mixed.row, 4);
  mixed.setMany(array, mixed.row, [a!, b!]);
  assert.throws(() => surveyAccesses(mixed.finish(), []), /accessed by 4 and by 2/);
});
