/** What fuses and what does not, told from the kernels a graph would run as. No device is needed to decide. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { lowerGroup } from "../../src/compiler/lower.js";
import { cpuProfile, gpuProfile, schedule, type TargetProfile } from "../../src/compiler/schedule.js";
import { Node } from "../../src/graph/node.js";
import type { Params, Primitive } from "../../src/graph/primitive.js";
import * as E from "../../src/graph/primitives/elementwise.js";
import * as L from "../../src/graph/primitives/leaf.js";
import * as M from "../../src/graph/primitives/movement.js";
import * as R from "../../src/graph/primitives/reduce.js";

const nowhere = { id: "nowhere", realize: () => {} };
function make(primitive: Primitive, inputs: readonly Node[], params: Params = {}): Node {
  const { shape, dtype } = primitive.infer(inputs, params);
  return new Node(primitive, params, inputs, shape, dtype, nowhere);
}
function stored(...shape: number[]): Node {
  const node = make(L.buffer, [], { shape, dtype: "f32" });
  node.realize({ byteLength: 4 * shape.reduce((a, b) => a * b, 1) });
  return node;
}
const over = (node: Node, shape: readonly number[], axis: number): Node => {
  const kept = shape.map((extent, i) => (i === axis ? 1 : extent));
  return make(M.expand, [make(M.reshape, [node], { shape: kept })], { shape: [...shape] });
};
const softmax = (x: Node, axis: number): Node => {
  const largest = make(R.max, [x], { axes: [axis] });
  const powers = make(E.exp, [make(E.sub, [x, over(largest, x.shape, axis)])]);
  return make(E.div, [powers, over(make(R.sum, [powers], { axes: [axis] }), x.shape, axis)]);
};
const kernelsOf = (roots: readonly Node[], profile: TargetProfile = gpuProfile) =>
  schedule(roots, profile).map((task) => {
    assert.equal(task.kind, "group");
    const { group } = task as Extract<typeof task, { kind: "group" }>;
    return lowerGroup(group, group.result.primitive.name, { isCorrectlyRounded: true }).kernel;
  });

test("a chain of elementwise operations and movement is one kernel", () => {
  const x = stored(8, 16);
  const y = make(E.tanh, [make(E.mul, [make(M.permute, [x], { axes: [1, 0] }), stored(16, 8)])]);
  assert.equal(kernelsOf([make(M.reshape, [y], { shape: [128] })]).length, 1);
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
