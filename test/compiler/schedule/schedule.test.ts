/** What fuses and what does not, told from the kernels a graph would run as. No device is needed to decide. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Kernel, type Loop, walkStatements } from "../../../src/compiler/ir/ir.js";
import { lowerGroup } from "../../../src/compiler/lower/lower-group.js";
import { splitReductions } from "../../../src/compiler/rewrite/split-reductions.js";
import { schedule } from "../../../src/compiler/schedule/schedule.js";
import { cpuProfile, gpuProfile, type TargetProfile } from "../../../src/compiler/target/profile.js";
import type { Node } from "../../../src/graph/node.js";
import { dot } from "../../../src/graph/primitives/dot.js";
import * as E from "../../../src/graph/primitives/elementwise.js";
import * as L from "../../../src/graph/primitives/leaf.js";
import * as M from "../../../src/graph/primitives/movement.js";
import * as R from "../../../src/graph/primitives/reduce.js";
import { make, stored, storedAs } from "../../support/nodes.js";

const over = (node: Node, shape: readonly number[], axis: number): Node => {
  const kept = shape.map((extent, i) => (i === axis ? 1 : extent));
  return make(M.expand, [make(M.reshape, [node], { shape: kept })], { shape: [...shape] });
};
const softmax = (x: Node, axis: number): Node => {
  const largest = make(R.max, [x], { axes: [axis] });
  const powers = make(E.exp, [make(E.sub, [x, over(largest, x.shape, axis)])]);
  return make(E.div, [powers, over(make(R.sum, [powers], { axes: [axis] }), x.shape, axis)]);
};
/** The passes of the compiler from here on: long reductions are split before the graph is cut into tasks. */
const tasksOf = (roots: readonly Node[], profile: TargetProfile = gpuProfile) =>
  schedule(splitReductions(roots, new Set(), profile.split).roots, profile);
const kernelsOf = (roots: readonly Node[], profile: TargetProfile = gpuProfile) =>
  tasksOf(roots, profile).map((task) => {
    assert.equal(task.kind, "group");
    const { group } = task as Extract<typeof task, { kind: "group" }>;
    return lowerGroup(group, group.results[0]!.node.primitive.name, { division: "native" }).kernel;
  });

test("a chain of elementwise operations and movement is one kernel", () => {
  const x = stored(8, 16);
  const y = make(E.tanh, [make(E.mul, [make(M.permute, [x], { axes: [1, 0] }), stored(16, 8)])]);
  assert.equal(kernelsOf([make(M.reshape, [y], { shape: [128] })]).length, 1);
});

test("a thread computes a vector of neighbours, unless their code would be long", () => {
  const x = stored(1 << 20);
  const rowsOf = (node: Node, profile: TargetProfile) => kernelsOf([node], profile).map(({ rows }) => rows);
  const long = make(E.lgamma, [make(E.erfInv, [make(E.sin, [x])])]);
  assert.deepEqual(rowsOf(make(E.neg, [x]), gpuProfile), [1 << 18]);
  assert.deepEqual(rowsOf(long, gpuProfile), [1 << 20]);
  assert.deepEqual(rowsOf(long, { ...gpuProfile, maxWideStatements: 1e6 }), [1 << 18]);
});

test("of many bf16 alone it computes eight, where the usual code of eight is short enough", () => {
  const [x, y] = [storedAs("bf16", 1 << 20), stored(1 << 20)];
  const rowsOf = (node: Node, profile = gpuProfile) => kernelsOf([node], profile).map(({ rows }) => rows);
  assert.deepEqual(rowsOf(make(E.neg, [x])), [1 << 17]);
  assert.deepEqual(rowsOf(make(E.div, [x, x])), [1 << 17]);
  assert.deepEqual(rowsOf(make(E.neg, [make(M.slice, [x], { start: [0], step: [1], shape: [999_996] })])), [249_999]);
  assert.deepEqual(rowsOf(make(E.add, [make(E.cast, [x], { dtype: "f32" }), y])), [1 << 18]);
  assert.deepEqual(rowsOf(make(E.neg, [storedAs("bf16", 1 << 18)])), [1 << 16]);
  assert.deepEqual(rowsOf(make(E.neg, [x]), cpuProfile), [1 << 20]);
});

test("softmax along the last axis is one kernel, a workgroup per row", () => {
  const [kernel, ...others] = kernelsOf([softmax(stored(512, 1024), 1)]);
  assert.equal(others.length, 0);
  assert.equal(kernel?.rows, 512);
  assert.equal(kernel?.lanes, 256);
});

test("softmax along the first axis is one kernel, a thread per column", () => {
  const [kernel, ...others] = kernelsOf([softmax(stored(64, 4096), 0)]);
  assert.equal(others.length, 0);
  assert.equal(kernel?.rows, 4096);
  assert.equal(kernel?.lanes, 1);
});

test("a reduction takes the operations before and after it into its kernel", () => {
  const x = stored(100, 30);
  const y = make(E.sqrt, [make(R.sum, [make(E.square, [x])], { axes: [1] })]);
  assert.equal(kernelsOf([y]).length, 1);
});

test("a CPU computes what is long after a sum down columns in a kernel of its own: else it would be written eight times", () => {
  const rowsOf = (after: (sum: Node) => Node, profile: TargetProfile) =>
    kernelsOf([after(make(R.sum, [stored(50, 64)], { axes: [0] }))], profile).map(({ rows }) => rows);
  const long = (x: Node) => make(E.lgamma, [make(E.erfInv, [make(E.sin, [x])])]);
  const short = (x: Node) => make(E.neg, [x]);
  assert.deepEqual(rowsOf(short, cpuProfile), [2]);
  assert.deepEqual(rowsOf(long, cpuProfile), [2, 64]);
  assert.equal(rowsOf(long, gpuProfile).length, 1);
});

test("a long sum down few columns is done in chunks, about as many as each has elements; a short one is not", () => {
  const rowsOf = (rows: number, columns: number, profile = gpuProfile) =>
    kernelsOf([make(R.sum, [stored(rows, columns)], { axes: [0] })], profile).map((kernel) => kernel.rows);
  assert.deepEqual(rowsOf(4096, 256), [64 * 256, 256]);
  assert.deepEqual(rowsOf(500, 256), [256]);
  // Many columns keep the device busy by themselves.
  assert.deepEqual(rowsOf(4096, 1 << 17), [1 << 17]);
  assert.deepEqual(rowsOf(4096, 256, cpuProfile).length, 1);
});

test("reductions along different axes are kernels of their own", () => {
  const x = stored(128, 128);
  const rows = over(make(R.sum, [x], { axes: [1] }), x.shape, 1);
  const columns = over(make(R.sum, [x], { axes: [0] }), x.shape, 0);
  assert.equal(kernelsOf([make(E.add, [rows, columns])], cpuProfile).length, 2);
});

test("a reduction of a reduction is not computed again in each round", () => {
  const inner = make(R.sum, [stored(20, 30, 40)], { axes: [2] });
  const kernels = kernelsOf([make(R.max, [make(E.exp, [inner])], { axes: [1] })]);
  assert.equal(kernels.length, 2);
});

test("what two kernels need and costs much is stored once", () => {
  const x = stored(64, 64);
  const costly = make(E.exp, [make(E.sin, [x])]);
  const roots = [make(R.sum, [costly], { axes: [0] }), make(R.sum, [costly], { axes: [1] })];
  assert.equal(kernelsOf(roots).length, 3);
});

test("what two kernels need and costs little is computed in both", () => {
  const cheap = make(E.add, [stored(64, 64), stored(64, 64)]);
  const roots = [make(R.sum, [cheap], { axes: [0] }), make(R.sum, [cheap], { axes: [1] })];
  assert.equal(kernelsOf(roots).length, 2);
});

test("a kernel does not grow without end", () => {
  let node = stored(16);
  for (let i = 0; i < 3 * gpuProfile.maxNodes; i++) node = make(E.add, [node, stored(16)]);
  const kernels = kernelsOf([node]);
  assert.ok(kernels.length > 1, `${kernels.length} kernels`);
});

test("a kernel loads from few tensors, whichever way many are added up", () => {
  const xs = Array.from({ length: 500 }, () => stored(16));
  const inPairs = (nodes: readonly Node[]): Node =>
    nodes.length === 1
      ? nodes[0]!
      : inPairs(nodes.flatMap((x, i) => (i % 2 === 1 ? [] : [nodes[i + 1] ? make(E.add, [x, nodes[i + 1]!]) : x])));
  const reshaped = (x: Node) => make(M.reshape, [make(M.reshape, [x], { shape: [4, 4] })], { shape: [16] });
  const sums = [
    xs.reduce((sum, x) => make(E.add, [sum, x])),
    xs.reduce((sum, x) => make(E.add, [x, sum])),
    inPairs(xs),
    xs.reduce((sum, x) => make(E.add, [reshaped(x), reshaped(sum)])),
  ];
  for (const profile of [gpuProfile, cpuProfile]) {
    for (const sum of sums) {
      const kernels = kernelsOf([sum], profile);
      for (const { buffers } of kernels) assert.ok(buffers.length <= profile.maxLoads + 1, `${buffers.length} buffers`);
      assert.ok(kernels.length <= (2 * xs.length) / profile.maxLoads, `${kernels.length} kernels`);
    }
  }
});

test("many operations on few tensors are one kernel", () => {
  const xs = Array.from({ length: gpuProfile.maxLoads }, () => stored(16));
  let node = xs[0]!;
  for (let i = 0; i < 300; i++) node = make(i % 2 ? E.add : E.mul, [node, xs[(7 * i) % xs.length]!]);
  assert.equal(kernelsOf([node]).length, 1);
});

test("nor does one of few operations that are long: a sine is a hundred and more statements", () => {
  for (const profile of [gpuProfile, cpuProfile]) {
    for (const dtype of ["f32", "f64"] as const) {
      // A hundred sines of each other, and the product of their slopes.
      let y = make(E.cast, [stored(16)], { dtype });
      let slope = make(E.cast, [stored(16)], { dtype });
      for (let i = 0; i < 100; i++) {
        slope = make(E.mul, [slope, make(E.cos, [y])]);
        y = make(E.sin, [y]);
      }
      const sizes = kernelsOf([y, slope], profile).map(({ size }) => size);
      assert.ok(sizes.length > 1 && sizes.length < 30, `${dtype}: ${sizes.length} kernels`);
      assert.ok(Math.max(...sizes) <= profile.maxStatements, `${dtype}: ${sizes} statements`);
      const few = make(E.sin, [make(E.exp, [make(E.tanh, [make(E.cast, [stored(16)], { dtype })])])]);
      assert.equal(kernelsOf([few], profile).length, 1);
    }
  }
});

test("a mean and a variance along rows are one kernel", () => {
  const x = stored(512, 1024);
  const mean = make(E.mul, [
    make(R.sum, [x], { axes: [1] }),
    make(L.constant, [], { shape: [512], dtype: "f32", value: 1 / 1024 }),
  ]);
  const deviation = make(E.sub, [x, over(mean, x.shape, 1)]);
  const variance = make(R.sum, [make(E.square, [deviation])], { axes: [1] });
  for (const profile of [gpuProfile, cpuProfile]) assert.equal(kernelsOf([mean, variance], profile).length, 1);
});

/** The loops of a kernel, with what they contain. */
const loopsOf = (statements: Kernel["body"]): Loop[] =>
  statements.flatMap((statement) => (statement.kind === "loop" ? [statement, ...loopsOf(statement.body)] : []));

test("a sum and a sum of squares are one kernel with one loop that loads each element once", () => {
  const x = stored(512, 1024);
  const roots = [make(R.sum, [x], { axes: [1] }), make(R.sum, [make(E.square, [x])], { axes: [1] })];
  const [kernel, ...others] = kernelsOf(roots, cpuProfile);
  assert.equal(others.length, 0);
  const [loop, ...more] = loopsOf(kernel!.body);
  assert.equal(more.length, 0);
  assert.equal(loop?.accumulators.length, 2);
  assert.equal(loop?.body.filter((s) => s.kind === "let" && s.value.op === "load").length, 1);
});

test("reductions of a row that need one another have a loop each, those that do not share one", () => {
  const x = stored(512, 1024);
  const total = (node: Node) => over(make(R.sum, [node], { axes: [1] }), x.shape, 1);
  const centred = make(E.sub, [x, total(x)]);
  const y = make(E.add, [total(make(E.square, [centred])), total(make(E.abs, [centred]))]);
  const [kernel, ...others] = kernelsOf([make(E.mul, [x, y])], cpuProfile);
  assert.equal(others.length, 0);
  assert.deepEqual(
    loopsOf(kernel!.body).map(({ accumulators }) => accumulators.length),
    [1, 2, 0],
  );
});

test("an Adam step is one kernel with three results", () => {
  const [p, m, v, g] = [0, 1, 2, 3].map(() => stored(300, 70)) as [Node, Node, Node, Node];
  const scaled = (node: Node, value: number) =>
    make(E.mul, [node, make(L.constant, [], { shape: node.shape, dtype: "f32", value })]);
  const first = make(E.add, [scaled(m, 0.9), scaled(g, 0.1)]);
  const second = make(E.add, [scaled(v, 0.999), scaled(make(E.square, [g]), 0.001)]);
  const next = make(E.sub, [p, scaled(make(E.div, [first, make(E.sqrt, [second])]), 0.01)]);
  const [kernel, ...others] = kernelsOf([next, first, second]);
  assert.equal(others.length, 0);
  assert.equal(kernel!.buffers.filter(({ isWritten }) => isWritten).length, 3);
  assert.equal(kernel!.buffers.length, 7);
});

test("siblings do not join across a kernel that stands between them", () => {
  const x = stored(300, 300);
  const first = make(E.exp, [x]);
  const between = make(M.stored, [make(M.permute, [first], { axes: [1, 0] })]);
  const last = make(E.add, [first, make(M.permute, [between], { axes: [1, 0] })]);
  const names = tasksOf([first, last]).map((task) =>
    task.kind === "group" ? task.group.results.map(({ node }) => node.primitive.name) : [],
  );
  assert.deepEqual(names, [["exp"], ["stored"], ["add"]]);
});

test("what is read elsewhere than where it is made is not computed again", () => {
  const x = stored(300, 300);
  const first = make(E.exp, [x]);
  const turned = make(E.add, [first, make(M.permute, [first], { axes: [1, 0] })]);
  assert.equal(kernelsOf([first, turned]).length, 2);
});

test("large kernels over the same rows that share nothing stay apart, small ones are started together", () => {
  const double = (node: Node) => make(E.add, [node, node]);
  assert.equal(kernelsOf([double(stored(300, 300)), double(stored(300, 300))]).length, 2);
  assert.equal(kernelsOf([double(stored(30, 30)), double(stored(30, 30))]).length, 1);
});

test("small kernels of which one could run before are not started together where kernels run at the same time", () => {
  const turned = (node: Node) => make(M.stored, [make(M.permute, [make(E.exp, [node])], { axes: [1, 0] })]);
  const roots = [turned(turned(stored(30, 30))), turned(stored(30, 30))];
  assert.deepEqual(resultsOf(roots), [["stored", "stored"], ["stored"]]);
  assert.equal(resultsOf([turned(turned(turned(stored(30, 30)))), turned(turned(stored(30, 30)))]).length, 3);
});

test("a reduction that is read under bounds is a kernel of its own, because it exists inside them only", () => {
  const sums = make(R.sum, [stored(512, 64)], { axes: [1] });
  const padded = make(M.pad, [sums], { low: [3], high: [2], interior: [0], value: 0 });
  assert.equal(kernelsOf([padded], cpuProfile).length, 2);
});

/** The primitives whose results each kernel stores. */
const resultsOf = (roots: readonly Node[]) =>
  tasksOf(roots).map((task) =>
    task.kind === "group" ? task.group.results.map(({ node }) => node.primitive.name).sort() : [],
  );

test("the losses of rows and their slopes are one kernel, the mean of the losses another", () => {
  const logits = stored(128, 10);
  const powers = make(E.exp, [make(E.sub, [logits, over(make(R.max, [logits], { axes: [1] }), [128, 10], 1)])]);
  const total = make(R.sum, [powers], { axes: [1] });
  const losses = make(E.sub, [make(E.log, [total]), make(R.sum, [make(E.tanh, [logits])], { axes: [1] })]);
  const slopes = make(E.mul, [powers, over(make(E.reciprocal, [total]), [128, 10], 1)]);
  const sum = make(R.sum, [losses], { axes: [0] });
  assert.deepEqual(resultsOf([sum, make(M.stored, [slopes])]), [["stored", "sub"], ["sum"]]);
});

test("what is done to a product element by element is stored with it, however many read it", () => {
  const tile = { kind: "registers", rows: 4, columns: 4 };
  const product = make(dot, [stored(1, 64, 32), stored(1, 32, 48)], { tile });
  const biased = make(E.add, [product, over(stored(48), [1, 64, 48], 1)]);
  const active = make(E.relu, [biased]);
  const sums = [1, 2].map((axis) => make(R.sum, [active], { axes: [axis] }));
  assert.deepEqual(resultsOf(sums)[0], ["relu"]);
  assert.equal(resultsOf(sums).length, 3);
  // One that needs the product itself makes the kernel store that.
  assert.deepEqual(resultsOf([...sums, make(R.sum, [product], { axes: [0] })])[0], ["dot"]);
});

test("an index inside the bounds of a pad splits into axes without division", () => {
  const images = make(M.reshape, [stored(6, 35)], { shape: [6, 5, 7] });
  const [low, high, interior] = [
    [0, 1, 1],
    [0, 1, 1],
    [0, 0, 0],
  ];
  const padded = make(M.pad, [images], { low, high, interior, value: 0 });
  const [kernel] = kernelsOf([padded]) as [Kernel];
  const divisions: string[] = [];
  walkStatements(kernel.body, (statement) => {
    const isDivision = statement.kind === "let" && ["idiv", "irem"].includes(statement.value.op);
    if (isDivision) divisions.push(statement.value.op);
  });
  // Those of the row of 6·7·9, and no more.
  assert.deepEqual(divisions.sort(), ["idiv", "idiv", "irem", "irem"]);
});
