/** A program while it is put together: what is numbered, what is emitted and how often, what stands behind a gate. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { passes } from "../../../src/compiler/compile.js";
import type { Kernel, NativeKernel } from "../../../src/compiler/ir/ir.js";
import { KernelBuilder } from "../../../src/compiler/ir/kernel-builder.js";
import { Assembly } from "../../../src/compiler/steps/assembly.js";
import { SharedKernels } from "../../../src/compiler/steps/shared-kernels.js";
import type { Recordable, Target } from "../../../src/compiler/target/target.js";
import { leaf, made } from "../../support/steps.js";
import { codelessTarget } from "../../support/targets.js";

/** An assembly whose codes are numbers in the order of emission, and what was emitted. */
function newAssembly(recordable: Recordable | null = null) {
  const emitted: { kernel: Kernel; isIndirect: readonly boolean[] | null }[] = [];
  const target: Target = {
    ...codelessTarget(),
    encode: (kernel, isIndirect) => {
      emitted.push({ kernel, isIndirect });
      return { bytes: new Uint8Array(0), numbers: [] };
    },
  };
  let codes = 0;
  const assembly = new Assembly<number>(target, () => ++codes, recordable, new SharedKernels(), {
    ...passes,
    compileBody: () => assert.fail("no body"),
  });
  return { assembly, emitted };
}

function copyKernel(rows = 8): Kernel {
  const k = new KernelBuilder("copy", rows);
  const from = k.buffer("f32", false);
  k.store(k.buffer("f32", true), k.row, k.load(from, k.row, "f32"));
  return k.finish();
}

const formula = { text: "" };

test("values and loops are numbered in the order they are asked for", () => {
  const { assembly } = newAssembly();
  assert.deepEqual(assembly.make({ shape: [2, 3], dtype: "f64" }), made(0));
  assert.deepEqual(assembly.make({ shape: [], dtype: "c64" }, 4), made(1));
  assert.deepEqual(assembly.made, [
    { shape: [2, 3], dtype: "f64", byteLength: 48, root: -1 },
    { shape: [], dtype: "c64", byteLength: 8, root: 4 },
  ]);
  assert.deepEqual([assembly.loop(), assembly.loop()], [0, 1]);
});

test("a kernel is emitted once, and again for another gate, alignment or way to its buffers", () => {
  const { assembly, emitted } = newAssembly({ isFixedLeaf: [true, false] });
  const kernel = copyKernel();
  const output = assembly.make({ shape: [8], dtype: "f32" });
  const code = (from = leaf(0), gate: number | null = null) =>
    assembly.within(gate === null ? null : { flag: leaf(0), value: gate }, () => {
      return assembly.kernel(kernel, [from, output], formula).code;
    });
  assert.equal(code(), 1);
  assert.equal(code(), 1);
  assert.equal(code({ ...leaf(0), offset: 4 }), 2, "unaligned");
  assert.equal(code({ ...leaf(0), offset: 12 }), 2);
  assert.equal(code(leaf(1)), 3, "memory that changes from run to run");
  assert.equal(code(leaf(0), 0), 4, "behind a gate");
  assert.equal(code(leaf(0), 1), 5, "behind another value of the gate");
  assert.equal(code(leaf(0), 0), 4);
  assert.equal(emitted.length, 5);
  assert.equal(assembly.kernel(copyKernel(), [leaf(0), output], formula).code, 6, "another kernel");
});

test("leaves that do not stay and results are found indirectly; where nothing is recorded, nothing is", () => {
  const recorded = newAssembly({ isFixedLeaf: [true, false] });
  const [between, result] = [-1, 0].map((root) => recorded.assembly.make({ shape: [8], dtype: "f32" }, root));
  recorded.assembly.kernel(copyKernel(), [leaf(0), result!], formula);
  recorded.assembly.kernel(copyKernel(), [leaf(1), between!], formula);
  assert.deepEqual(
    recorded.emitted.map(({ isIndirect }) => isIndirect),
    [
      [false, true],
      [true, false],
    ],
  );
  const plain = newAssembly();
  plain.assembly.kernel(copyKernel(), [leaf(0), leaf(1)], formula);
  assert.equal(plain.emitted[0]!.isIndirect, null);
});

test("behind a gate a kernel has the flag as its last buffer, and outside it has not", () => {
  const { assembly } = newAssembly();
  const [inside, ungated] = assembly.within({ flag: leaf(7), value: 3 }, () => [
    assembly.kernel(copyKernel(), [leaf(0), leaf(1)], formula),
    assembly.ungated(copyKernel(), [leaf(0), leaf(1)], formula),
  ]);
  assert.deepEqual(inside!.slots, [leaf(0), leaf(1), leaf(7)]);
  assert.deepEqual(inside!.kernel.gate, { buffer: 2, value: 3 });
  assert.deepEqual(ungated!.slots, [leaf(0), leaf(1)]);
  assert.equal(ungated!.kernel.gate, undefined);
});

test("the gate around is back after work within another, also when that fails", () => {
  const { assembly } = newAssembly();
  const outer = { flag: leaf(0), value: 1 };
  assembly.within(outer, () => {
    assert.throws(() =>
      assembly.within(null, () => {
        assert.equal(assembly.gate, null);
        throw new Error("inside");
      }),
    );
    assert.equal(assembly.gate, outer);
  });
  assert.equal(assembly.gate, null);
});

test("a kernel without rows is not emitted", () => {
  const { assembly, emitted } = newAssembly();
  assert.equal(assembly.kernel(copyKernel(0), [leaf(0), leaf(1)], formula).code, null);
  assert.equal(emitted.length, 0);
});

test("a native kernel is emitted by itself, with the buffers it has then", () => {
  const { assembly, emitted } = newAssembly();
  const seen: number[] = [];
  const native: NativeKernel = {
    ...copyKernel(),
    body: null,
    encode: ({ buffers }) => {
      seen.push(buffers.length);
      return { bytes: new Uint8Array(0), numbers: [] };
    },
  };
  assembly.within({ flag: leaf(2), value: 0 }, () => assembly.kernel(native, [leaf(0), leaf(1)], formula));
  assert.deepEqual(seen, [3]);
  assert.equal(emitted.length, 0);
});

test("a copy has a row for each number; complex numbers are two", () => {
  const { assembly, emitted } = newAssembly();
  const slots = [leaf(0), leaf(1)];
  assert.deepEqual(assembly.copy(leaf(0), leaf(1), { shape: [3, 4], dtype: "i64" }).slots, slots);
  assembly.copy(leaf(0), leaf(1), { shape: [3, 4], dtype: "c128" });
  assert.deepEqual(
    emitted.map(({ kernel: { rows, buffers } }) => [rows, ...buffers.map(({ dtype }) => dtype)]),
    [
      [12, "i64", "i64"],
      [24, "f64", "f64"],
    ],
  );
});
