/** Memory for the nodes of a graph: which share it, which have their own, and where roots and leaves lie. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Slot } from "../../../src/compiler/program/program.js";
import { schedule } from "../../../src/compiler/schedule/schedule.js";
import { assignSlots } from "../../../src/compiler/steps/slots.js";
import { gpuProfile } from "../../../src/compiler/target/profile.js";
import type { Node } from "../../../src/graph/node.js";
import { outputOf, partsOf } from "../../../src/graph/primitives/bundle.js";
import { branching } from "../../../src/graph/primitives/control/choice.js";
import { scatter } from "../../../src/graph/primitives/scatter.js";
import { g } from "../../../src/graph/vocabulary.js";
import { make, stored, storedAs } from "../../support/nodes.js";
import { leaf, made } from "../../support/steps.js";

/** Roots get the slots 100, 101 …, other nodes 0, 1 … in the order they are asked for. */
function slotsFor(roots: readonly Node[], leaves: readonly Node[] = []) {
  let count = 0;
  const makes: Node[] = [];
  const known = new Map<Node, Slot>(leaves.map((node, i) => [node, leaf(i)]));
  const tasks = schedule(roots, gpuProfile);
  const slots = assignSlots(
    tasks,
    roots,
    known,
    (root) => made(100 + root),
    (node) => {
      makes.push(node);
      return made(count++);
    },
  );
  return { ...slots, tasks, makes };
}

test("a leaf has its own memory, a root that of the root, another node new memory, and each the same every time", () => {
  const x = stored(4);
  const [a, b] = [g.exp(x), g.neg(x)];
  const { slotOf, makes } = slotsFor([a, b], [x]);
  const other = g.sin(x);
  assert.deepEqual([x, b, a, other, other, a].map(slotOf), [
    leaf(0),
    made(101),
    made(100),
    made(0),
    made(0),
    made(100),
  ]);
  assert.deepEqual(makes, [other]);
});

test("a routine reads a view where its source lies; a transposed copy is no view", () => {
  const x = stored(4, 6);
  const { inputOf, slotOf } = slotsFor([g.exp(x)], [x]);
  assert.deepEqual(inputOf(g.reshape(g.reshape(x, [24]), [2, 12])), leaf(0));
  const turned = g.permute(x, [1, 0]);
  assert.deepEqual(inputOf(turned), slotOf(turned));
  assert.notDeepEqual(inputOf(turned), leaf(0));
});

test("a view that is a leaf itself is read there, not where its source lies", () => {
  const view = g.reshape(g.exp(stored(4, 6)), [24]);
  const { inputOf } = slotsFor([g.neg(stored(2))], [view]);
  assert.deepEqual(inputOf(g.reshape(view, [3, 8])), leaf(0));
});

test("the parts of a bundle that are wanted are found by the bundle, and those of another are not", () => {
  const [index, x] = [storedAs("i32"), stored(4)];
  const bundle = () => make(branching, [index, x], { branches: [], outputs: [x, x, x].map(outputOf) });
  const [one, two] = [bundle(), bundle()];
  const [[first, , third], [other]] = [partsOf(one), partsOf(two)] as [Node[], Node[]];
  const { partsOf: wanted } = slotsFor([third!, first!, other!], [index, x]);
  assert.deepEqual(new Set(wanted(one)), new Set([first, third]));
  assert.deepEqual(wanted(two), [other]);
  assert.deepEqual(wanted(bundle()), []);
});

/** Updates of rows of x. */
const scattered = (x: Node): Node => make(scatter, [x, storedAs("i32", 2), stored(2, 3)], { op: "add" });

test("scatters one after another change one memory in place, from the value that only they need on", () => {
  const x = stored(5, 3);
  const start = g.exp(x);
  const [first] = [scattered(start)];
  const last = scattered(first!);
  const { slotOf, makes } = slotsFor([last], [x]);
  assert.deepEqual([start, first!, last].map(slotOf), [made(100), made(100), made(100)]);
  assert.deepEqual(makes, []);
});

test("a scatter keeps away from memory that others read, that is a result, or that is a leaf", () => {
  const x = stored(5, 3);
  const shared = g.exp(x);
  const twice = scattered(shared);
  const read = slotsFor([twice, g.sum(shared, [0])], [x]);
  assert.notDeepEqual(read.slotOf(shared), read.slotOf(twice));
  const root = g.exp(x);
  const after = scattered(root);
  const wanted = slotsFor([root, after], [x]);
  assert.deepEqual([root, after].map(wanted.slotOf), [made(100), made(101)]);
  const direct = scattered(x);
  const ofLeaf = slotsFor([direct], [x]);
  assert.deepEqual([x, direct].map(ofLeaf.slotOf), [leaf(0), made(100)]);
});
