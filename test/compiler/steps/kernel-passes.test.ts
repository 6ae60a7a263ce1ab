/** The last passes over kernels: a gate is one more buffer, and unaligned buffers are marked. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { KernelBuilder } from "../../../src/compiler/ir/kernel-builder.js";
import { behindGate, markUnaligned } from "../../../src/compiler/steps/kernel-passes.js";
import { leaf } from "../../support/steps.js";

function copyKernel() {
  const k = new KernelBuilder("copy", 8);
  const from = k.buffer("f32", false);
  k.store(k.buffer("f32", true), k.row, k.load(from, k.row, "f32"));
  return k.finish();
}

test("a gate is the last buffer, which the kernel only reads", () => {
  const kernel = copyKernel();
  const gated = behindGate(kernel, 3);
  assert.deepEqual(gated.gate, { buffer: 2, value: 3 });
  assert.deepEqual(gated.buffers[2], { dtype: "i32", isWritten: false, isLarge: false });
  assert.equal(kernel.buffers.length, 2, "the kernel itself stays as it was");
});

test("a buffer is marked when it begins between vectors of 16 bytes, or may in some round", () => {
  const kernel = copyKernel();
  const marks = (slot: object) =>
    markUnaligned(kernel, [{ ...leaf(0), ...slot }, leaf(1)]).buffers.map(({ isUnaligned = false }) => isUnaligned);
  assert.deepEqual(marks({ offset: 4 }), [true, false]);
  assert.deepEqual(marks({ moves: [{ loop: 0, bytes: 12 }] }), [true, false]);
  assert.deepEqual(marks({ offset: 8 }), [true, false]);
  assert.deepEqual(
    marks({
      moves: [
        { loop: 0, bytes: 16 },
        { loop: 1, bytes: 8 },
      ],
    }),
    [true, false],
  );
  assert.deepEqual(marks({ isUnaligned: true }), [true, false]);
  assert.deepEqual(marks({ offset: 32, moves: [{ loop: 0, bytes: -48 }] }), [false, false]);
  assert.equal(markUnaligned(kernel, [leaf(0), leaf(1)]), kernel);
});
