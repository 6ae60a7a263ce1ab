/** Routines of the same shapes and parameters share their kernels; others do not. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { compile, passes } from "../../../src/compiler/compile.js";
import { wasmTarget } from "../../../src/compiler/emit/wasm/target.js";
import type { Kernel } from "../../../src/compiler/ir/ir.js";
import { KernelBuilder } from "../../../src/compiler/ir/kernel-builder.js";
import { kernelsOf, type Slot } from "../../../src/compiler/program/program.js";
import { Assembly } from "../../../src/compiler/steps/assembly.js";
import { routineSteps } from "../../../src/compiler/steps/routine-steps.js";
import { SharedKernels } from "../../../src/compiler/steps/shared-kernels.js";
import type { Routine } from "../../../src/compiler/target/routine.js";
import type { Node } from "../../../src/graph/node.js";
import { cumulate } from "../../../src/graph/primitives/cumulate.js";
import * as E from "../../../src/graph/primitives/elementwise.js";
import { make, stored } from "../../support/nodes.js";
import { leaf, made } from "../../support/steps.js";
import { asKernel, codelessTarget } from "../../support/targets.js";

/** How many kernels run, and how many different ones. */
function countKernels(
  roots: readonly Node[],
  leaves: readonly Node[],
): { readonly runs: number; readonly emitted: number } {
  let emitted = 0;
  const program = compile(roots, leaves, wasmTarget(2), () => ++emitted);
  return { runs: kernelsOf(program.steps).length, emitted };
}

const running = (
  x: Node,
  params: { readonly op?: string; readonly axis?: number; readonly isReverse?: boolean } = {},
) => make(cumulate, [x], { op: "sum", axis: 1, isReverse: false, isExclusive: false, ...params });

test("ten running sums one after another have the kernels of one", () => {
  const first = stored(8, 8);
  let x: Node = first;
  for (let i = 0; i < 10; i++) x = make(E.neg, [running(x)]);
  const once = countKernels([make(E.neg, [running(first)])], [first]);
  const often = countKernels([x], [first]);
  assert.equal(often.emitted, once.emitted);
  assert.equal(often.runs, 10 * once.runs);
});

test("running sums of other shapes, axes and directions have kernels of their own", () => {
  const leaves = [stored(8, 8), stored(8, 9)] as const;
  const one = countKernels([running(leaves[0])], leaves).emitted;
  for (const other of [running(leaves[1]), running(leaves[0], { axis: 0 }), running(leaves[0], { isReverse: true })]) {
    assert.ok(countKernels([running(leaves[0]), other], leaves).emitted > one);
  }
});

/** The slots of a target's own routine for running sums, whose input and result lie where they are told. */
function slotsOf(input: Slot, result: Slot): (readonly Slot[])[] {
  const k = new KernelBuilder("copy", 8);
  const from = k.buffer("f32", false);
  k.store(k.buffer("f32", true), k.row, k.load(from, k.row, "f32"));
  const step = { kernel: k.finish(), formula: () => "" };
  const routine: Routine = () => ({
    temporaries: [{ dtype: "f32", shape: [8] }],
    steps: [
      { ...step, buffers: [{ kind: "input", index: 0 }, { kind: "result" }], isCopy: true },
      {
        ...step,
        buffers: [
          { kind: "temporary", index: 0 },
          { kind: "result", offset: 16 },
        ],
      },
    ],
  });
  const target = { ...codelessTarget(), routines: { cumulate: routine } };
  const assembly = new Assembly(target, asKernel, null, new SharedKernels<Kernel>(), passes);
  const node = running(stored(8, 8));
  const steps = routineSteps(
    assembly,
    node,
    [],
    () => result,
    () => input,
  );
  return kernelsOf(steps).map(({ slots }) => slots);
}

test("a target's own routine replaces the one for all targets; offsets of its buffers are added to those of slots", () => {
  const [input, result] = [leaf(0), { ...made(5), offset: 32 }];
  assert.deepEqual(slotsOf(input, result), [
    [input, result],
    [made(0), { ...made(5), offset: 48 }],
  ]);
});

test("a copy is left out where both buffers are the same memory", () => {
  const slot = made(5);
  assert.deepEqual(slotsOf(slot, slot), [[made(0), { ...made(5), offset: 16 }]]);
});
