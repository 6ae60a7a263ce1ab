/** The steps of a choice: a gate for each branch, and flags that say "no" inside a branch that is not taken. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { passes } from "../../../src/compiler/compile.js";
import type { Kernel } from "../../../src/compiler/ir/ir.js";
import type { KernelStep } from "../../../src/compiler/program/program.js";
import { Assembly, type CompileBody } from "../../../src/compiler/steps/assembly.js";
import { branchSteps, flagBehindGate, raiseFlag } from "../../../src/compiler/steps/branch-steps.js";
import type { Gate } from "../../../src/compiler/steps/kernel-passes.js";
import { SharedKernels } from "../../../src/compiler/steps/shared-kernels.js";
import { GraphFunction, makePlaceholder } from "../../../src/graph/function.js";
import type { Node } from "../../../src/graph/node.js";
import { outputOf, partsOf } from "../../../src/graph/primitives/bundle.js";
import { branching } from "../../../src/graph/primitives/control/choice.js";
import { g } from "../../../src/graph/vocabulary.js";
import { runKernel } from "../../support/kernels.js";
import { make, nowhere, storedAs } from "../../support/nodes.js";
import { kernelStep, leaf, made } from "../../support/steps.js";
import { asKernel, codelessTarget } from "../../support/targets.js";

const noBody: CompileBody = () => assert.fail("no body");
const newAssembly = (compileBody = noBody) =>
  new Assembly(codelessTarget(), asKernel, null, new SharedKernels<Kernel>(), { ...passes, compileBody });
const codeOf = (step: unknown) => (step as KernelStep<Kernel>).code;

describe("a choice of two results among three branches", () => {
  const parameter = makePlaceholder({ shape: [4], dtype: "f32", device: nowhere });
  const results = [g.neg(parameter), g.exp(parameter), g.sin(parameter), g.cos(parameter)] as const;
  const branches = [
    new GraphFunction([parameter], [results[0], results[1]]),
    new GraphFunction([parameter], [results[2], results[3]]),
    new GraphFunction([parameter], [results[1], results[0]]),
  ];
  const [index, x] = [storedAs("i32"), storedAs("f32", 4)];
  const node = make(branching, [index, x], { branches, outputs: branches[0]!.results.map(outputOf) });
  const [first, second] = partsOf(node) as [Node, Node];

  /** The bodies that are compiled, with the gate each stands behind. */
  function compiled(parts: readonly Node[], outer: Gate | null = null) {
    const bodies: { gate: Gate | null; results: readonly Node[]; inputs: unknown; roots: unknown[] }[] = [];
    const assembly = newAssembly((own, _parameters, wanted, inputs, rootSlot) => {
      bodies.push({ gate: own.gate, results: wanted, inputs, roots: wanted.map((_, root) => rootSlot(root)) });
      return [kernelStep(`body ${bodies.length}`, [], [])] as never;
    });
    const steps = assembly.within(outer, () =>
      branchSteps(
        assembly,
        node,
        parts,
        (part) => made(part === first ? 10 : 11),
        (input) => leaf(input === index ? 0 : 1),
      ),
    );
    return { bodies, steps, assembly };
  }

  test("each branch runs at its own value of the index, on the inputs, into the parts", () => {
    const { bodies, steps } = compiled([first, second]);
    assert.deepEqual(
      bodies.map(({ gate }) => gate),
      [0, 1, 2].map((value) => ({ flag: leaf(0), value })),
    );
    bodies.forEach(({ results: wanted, inputs, roots }, i) => {
      assert.ok(wanted.every((result, k) => result === branches[i]!.results[k]));
      assert.deepEqual(inputs, [leaf(1)]);
      assert.deepEqual(roots, [made(10), made(11)]);
    });
    assert.equal(steps.length, 3);
  });

  test("a part that nobody reads is not computed", () => {
    const { bodies } = compiled([second]);
    assert.ok(bodies.every(({ results: wanted }, i) => wanted.length === 1 && wanted[0] === branches[i]!.results[1]));
    assert.deepEqual(bodies[0]!.roots, [made(11)]);
  });

  test("inside another branch its index is -1, which no branch has, unless that branch is taken", () => {
    const { bodies, steps } = compiled([first], { flag: leaf(9), value: 2 });
    assert.equal(steps.length, 4);
    assert.deepEqual((steps[0] as KernelStep<Kernel>).slots, [leaf(9), leaf(0), made(0)]);
    assert.ok(bodies.every(({ gate }, value) => gate?.flag.from === "made" && gate.value === value));
    for (const [outer, chosen, flag] of [
      [2, 1, 1],
      [1, 1, -1],
      [2, 0, 0],
      [0, 0, -1],
    ] as const) {
      const memory = [outer, chosen, 77].map((each) => Int32Array.of(each));
      assert.equal(runKernel("cpu", codeOf(steps[0]), memory)[2]![0], flag);
    }
  });
});

test("a flag outside of branches is what was computed, without a kernel", () => {
  assert.deepEqual(flagBehindGate(newAssembly(), leaf(3), "bool", false), { flag: leaf(3), steps: [] });
});

test("a flag of bytes goes into words where it is told to, and is false behind a closed gate", () => {
  const assembly = newAssembly();
  const { flag, steps } = assembly.within({ flag: leaf(0), value: 1 }, () =>
    flagBehindGate(assembly, leaf(1), "bool", false, made(5)),
  );
  assert.deepEqual(flag, made(5));
  for (const [outer, computed, want] of [
    [1, 1, 1],
    [1, 0, 0],
    [0, 1, 0],
  ] as const) {
    const memory = [Int32Array.of(outer), Uint8Array.of(computed), Int32Array.of(77)];
    assert.equal(runKernel("cpu", codeOf(steps[0]), memory)[2]![0], want);
  }
});

test("a flag is raised, but not in a branch that is not taken", () => {
  const assembly = newAssembly();
  const plain = raiseFlag(assembly, made(0)) as KernelStep<Kernel>;
  assert.deepEqual(plain.slots, [made(0)]);
  assert.equal(runKernel("cpu", plain.code, [Int32Array.of(77)])[0][0], 1);
  const inside = assembly.within({ flag: leaf(0), value: 4 }, () => raiseFlag(assembly, made(0)));
  for (const [outer, want] of [
    [4, 1],
    [1, 0],
  ] as const) {
    assert.equal(runKernel("cpu", codeOf(inside), [Int32Array.of(outer), Int32Array.of(77)])[1][0], want);
  }
});
