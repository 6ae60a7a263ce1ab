/** The order of steps on a device that works on several at once: nothing moves before what it needs, and branches go together. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { compile } from "../../../src/compiler/compile.js";
import { planMemory } from "../../../src/compiler/program/memory-plan.js";
import { overlapped } from "../../../src/compiler/program/overlap.js";
import { type KernelStep, type Program, withSteps } from "../../../src/compiler/program/program.js";
import { bytesOf } from "../../../src/core/bytes.js";
import { Node } from "../../../src/graph/node.js";
import type { Params, Primitive } from "../../../src/graph/primitive.js";
import * as E from "../../../src/graph/primitives/elementwise.js";
import * as L from "../../../src/graph/primitives/leaf.js";
import * as M from "../../../src/graph/primitives/movement.js";
import { randomFrom } from "../../support/random.js";
import { kernelStep, made, value } from "../../support/steps.js";
import { asKernel, codelessTarget } from "../../support/targets.js";

const nowhere = { id: "nowhere", realize: () => {} };
function make(primitive: Primitive, inputs: readonly Node[], params: Params = {}): Node {
  const { shape, dtype } = primitive.infer(inputs, params);
  return new Node(primitive, params, inputs, shape, dtype, nowhere);
}
const leaf = (...shape: number[]): Node => make(L.placeholder, [], { shape, dtype: "f32" });
/** A value that takes a kernel of its own: its reader turns it over. */
const kernel = (...inputs: Node[]): Node => {
  const sum = inputs.reduce((a, b) => make(E.add, [a, b]));
  return make(M.stored, [make(M.permute, [make(E.exp, [sum])], { axes: [1, 0] })]);
};

const programOf = (roots: readonly Node[], leaves: readonly Node[]) =>
  compile(roots, leaves, codelessTarget(), asKernel);
const stepsOf = ({ steps }: Program<unknown>) => steps as readonly KernelStep<unknown>[];

/** How many barriers there would be: one whenever a step touches what another wrote since the last. */
function barriersOf(program: Program<unknown>, offsets: readonly number[]): number {
  let barriers = 0;
  let touched: { start: number; end: number; isWritten: boolean }[] = [];
  for (const {
    slots,
    kernel: { buffers },
  } of stepsOf(program)) {
    const ranges = slots.map(({ from, index }, i) => {
      const isWritten = buffers[i]!.isWritten;
      if (from === "leaf") return { start: -2 - index, end: -1 - index, isWritten };
      const value = program.made[index]!;
      const start = value.root < 0 ? offsets[index]! : 1e9 * (1 + value.root);
      return { start, end: start + bytesOf(value), isWritten };
    });
    const meets = (a: (typeof ranges)[0], b: (typeof ranges)[0]) => a.start < b.end && b.start < a.end;
    if (ranges.some((a) => touched.some((b) => (a.isWritten || b.isWritten) && meets(a, b)))) {
      barriers++;
      touched = [];
    }
    touched.push(...ranges);
  }
  return barriers;
}

test("branches that need nothing of each other share their barriers", () => {
  const leaves = [0, 1, 2].map(() => leaf(300, 200));
  const roots = leaves.map((each) => kernel(kernel(kernel(each))));
  const program = programOf(roots, leaves);
  const arranged = overlapped(program);
  assert.equal(barriersOf(program, planMemory(program).offsets), 6);
  assert.equal(barriersOf(arranged.program, arranged.plan.offsets), 2);
});

test("each step comes after those it needs, on random graphs, and no value is overwritten while it is needed", () => {
  for (let seed = 0; seed < 40; seed++) {
    const random = randomFrom(seed);
    const leaves = [leaf(40, 40), leaf(40, 40)];
    const nodes: Node[] = [...leaves];
    for (let i = 0; i < 14; i++) nodes.push(kernel(...[0, 1].map(() => random.pick(nodes))));
    const roots = [...new Set([nodes.at(-1)!, nodes.at(-2)!, nodes[5]!])];
    const program = programOf(roots, leaves);
    const { program: arranged, plan } = overlapped(program);
    assert.deepEqual(new Set(arranged.steps), new Set(program.steps), `seed ${seed}`);
    // Memory as the device sees it: who wrote last where each value lies.
    const holder = new Map<number, number>();
    const written = new Set<number>();
    for (const {
      slots,
      kernel: { buffers },
    } of stepsOf(arranged)) {
      slots.forEach(({ from, index }, i) => {
        if (from === "leaf" || buffers[i]!.isWritten) return;
        assert.ok(written.has(index), `seed ${seed}: value ${index} is read before it is written`);
        if (plan.offsets[index]! >= 0) assert.equal(holder.get(plan.offsets[index]!), index, `seed ${seed}`);
      });
      slots.forEach(({ index }, i) => {
        if (!buffers[i]!.isWritten) return;
        written.add(index);
        // All values are of one size, so they lie on the same places or apart.
        if (plan.offsets[index]! >= 0) holder.set(plan.offsets[index]!, index);
      });
    }
  }
});

test("what is written again is written after the last step that read it", () => {
  // As the branches of a choice do: both write one value, and what the first reads of it comes late.
  const slot = (index: number) => ({ from: "made", index }) as const;
  const step = (name: string, reads: readonly number[], written: number): KernelStep<null> => {
    const isWritten = [...reads.map(() => false), true];
    const buffers = isWritten.map((each) => ({ dtype: "f32", isWritten: each, isLarge: false }) as const);
    const kernel = { name, rows: 1, lanes: 1, buffers, arrays: [], body: [], size: 1, isRepeating: false };
    return { kind: "kernel", kernel, formula: { text: name }, code: null, slots: [...reads, written].map(slot) };
  };
  const steps = [
    step("first", [], 0),
    step("a", [], 1),
    step("b", [1], 2),
    step("c", [2], 3),
    step("reader", [0, 3], 4),
    step("second", [], 0),
  ];
  const made = [0, 1, 2, 3, 4].map(
    (i) => ({ shape: [4], dtype: "f32", byteLength: 16, root: i === 4 ? 0 : -1 }) as const,
  );
  const names = stepsOf(overlapped(withSteps({ made, leaves: [] }, steps)).program).map(({ kernel: { name } }) => name);
  assert.ok(names.indexOf("second") > names.indexOf("reader"), names.join(", "));
  assert.ok(names.indexOf("first") < names.indexOf("b"), "and the rest goes level by level");
});

/** A kernel that reads and writes made values, by their numbers. */
function madeStep(name: string, reads: readonly number[], writes: readonly number[]): KernelStep<null> {
  const isWritten = [...reads.map(() => false), ...writes.map(() => true)];
  const buffers = isWritten.map((each) => ({ dtype: "f32", isWritten: each, isLarge: false }) as const);
  const kernel = { name, rows: 1, lanes: 1, buffers, arrays: [], body: [], size: 1, isRepeating: false };
  const slots = [...reads, ...writes].map((index) => ({ from: "made", index }) as const);
  return { kind: "kernel", kernel, formula: { text: name }, code: null, slots };
}

test("a writer is a level above those that read the old value, so that memory of the two levels is shared", () => {
  // `reader` is the last to need value 1; `writer` begins value 3. They are on one level only if the writer does not wait.
  const bytes = 4096;
  const steps = [
    madeStep("first", [], [0, 1]),
    madeStep("reader", [0, 1], [2]),
    madeStep("writer", [], [0, 3]),
    madeStep("last", [0, 3], [4]),
  ];
  const made = [0, 1, 2, 3, 4].map(
    (i) => ({ shape: [bytes / 4], dtype: "f32", byteLength: bytes, root: i === 2 ? 0 : i === 4 ? 1 : -1 }) as const,
  );
  const { plan } = overlapped(withSteps({ made, leaves: [] }, steps));
  assert.equal(plan.offsets[1], plan.offsets[3]);
  assert.equal(plan.arenaBytes, 2 * bytes);
});

test("a writer waits for the deepest of those that read the old value, also where another reads it later in the list", () => {
  const bytes = 4096;
  const steps = [
    madeStep("first", [], [0]),
    madeStep("second", [0], [1]),
    madeStep("deep reader", [0, 1], [2]),
    madeStep("shallow reader", [0], [3]),
    madeStep("writer", [], [0, 4]),
    madeStep("last", [0, 3, 4], [5]),
  ];
  const made = [-1, -1, 0, -1, -1, 1].map(
    (root) => ({ shape: [bytes / 4], dtype: "f32", byteLength: bytes, root }) as const,
  );
  const { plan } = overlapped(withSteps({ made, leaves: [] }, steps));
  // Value 1 is needed by the deep reader; value 4 may lie there only if the writer comes after it.
  assert.equal(plan.offsets[1], plan.offsets[4]);
});

test("a result that may take the place of an argument waits for the others that read it", () => {
  const [weights, x] = [leaf(64, 64), leaf(64, 64)];
  // The update is ready at once; what reads the weights last is deep.
  const update = make(E.sub, [weights, x]);
  const deep = make(E.add, [kernel(kernel(kernel(x))), weights]);
  const { program } = overlapped(programOf([update, make(M.stored, [deep])], [weights, x]));
  const readers = stepsOf(program).flatMap(({ slots }, position) =>
    slots.some(({ from, index }) => from === "leaf" && index === 0) ? [position] : [],
  );
  const writer = stepsOf(program).findIndex(({ slots }) =>
    slots.some(({ from, index }) => from === "made" && program.made[index]!.root === 0),
  );
  assert.equal(writer, readers.at(-1));
});

test("where it would take far more memory, steps stay one branch after another", () => {
  const leaves = Array.from({ length: 24 }, () => leaf(2048, 1024));
  // Each branch needs two large values at a time; all at once need as many as there are branches.
  const ends = leaves.map((each) =>
    make(M.slice, [kernel(kernel(each))], { start: [0, 0], step: [1, 1], shape: [1, 1] }),
  );
  const program = programOf(
    ends.map((end) => make(M.stored, [end])),
    leaves,
  );
  const { program: arranged, plan } = overlapped(program);
  assert.ok(plan.arenaBytes <= 2 * planMemory(program).arenaBytes);
  assert.deepEqual(arranged.steps, program.steps);
});

test("a loop touches both of the values that take turns as its carry", () => {
  // The loop waits for a deep value; after two rounds its result lies in the value that its first round only read.
  const chain = [0, 1, 2].map((i) => kernelStep(`chain ${i}`, i === 0 ? [] : [made(1 + i)], [made(2 + i)]));
  const swapping = (index: number, other: number) => ({ ...made(index), swap: { loop: 0, index: other } });
  const round = kernelStep("round", [made(4), swapping(0, 1)], [swapping(1, 0)]);
  const loop = { kind: "loop", loop: 0, count: 2, steps: [round] } as const;
  const steps = [
    ...chain,
    kernelStep("begin", [], [made(0)]),
    loop,
    kernelStep("end", [made(0)], [made(5)]),
    kernelStep("reuse", [], [made(1)]),
  ];
  const values = [0, 1, 2, 3, 4, 5].map((i) => value(16, i === 5 ? 0 : -1));
  const { program } = overlapped(withSteps({ made: values, leaves: [] }, steps));
  const at = (name: string) => program.steps.findIndex((step) => step.kind === "kernel" && step.kernel.name === name);
  const ofLoop = program.steps.indexOf(loop);
  assert.ok(at("begin") < ofLoop && at("chain 2") < ofLoop);
  assert.ok(at("end") > ofLoop, "what reads the carry comes after the loop");
  assert.ok(at("reuse") > ofLoop, "and so does what overwrites its other value");
});

test("a while loop reads its flag, so that what overwrites the flag comes after it", () => {
  const chain = [0, 1].map((i) => kernelStep(`chain ${i}`, i === 0 ? [] : [made(i)], [made(1 + i)]));
  const round = kernelStep("round", [made(2)], [made(3)]);
  const loop = {
    kind: "while",
    loop: 0,
    maxRounds: 9,
    ahead: null,
    test: [],
    flag: made(0),
    steps: [round],
    finish: [],
  } as const;
  const steps = [...chain, kernelStep("flag", [], [made(0)]), loop, kernelStep("reuse", [], [made(0)])];
  const values = [0, 1, 2, 3].map((i) => value(16, i === 3 ? 0 : -1));
  const { program } = overlapped(withSteps({ made: values, leaves: [] }, steps));
  const last = program.steps.at(-1);
  assert.ok(last?.kind === "kernel" && last.kernel.name === "reuse");
});
