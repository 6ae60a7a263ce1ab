/** Steps of programs: buffers inside loops that begin off the boundaries of vectors, code that is kept by it, formulas. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { compile } from "../../../src/compiler/compile.js";
import type { Kernel } from "../../../src/compiler/ir/ir.js";
import { kernelsOf, type Program, writtenLater } from "../../../src/compiler/program/program.js";
import { makePlaceholder } from "../../../src/graph/function.js";
import { scan, Tensor } from "../../../src/index.js";
import { backendFor } from "../../../src/tensor/index.js";
import { kernelStep } from "../../support/steps.js";
import { asKernel, codelessTarget } from "../../support/targets.js";

/** A loop over elements of so many f32, each round by kernels of its own. */
function programOf(size: number, step: (c: Tensor, x: Tensor) => readonly [Tensor, Tensor]): Program<Kernel> {
  const device = backendFor("cpu");
  const leaves = [[size], [5, size]].map((shape) => makePlaceholder({ shape, dtype: "f32", device }));
  const [last, all] = scan(step, new Tensor(leaves[0]!), new Tensor(leaves[1]!));
  return compile([last.node, all.node], leaves, codelessTarget(), asKernel);
}

test("elements of sequences and stacked results are marked when they do not begin at multiples of 16 bytes", () => {
  for (const size of [1, 3, 4, 6, 8, 20]) {
    const { steps } = programOf(size, (c, x) => [c.flip(0).add(x.cumsum({ axis: 0 })), c.mul(x)]);
    const kernels = kernelsOf(steps);
    assert.ok(kernels.some(({ slots }) => slots.some(({ moves }) => moves)));
    for (const { kernel, slots, code } of kernels) {
      slots.forEach(({ moves = [] }, i) => {
        const isOff = moves.length > 0 && size % 4 !== 0;
        assert.equal(kernel.buffers[i]!.isUnaligned === true, isOff, `${kernel.name}, buffer ${i}, ${size} elements`);
      });
      assert.deepEqual(
        code.buffers.map(({ isUnaligned }) => isUnaligned === true),
        kernel.buffers.map(({ isUnaligned }) => isUnaligned === true),
        "the code that runs is written for these buffers",
      );
    }
  }
});

test("a kernel that a routine runs several times has code for each way its buffers begin", () => {
  // Sorting goes back and forth between the element itself and temporary memory.
  const { steps } = programOf(37, (c, x) => [c.flip(0).add(x), x.sort().sub(c.sort())]);
  for (const { kernel, code } of kernelsOf(steps)) {
    assert.deepEqual(code.buffers, kernel.buffers, kernel.name);
  }
});

test("a formula is written when it is looked at, once, and stands in what is kept of a program", () => {
  let written = 0;
  const formula = writtenLater(() => `out[i] = ${++written}`);
  const step = { ...kernelStep("k", [], []), formula };
  assert.equal(written, 0);
  assert.deepEqual([step.formula.text, formula.text, written], ["out[i] = 1", "out[i] = 1", 1]);
  assert.deepEqual(JSON.parse(JSON.stringify(step)).formula, { text: "out[i] = 1" });
});
