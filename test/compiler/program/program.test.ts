/** Steps of programs: buffers inside loops that begin off the boundaries of vectors, code that is kept by it, formulas. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { compile } from "../../../src/compiler/compile.js";
import type { Kernel } from "../../../src/compiler/ir/ir.js";
import { kernelsOf, type Program, type Step, withSteps, writtenLater } from "../../../src/compiler/program/program.js";
import { makePlaceholder } from "../../../src/graph/function.js";
import { scan, Tensor } from "../../../src/index.js";
import { backendFor } from "../../../src/tensor/index.js";
import { kernelStep, made, value } from "../../support/steps.js";
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

test("a value is freed after the last step that touches it, results never", () => {
  const values = [value(16), value(16), value(16, 0), value(16)];
  const steps = [
    kernelStep("a", [], [made(0)]),
    kernelStep("b", [made(0)], [made(1)]),
    kernelStep("c", [made(1)], [made(2), made(3)]),
  ];
  const { lastUse, frees } = withSteps({ made: values, leaves: [] }, steps);
  assert.deepEqual(lastUse, [1, 2, 2, 2]);
  assert.deepEqual(frees, [[], [0], [1, 3]]);
});

test("a loop touches both values that take turns, and a while loop its flag and what it finishes with", () => {
  const values = Array.from({ length: 5 }, () => value(16));
  const swapping = { ...made(0), swap: { loop: 0, index: 1 } };
  const loop: Step<string> = { kind: "loop", loop: 0, count: 3, steps: [kernelStep("round", [swapping], [])] };
  const until: Step<string> = {
    kind: "while",
    loop: 1,
    maxRounds: 9,
    ahead: null,
    test: [],
    flag: made(2),
    steps: [kernelStep("round", [made(3)], [])],
    finish: [kernelStep("finish", [made(4)], [])],
  };
  const begin = kernelStep("begin", [], [0, 1, 2, 3, 4].map(made));
  const { frees } = withSteps({ made: values, leaves: [] }, [begin, loop, until]);
  assert.deepEqual(frees, [[], [0, 1], [2, 3, 4]]);
  assert.deepEqual(
    kernelsOf([begin, loop, until]).map(({ code }) => code),
    ["begin", "round", "round", "finish"],
  );
});
