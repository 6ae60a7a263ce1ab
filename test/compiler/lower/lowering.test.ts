/** Elements of a graph as values of a kernel: what is computed once, what is tested, what is seldom needed. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Kernel, type Statement, walkStatements } from "../../../src/compiler/ir/ir.js";
import { KernelBuilder } from "../../../src/compiler/ir/kernel-builder.js";
import { lowerGroup } from "../../../src/compiler/lower/lower-group.js";
import { Lowering } from "../../../src/compiler/lower/lowering.js";
import type { Group } from "../../../src/compiler/schedule/group.js";
import { constantExpr } from "../../../src/core/index-expr.js";
import type { Node } from "../../../src/graph/node.js";
import { iota } from "../../../src/graph/primitives/leaf.js";
import { pad, take } from "../../../src/graph/primitives/movement.js";
import { argsort } from "../../../src/graph/primitives/order.js";
import { max } from "../../../src/graph/primitives/reduce.js";
import { g } from "../../../src/graph/vocabulary.js";
import { make, stored, storedAs } from "../../support/nodes.js";

const SETTINGS = { division: "corrected" } as const;
const group: Group = {
  results: [],
  tiling: { lanes: 1, width: 1, unroll: 1, elementsPerLane: 4 },
  rowsPerThread: 1,
  isLoaded: ({ storage }) => storage !== null,
};

/** A lowering of nothing in particular, and the kernel it writes. */
function begun(own: Partial<Group> = {}) {
  const k = new KernelBuilder("tested", 8);
  const lowering = new Lowering(k, { ...group, ...own }, SETTINGS);
  const row = lowering.bind("row", 8, k.row);
  return { k, lowering, row };
}

/** The kernel of one result, a thread for each element. */
function kernelOf(node: Node, own: Partial<Group> = {}): Kernel {
  const rowAxes = node.shape.map((_, axis) => axis);
  return lowerGroup({ ...group, results: [{ node, rowAxes }], ...own }, "tested", SETTINGS).kernel;
}

function countIn({ body }: Kernel, isCounted: (statement: Statement) => boolean): number {
  let count = 0;
  walkStatements(body, (statement) => {
    if (isCounted(statement)) count++;
  });
  return count;
}

const valuesOf = (kernel: Kernel, ...ops: readonly string[]): number =>
  countIn(kernel, (statement) => statement.kind === "let" && ops.includes(statement.value.op));

test("an element is computed once for an index, and again for another", () => {
  const { lowering, row } = begun();
  const node = g.exp(stored(8));
  const first = lowering.element(node, [row]);
  assert.equal(lowering.element(node, [row]), first);
  assert.notEqual(lowering.element(node, [constantExpr(3)]).value, first.value);
});

test("what was provided, or given for a product, is taken as it is", () => {
  const { k, lowering, row } = begun();
  const node = g.exp(stored(8));
  const element = { dtype: "f32", value: k.constant("f32", 7) } as const;
  lowering.provide(node, [row], element);
  assert.equal(lowering.element(g.neg(node), [row]).value.args[0], element.value);
  const product = g.dot(stored(1, 8, 2), stored(1, 2, 1));
  assert.throws(
    () => lowering.element(product, [constantExpr(0), row, constantExpr(0)]),
    /dot must have been expanded/,
  );
  lowering.give(product, () => element);
  assert.equal(lowering.element(product, [constantExpr(0), row, constantExpr(0)]), element);
});

test("every buffer has one slot, however often it is loaded", () => {
  const { lowering, row } = begun();
  const [x, y] = [stored(8), stored(8)];
  lowering.element(g.add(g.mul(x, y), g.flip(x, [0])), [row]);
  assert.deepEqual(lowering.buffers, [x, y]);
});

test("bounds that the ranges prove are not tested, and those that never hold read nothing", () => {
  const x = stored(6);
  const padded = make(pad, [x], { low: [1], high: [1], interior: [0], value: 9 });
  assert.equal(valuesOf(kernelOf(padded), "ge", "lt"), 2);
  assert.equal(valuesOf(kernelOf(g.slice(padded, [1], [6])), "ge", "lt"), 0);
  assert.equal(valuesOf(kernelOf(g.slice(padded, [2], [6])), "ge", "lt"), 1, "only the upper one is open");
  const outside = kernelOf(g.slice(padded, [0], [1]));
  assert.equal(valuesOf(outside, "load"), 0);
});

test("a load under a condition is at a safe place where the condition does not hold", () => {
  const kernel = kernelOf(make(pad, [stored(6)], { low: [3], high: [0], interior: [0], value: 0 }));
  let index = null;
  walkStatements(kernel.body, (statement) => {
    if (statement.kind === "let" && statement.value.op === "load") index = statement.value.args[0]!.op;
  });
  assert.equal(index, "select");
});

test("positions are held inside the axis", () => {
  const kernel = kernelOf(make(take, [stored(6), storedAs("i32", 4)], { axis: 0 }));
  assert.ok(valuesOf(kernel, "min", "max", "select") >= 1);
  assert.equal(valuesOf(kernel, "load"), 2);
});

test("counting is the index itself, and constants are constants", () => {
  const counted = kernelOf(make(iota, [], { shape: [8], dtype: "i32" }));
  assert.equal(
    countIn(counted, ({ kind }) => kind === "let"),
    0,
  );
  const { lowering, row } = begun();
  assert.equal(lowering.element(g.zeros([8], stored(8)), [row]).value.op, "constant");
});

test("what is seldom needed is in one branch for a whole batch of elements, and a branch of its own in no other place", () => {
  // A quotient of numbers near the ends of the range takes another way to be rounded right.
  const x = stored(8, 64);
  const branches = (kernel: Kernel) => countIn(kernel, ({ kind }) => kind === "branch");
  const unrolled = {
    results: [{ node: g.div(x, x), rowAxes: [0] }],
    tiling: { lanes: 1, width: 1, unroll: 4, elementsPerLane: 0 },
  };
  const kernel = lowerGroup({ ...group, ...unrolled }, "batch", SETTINGS).kernel;
  assert.equal(branches(kernel), 1);
  assert.equal(branches(kernelOf(g.neg(x))), 0);
});

test("a reduction at an index that is read from memory is done where it has been read: in a loop, or written out if asked", () => {
  const sums = g.sum(g.square(stored(8, 5)), [1]);
  const gathered = make(take, [sums, storedAs("i32", 8)], { axis: 0 });
  const loops = (kernel: Kernel) => countIn(kernel, ({ kind }) => kind === "loop");
  assert.equal(loops(kernelOf(gathered)), 1);
  assert.equal(loops(kernelOf(gathered, { isWrittenOut: () => true })), 0);
});

test("sums of narrow integers are cut to their width once, at the end; the largest needs no cutting", () => {
  const x = storedAs("i8", 4, 100);
  const cuts = (node: Node) => countIn(kernelOf(node), (s) => s.kind === "let" && s.value.op === "signExtend");
  assert.equal(cuts(g.sum(x, [1])), 1);
  assert.equal(cuts(make(max, [x], { axes: [1] })), 0);
});

test("a routine that was not computed, and memory that is not there, are errors of the compiler", () => {
  const { lowering, row } = begun({ isLoaded: () => false });
  assert.throws(
    () => lowering.element(make(argsort, [storedAs("u32", 8)]), [row]),
    /argsort is a routine and must have been computed/,
  );
});

test("an index that counts further than 32 bits is an i64, others are i32", () => {
  const { lowering } = begun();
  const far = lowering.variable("far", 2 ** 33);
  const k = new KernelBuilder("wide", 2 ** 33);
  const wide = new Lowering(k, group, SETTINGS);
  assert.equal(wide.indexValue(wide.bind("row", 2 ** 33, k.row)).type, "i64");
  assert.ok(far.max > 2 ** 32);
  const { lowering: narrow, row } = begun();
  assert.equal(narrow.indexValue(row).type, "i32");
});
