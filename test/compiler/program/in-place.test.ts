/** Which results may be written over an argument. Each claim is checked on the plan itself; running it is for other tests. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { compile } from "../../../src/compiler/compile.js";
import type { Kernel, KernelOutline } from "../../../src/compiler/ir/ir.js";
import { KernelBuilder } from "../../../src/compiler/ir/kernel-builder.js";
import { inPlaceOf } from "../../../src/compiler/program/in-place.js";
import { type KernelStep, type Slot, withSteps } from "../../../src/compiler/program/program.js";
import { bytesOf } from "../../../src/core/bytes.js";
import type { DType } from "../../../src/core/dtype.js";
import type { Node } from "../../../src/graph/node.js";
import * as E from "../../../src/graph/primitives/elementwise.js";
import { placeholder } from "../../../src/graph/primitives/leaf.js";
import * as M from "../../../src/graph/primitives/movement.js";
import { make } from "../../support/nodes.js";
import { kernelStep, leaf as leafSlot, made as madeSlot } from "../../support/steps.js";
import { asKernel, codelessTarget } from "../../support/targets.js";

const SIZE = 64;
const argument = (shape: readonly number[] = [SIZE], dtype: DType = "f32"): Node =>
  make(placeholder, [], { shape: [...shape], dtype });

/** The argument each result may overwrite, with all of them on offer or those that are named. */
function planned(roots: readonly Node[], leaves: readonly Node[], onOffer = leaves): number[] {
  const program = compile(roots, leaves, codelessTarget(), asKernel);
  return inPlaceOf(
    program,
    leaves.map((leaf) => (onOffer.includes(leaf) ? bytesOf(leaf) : -1)),
  );
}

const flip = (x: Node): Node =>
  make(M.slice, [x], { start: x.shape.map((extent) => extent - 1), step: x.shape.map(() => -1), shape: [...x.shape] });

test("an update of its own elements takes over the argument it reads", () => {
  const [w, g] = [argument(), argument()];
  const update = make(E.sub, [w, make(E.exp, [g])]);
  assert.deepEqual(planned([update], [w, g], [w]), [0]);
  assert.deepEqual(planned([update], [w, g], [g]), [1]);
  assert.deepEqual(planned([update], [w, g], []), [-1]);
});

test("a kernel that reads other elements of the argument than it writes does not overwrite it", () => {
  const w = argument();
  assert.deepEqual(planned([make(E.exp, [flip(w)])], [w]), [-1]);
  assert.deepEqual(planned([make(E.add, [w, flip(w)])], [w]), [-1]);
});

test("neither does one of whose rows each reads an element that another row writes", () => {
  const w = argument([8, SIZE]);
  const first = make(M.slice, [w], { start: [0, 0], step: [1, 1], shape: [1, SIZE] });
  assert.deepEqual(planned([make(E.sub, [w, make(M.expand, [first], { shape: [8, SIZE] })])], [w]), [-1]);
});

test("an argument whose readers are done may be had, wherever the result is read from", () => {
  const w = argument([SIZE, SIZE]);
  const other = argument([SIZE, SIZE]);
  const turned = make(M.stored, [make(M.permute, [make(E.exp, [w])], { axes: [1, 0] })]);
  // Nobody reads w after the kernel of `turned`; its user may be written there, wherever it reads.
  const user = make(E.exp, [make(M.permute, [turned], { axes: [1, 0] })]);
  assert.deepEqual(planned([user], [w, other], [w]), [0]);
});

test("an argument that a later step still reads is left to it", () => {
  const w = argument();
  const [first, second] = [E.exp, E.sin].map((f) => compile([make(f, [w])], [w], codelessTarget(), asKernel));
  const [step, later] = [first!.steps[0]!, second!.steps[0]!] as [KernelStep<unknown>, KernelStep<unknown>];
  // One program of both: the second step writes the second result.
  const moved = later.slots.map((slot) => (slot.from === "made" ? { ...slot, index: 1 } : slot));
  const made = [first!.made[0]!, { ...second!.made[0]!, root: 1 }];
  const program = withSteps({ made, leaves: first!.leaves }, [step, { ...later, slots: moved }]);
  assert.deepEqual(inPlaceOf(program, [bytesOf(w)]), [-1, 0]);
});

test("one argument serves one result, and each result the one it may have", () => {
  const [w, m] = [argument(), argument()];
  const results = [make(E.add, [w, m]), make(E.mul, [w, m])];
  const both = planned(results, [w, m]);
  assert.deepEqual([...both].sort(), [0, 1]);
  const one = planned(results, [w, m], [m]);
  assert.deepEqual([...one].sort(), [-1, 1]);
});

test("memory of another size or of other numbers is not taken over", () => {
  const w = argument();
  const half = argument([SIZE / 2]);
  assert.deepEqual(planned([make(E.exp, [w])], [w, half], [half]), [-1]);
  const whole = argument([SIZE], "i32");
  assert.deepEqual(planned([make(E.cast, [whole], { dtype: "f32" })], [whole]), [-1]);
});

test("a result that another kernel of the program reads keeps memory of its own", () => {
  const w = argument([SIZE, SIZE]);
  const first = make(E.exp, [w]);
  const second = make(M.stored, [make(M.permute, [first], { axes: [1, 0] })]);
  const [own] = planned([first, make(E.add, [second, second])], [w]);
  assert.equal(own, -1);
});

/** The plan of one kernel that reads an argument of so many elements and writes a result of as many. */
function plannedFor(kernel: Kernel, size: number): number[] {
  const value = { shape: [size], dtype: "f32" } as const;
  const step: KernelStep<null> = {
    kind: "kernel",
    kernel,
    code: null,
    slots: [
      { from: "leaf", index: 0 },
      { from: "made", index: 0 },
    ],
    formula: { text: "" },
  };
  const made = [{ ...value, byteLength: bytesOf(value), root: 0 }];
  return inPlaceOf(withSteps({ made, leaves: [value] }, [step]), [bytesOf(value)]);
}

test("an element that is loaded after it may have been overwritten keeps its argument", () => {
  const written = (isLoadedFirst: boolean) => {
    const k = new KernelBuilder("two stores", SIZE / 2);
    const [from, to] = [k.buffer("f32", false), k.buffer("f32", true)];
    const load = () => k.load(from, k.row, "f32");
    const early = isLoadedFirst ? load() : null;
    k.store(to, k.row, k.constant("f32", 0));
    k.store(to, k.binary("add", k.row, k.constant("i32", SIZE / 2)), early ?? load());
    return k.finish();
  };
  assert.deepEqual(plannedFor(written(true), SIZE), [0]);
  assert.deepEqual(plannedFor(written(false), SIZE), [-1]);
});

test("so does one that several rows write", () => {
  const k = new KernelBuilder("copy", SIZE);
  const [from, to] = [k.buffer("f32", false), k.buffer("f32", true)];
  k.store(to, k.row, k.load(from, k.row, "f32"));
  const kernel = k.finish();
  assert.deepEqual(plannedFor(kernel, SIZE), [0]);
  assert.deepEqual(plannedFor({ ...kernel, isRepeating: true }, SIZE), [-1]);
});

/** The plan of one kernel step, with the given leaves and made values, all of them of so many elements. */
function plannedStep(kernel: KernelOutline, slots: readonly Slot[], size: number): number[] {
  const value = { shape: [size], dtype: "f32" } as const;
  const count = (from: Slot["from"]) => new Set(slots.flatMap((slot) => (slot.from === from ? [slot.index] : []))).size;
  const made = Array.from({ length: count("made") }, (_, root) => ({ ...value, byteLength: bytesOf(value), root }));
  const leaves = Array.from({ length: count("leaf") }, () => value);
  const step: KernelStep<null> = { kind: "kernel", kernel, code: null, slots, formula: { text: "" } };
  return inPlaceOf(withSteps({ made, leaves }, [step]), leaves.map(bytesOf));
}

test("an argument that a kernel reads through two buffers is overwritten only if both read what the row writes", () => {
  const reading = (isTurned: boolean) => {
    const k = new KernelBuilder("sum", SIZE);
    const [own, other, to] = [k.buffer("f32", false), k.buffer("f32", false), k.buffer("f32", true)];
    const place = isTurned ? k.binary("sub", k.constant("i32", SIZE - 1), k.row) : k.row;
    k.store(to, k.row, k.binary("add", k.load(own, k.row, "f32"), k.load(other, place, "f32")));
    return plannedStep(k.finish(), [leafSlot(0), leafSlot(0), madeSlot(0)], SIZE);
  };
  assert.deepEqual(reading(false), [0]);
  assert.deepEqual(reading(true), [-1]);
});

test("only stores of the result itself count: another result may be stored where the argument is read", () => {
  const k = new KernelBuilder("copy and flip", SIZE);
  const [from, flipped, plain] = [k.buffer("f32", false), k.buffer("f32", true), k.buffer("f32", true)];
  const value = k.load(from, k.row, "f32");
  k.store(flipped, k.binary("sub", k.constant("i32", SIZE - 1), k.row), value);
  k.store(plain, k.row, value);
  assert.deepEqual(plannedStep(k.finish(), [leafSlot(0), madeSlot(0), madeSlot(1)], SIZE), [-1, 0]);
});

test("a kernel with other statements than loads, stores, loops and branches, or whose code is not known, overwrites nothing", () => {
  const k = new KernelBuilder("copy", SIZE);
  const [from, to] = [k.buffer("f32", false), k.buffer("f32", true)];
  k.store(to, k.row, k.load(from, k.row, "f32"));
  const kernel = k.finish();
  const slots = [leafSlot(0), madeSlot(0)];
  assert.deepEqual(plannedStep(kernel, slots, SIZE), [0]);
  const waiting = { ...kernel, body: [{ kind: "barrier", scope: "row" } as const, ...kernel.body] };
  assert.deepEqual(plannedStep(waiting, slots, SIZE), [-1]);
  assert.deepEqual(plannedStep({ ...kernel, body: null }, slots, SIZE), [-1]);
});

test("a result that a loop writes keeps memory of its own", () => {
  const value = { shape: [SIZE], dtype: "f32" } as const;
  const step = kernelStep("copy", [leafSlot(0)], [madeSlot(0)]);
  const made = [{ ...value, byteLength: bytesOf(value), root: 0 }];
  const program = withSteps({ made, leaves: [value] }, [{ kind: "loop", loop: 0, count: 2, steps: [step] }]);
  assert.deepEqual(inPlaceOf(program, [bytesOf(value)]), [-1]);
});
