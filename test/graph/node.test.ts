/** Nodes: who uses whom, what a computed node keeps, and the walks over graphs. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  computeTogether,
  dependingOn,
  freeDropped,
  inputsFirst,
  isUnderWay,
  measureDepth,
  Node,
  pendingInOrder,
  type Trace,
  withCompanions,
} from "../../src/graph/node.js";
import { add, neg } from "../../src/graph/primitives/elementwise.js";
import { sum } from "../../src/graph/primitives/reduce.js";
import { make, nowhere, stored } from "../support/nodes.js";

const MEMORY = { byteLength: 4 };

const chain = (from: Node, length: number): Node => {
  let node = from;
  for (let i = 0; i < length; i++) node = make(neg, [node]);
  return node;
};

test("a walk meets every node once, inputs before users, also where ways part and join", () => {
  const x = stored(2);
  const [left, right] = [make(neg, [x]), chain(x, 3)];
  const top = make(add, [left, right]);
  const order = pendingInOrder([top, left]);
  assert.equal(order.length, new Set(order).size);
  assert.equal(order.length, 6);
  order.forEach((node, at) => {
    assert.equal(node.position, at);
    for (const input of node.inputs) assert.ok(order.indexOf(input) < at);
  });
});

test("a walk ends at what has been computed, which it still meets", () => {
  const [x, y] = [stored(2), stored(2)];
  const inner = make(neg, [x]);
  const top = make(add, [inner, y]);
  inner.realize(MEMORY);
  assert.deepEqual(pendingInOrder([top]), [inner, y, top]);
  assert.deepEqual(
    pendingInOrder([chain(top, 1)], (node) => node === top).map((node) => node === top),
    [true, false],
  );
});

test("chains of a hundred thousand operations are walked without a stack of their length", () => {
  const x = stored(1);
  const end = chain(x, 100_000);
  assert.equal(pendingInOrder([end]).length, 100_001);
  assert.equal(inputsFirst([end], ({ inputs }) => inputs).length, 100_001);
  assert.equal(dependingOn([end], [x], () => true).length, 100_000);
  assert.equal(measureDepth(end), 100_000);
});

test("inputsFirst goes where it is told, in the order of the inputs", () => {
  const [x, y] = [stored(1), stored(1)];
  const both = make(add, [x, y]);
  const top = make(neg, [both]);
  assert.deepEqual(
    inputsFirst([top], ({ inputs }) => inputs),
    [x, y, both, top],
  );
  assert.deepEqual(
    inputsFirst([top], (node) => (node === both ? [] : node.inputs)),
    [both, top],
  );
  assert.deepEqual(
    inputsFirst([x, top], ({ inputs }) => [...inputs].reverse()),
    [x, y, both, top],
  );
});

test("what depends on a source is what lies between, without the source and without bystanders", () => {
  const [x, y] = [stored(1), stored(1)];
  const [fromX, fromY] = [make(neg, [x]), make(neg, [y])];
  const top = make(add, [fromX, fromY]);
  assert.deepEqual(
    dependingOn([top], [x], () => true),
    [fromX, top],
  );
  assert.deepEqual(
    dependingOn([top, x], [x, y], () => true),
    [fromX, fromY, top],
  );
  assert.deepEqual(
    dependingOn([fromY], [x], () => true),
    [],
  );
  assert.deepEqual(
    dependingOn([top], [x], (node) => node !== fromX),
    [],
    "a way that is cut short leads nowhere",
  );
});

test("a computed node lets go of its inputs, and no longer counts as their user", () => {
  const x = stored(1);
  const y = make(add, [x, x]);
  assert.equal(x.users, 2);
  assert.equal(y.depth, 1);
  y.realize(MEMORY);
  assert.deepEqual([x.users, y.inputs.length, y.depth, y.storage], [0, 0, 0, MEMORY]);
});

test("inside a differentiation that is open it keeps them for the way back, also where only one around it is", () => {
  const outer: Trace = { isOpen: true, outer: null, level: 0 };
  const inner: Trace = { isOpen: false, outer, level: 1 };
  const x = stored(1);
  x.trace = inner;
  const y = make(neg, [x]);
  y.realize(MEMORY);
  assert.deepEqual(y.inputs, [x]);
  assert.equal(isUnderWay(inner), true);
  outer.isOpen = false;
  assert.equal(isUnderWay(inner), false);
  assert.equal(isUnderWay(null), false);
});

test("a node belongs to the innermost differentiation that one of its inputs belongs to", () => {
  const outer: Trace = { isOpen: true, outer: null, level: 3 };
  const inner: Trace = { isOpen: true, outer, level: 4 };
  const [x, y, z] = [stored(1), stored(1), stored(1)];
  x.trace = outer;
  y.trace = inner;
  assert.equal(make(add, [x, y]).trace, inner);
  assert.equal(make(add, [y, x]).trace, inner);
  assert.equal(make(add, [x, z]).trace, outer);
  assert.equal(make(neg, [z]).trace, null);
});

test("what is built on something without a value has none either", () => {
  const x = stored(1);
  x.isAbstract = true;
  assert.equal(chain(x, 2).isAbstract, true);
  assert.equal(make(add, [stored(1), x]).isAbstract, true);
  assert.equal(make(neg, [stored(1)]).isAbstract, false);
});

test("other inputs take over the place of the old ones, as users count them", () => {
  const [x, y] = [stored(1), stored(1)];
  const node = make(neg, [x]);
  node.replaceInputs([y], { by: 1 });
  assert.deepEqual([x.users, y.users, node.inputs, node.params], [0, 1, [y], { by: 1 }]);
});

test("depth is measured again where a part of the chain has been computed since", () => {
  const middle = chain(stored(1), 5);
  const end = chain(middle, 4);
  assert.equal(end.depth, 9);
  middle.realize(MEMORY);
  assert.equal(end.depth, 9, "on record until somebody measures");
  assert.equal(measureDepth(end), 4);
  assert.equal(end.depth, 4);
});

test("values that are computed together come along with the first that is needed, while somebody wants them", () => {
  const x = stored(1);
  const [loss, slope, forgotten] = [make(neg, [x]), make(neg, [x]), make(neg, [x])];
  computeTogether([loss, slope, forgotten]);
  slope.handles = 1;
  assert.deepEqual(withCompanions([loss]), [loss, slope]);
  const user = make(neg, [loss]);
  assert.deepEqual(
    new Set(withCompanions([user])),
    new Set([user, loss, slope]),
    "also through what needs one of them",
  );
  const alone = make(neg, [x]);
  assert.deepEqual(withCompanions([alone]), [alone]);
  loss.realize(MEMORY);
  assert.deepEqual(withCompanions([loss]), [loss], "what has been computed takes nothing along");
});

test("companions on another device stay behind", () => {
  const elsewhere = { id: "elsewhere", realize: () => {} };
  const x = stored(1);
  const [here, there] = [make(neg, [x]), new Node(neg, {}, [x], [1], "f32", elsewhere)];
  there.handles = 1;
  computeTogether([here, there]);
  assert.deepEqual(withCompanions([here]), [here]);
  assert.equal(here.device, nowhere);
});

test("an update that is written from values that are computed together comes along, while a tensor holds it", () => {
  const x = stored(4);
  const [loss, slope] = [make(neg, [x]), make(neg, [x])];
  loss.handles = 1;
  slope.handles = 1;
  computeTogether([loss, slope]);
  const scaled = make(neg, [slope]);
  const update = make(add, [x, scaled]);
  scaled.handles = 1;
  assert.deepEqual(withCompanions([loss]), [loss, slope], "nobody holds the update");
  update.handles = 1;
  assert.deepEqual(withCompanions([loss]), [loss, slope, update], "what only leads to it is not stored");
  assert.deepEqual(withCompanions([update]), [loss, slope, update], "in one order, whichever was asked for");
  const other = make(add, [slope, x]);
  other.handles = 1;
  assert.deepEqual(withCompanions([loss]), [loss, slope, update, other]);
  for (const node of [loss, slope, update]) node.realize(MEMORY);
  assert.deepEqual(withCompanions([other]), [other]);
});

test("an update belongs to the values that came last, and is forgotten with the step", () => {
  const step = (x: Node) => {
    const slope = make(neg, [x]);
    slope.handles = 1;
    computeTogether([slope]);
    return slope;
  };
  const first = step(stored(4));
  const moved = make(neg, [first]);
  const second = step(moved);
  const update = make(add, [moved, second]);
  update.handles = 1;
  assert.deepEqual(withCompanions([first]), [first]);
  assert.deepEqual(withCompanions([second]), [first, second, update]);
});

test("no update is what has another shape, no elements of the values, no value, or belongs to an open differentiation", () => {
  const x = stored(4);
  const slope = make(neg, [x]);
  computeTogether([slope]);
  slope.handles = 1;
  const held = (node: Node): Node => {
    node.handles = 1;
    return node;
  };
  held(make(sum, [slope], { axes: [0] }));
  held(new Node(add, {}, [slope, x], [2, 4], "f32", nowhere));
  const variable = stored(4);
  variable.trace = { isOpen: true, outer: null, level: 1 };
  held(make(add, [slope, variable]));
  const placeholder = stored(4);
  placeholder.isAbstract = true;
  held(make(add, [slope, placeholder]));
  assert.deepEqual(withCompanions([slope]), [slope]);
});

test("few updates are expected: what is built of a gradient by the hundred is not computed with it", () => {
  const slope = make(neg, [stored(4)]);
  computeTogether([slope]);
  const all = Array.from({ length: 100 }, () => make(neg, [slope]));
  for (const node of all) node.handles = 1;
  assert.deepEqual(withCompanions([slope]), [slope, ...all.slice(0, 4)]);
});

/** Memory that tells when it was freed. */
function memory() {
  const state = { byteLength: 4, isFree: false, dispose: () => {} };
  state.dispose = () => {
    state.isFree = true;
  };
  return state;
}

/** A node with memory, which a tensor holds or not. */
function computed(handles: number) {
  const [node, storage] = [make(neg, [stored(1)]), memory()];
  node.handles = handles;
  node.realize(storage);
  return { node, storage };
}

test("what only a computed node needed is freed at once, through nodes that were never stored", () => {
  const [dropped, held] = [computed(0), computed(1)];
  const inner = make(add, [make(neg, [dropped.node]), held.node]);
  const end = make(neg, [inner]);
  end.realize(MEMORY);
  assert.ok(dropped.storage.isFree);
  assert.ok(!held.storage.isFree, "a tensor holds it");
  assert.equal(held.node.users, 0);
  assert.equal(inner.users, 0);
});

test("what a waiting operation or a tensor may still read is kept", () => {
  const { node: x, storage } = computed(0);
  const [first, second] = [make(neg, [x]), make(neg, [x])];
  first.realize(MEMORY);
  assert.ok(!storage.isFree);
  const held = make(neg, [x]);
  held.handles = 1;
  second.realize(MEMORY);
  assert.ok(!storage.isFree, "a tensor holds an operation that reads it");
  held.realize(MEMORY);
  assert.ok(storage.isFree);
});

test("a node that is dropped before it is computed frees what only it would have read, once", () => {
  const x = computed(0);
  const [inner, other] = [make(neg, [x.node]), make(neg, [x.node])];
  const end = make(neg, [inner]);
  freeDropped([end]);
  freeDropped([end]);
  assert.equal(x.node.users, 1, "the other one still reads it");
  assert.ok(!x.storage.isFree);
  freeDropped([other]);
  assert.ok(x.storage.isFree);
});

test("memory of a differentiation that has ended is kept: a pullback may read it again", () => {
  const x = computed(0);
  x.node.trace = { isOpen: false, outer: null, level: 1 };
  make(neg, [x.node]).realize(MEMORY);
  assert.equal(x.node.users, 0);
  assert.ok(!x.storage.isFree);
});

test("nodes of functions and of an open differentiation keep what they read", () => {
  const x = computed(0);
  const abstract = make(neg, [x.node]);
  abstract.isAbstract = true;
  freeDropped([abstract]);
  const traced = make(neg, [x.node]);
  const trace: Trace = { isOpen: true, outer: null, level: 1 };
  traced.trace = trace;
  freeDropped([traced]);
  assert.ok(!x.storage.isFree);
  assert.equal(x.node.users, 2);
});

test("a dropped chain of a hundred thousand operations is left without a stack of its length", () => {
  const x = computed(0);
  freeDropped([chain(x.node, 100_000)]);
  assert.ok(x.storage.isFree);
});
