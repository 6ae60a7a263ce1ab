/** Groups that compute the same have one key and become one kernel; groups that differ in anything have not. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { compile } from "../../../src/compiler/compile.js";
import { wasmTarget } from "../../../src/compiler/emit/wasm/target.js";
import { kernelsOf } from "../../../src/compiler/program/program.js";
import { keyOfGroup } from "../../../src/compiler/schedule/group-key.js";
import { schedule } from "../../../src/compiler/schedule/schedule.js";
import { cpuProfile } from "../../../src/compiler/target/profile.js";
import type { Node } from "../../../src/graph/node.js";
import * as E from "../../../src/graph/primitives/elementwise.js";
import * as L from "../../../src/graph/primitives/leaf.js";
import * as M from "../../../src/graph/primitives/movement.js";
import * as R from "../../../src/graph/primitives/reduce.js";
import { make, stored } from "../../support/nodes.js";

const keysOf = (...roots: Node[]): string[] =>
  schedule(roots, cpuProfile).map((task) => {
    assert.equal(task.kind, "group");
    return keyOfGroup((task as Extract<typeof task, { kind: "group" }>).group).key;
  });
const keyOf = (root: Node): string => {
  const [key, ...others] = keysOf(root);
  assert.equal(others.length, 0);
  return key!;
};

const number = (value: number, ...shape: number[]): Node => make(L.constant, [], { value, dtype: "f32", shape });

test("the same operations on other tensors have the same key", () => {
  const layer = (x: Node, y: Node) => make(E.tanh, [make(E.add, [make(E.mul, [x, y]), number(2, 8)])]);
  assert.equal(keyOf(layer(stored(8), stored(8))), keyOf(layer(stored(8), stored(8))));
});

test("one tensor read twice differs from two tensors", () => {
  const x = stored(8);
  assert.notEqual(keyOf(make(E.sub, [x, x])), keyOf(make(E.sub, [stored(8), stored(8)])));
});

test("operands the other way round, another shape, another number and the other zero differ", () => {
  const [x, y] = [stored(8), stored(8)];
  const sum = make(E.add, [x, y]);
  assert.notEqual(keyOf(make(E.sub, [sum, x])), keyOf(make(E.sub, [x, make(E.add, [x, stored(8)])])));
  assert.notEqual(keyOf(make(E.exp, [stored(8)])), keyOf(make(E.exp, [stored(2, 4)])));
  assert.notEqual(keyOf(make(E.mul, [x, number(2, 8)])), keyOf(make(E.mul, [x, number(3, 8)])));
  assert.notEqual(keyOf(make(E.mul, [x, number(0, 8)])), keyOf(make(E.mul, [x, number(-0, 8)])));
});

test("the same values as one result or as two differ", () => {
  const products = () => {
    const product = make(E.mul, [stored(8), stored(8)]);
    return [product, make(E.add, [product, number(1, 8)])] as const;
  };
  const [, alone] = products();
  assert.notEqual(keyOf(alone), keyOf(make(E.add, [stored(8), number(1, 8)])));
  const [both] = keysOf(...products());
  assert.notEqual(keyOf(alone), both);
});

test("the nodes of groups with one key correspond", () => {
  const groupOf = (a: Node, b: Node) => {
    const [task] = schedule([make(E.sub, [make(M.permute, [a], { axes: [1, 0] }), b])], cpuProfile);
    return (task as Extract<NonNullable<typeof task>, { kind: "group" }>).group;
  };
  const [a, b, c, d] = [stored(4, 3), stored(3, 4), stored(4, 3), stored(3, 4)];
  const [first, second] = [keyOfGroup(groupOf(a, b)), keyOfGroup(groupOf(c, d))];
  assert.equal(first.key, second.key);
  assert.deepEqual(
    [first.nodes.indexOf(a), first.nodes.indexOf(b)],
    [second.nodes.indexOf(c), second.nodes.indexOf(d)],
  );
});

test("a program of ten layers alike has the kernels of one, each on its own memory", () => {
  const leaves = Array.from({ length: 11 }, () => stored(16, 16));
  let x = leaves[0]!;
  for (const weights of leaves.slice(1)) {
    const total = make(R.sum, [make(E.mul, [make(M.permute, [x], { axes: [1, 0] }), weights])], { axes: [0] });
    const spread = make(M.expand, [make(M.reshape, [total], { shape: [1, 16] })], { shape: [16, 16] });
    x = make(E.tanh, [make(E.add, [x, spread])]);
  }
  let emitted = 0;
  const program = compile([x], leaves, wasmTarget(2), () => ++emitted);
  const steps = kernelsOf(program.steps);
  assert.ok(steps.length >= 10, `${steps.length} kernels`);
  assert.ok(emitted <= 4, `${emitted} of ${steps.length} kernels were emitted`);
  const written = steps.map(({ slots, kernel: { buffers } }) =>
    slots.flatMap(({ from, index }, i) => (buffers[i]!.isWritten ? `${from} ${index}` : [])).join(),
  );
  assert.equal(new Set(written).size, steps.length);
});
