/** Nodes that are the same memory under another shape. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ownedInput, viewed, withoutViews } from "../../../src/compiler/schedule/views.js";
import type { Node } from "../../../src/graph/node.js";
import { argsort } from "../../../src/graph/primitives/order.js";
import { scatter } from "../../../src/graph/primitives/scatter.js";
import { g } from "../../../src/graph/vocabulary.js";
import { make, stored, storedAs } from "../../support/nodes.js";

const never = () => false;

test("reshapes, and permutations that move only axes of one, are views; what moves or drops elements is none", () => {
  const y = g.exp(stored(1, 4, 3));
  assert.equal(viewed(g.reshape(g.reshape(y, [12]), [3, 4]), never), y);
  assert.equal(viewed(g.permute(y, [1, 0, 2]), never), y);
  const turned = g.permute(y, [0, 2, 1]);
  assert.equal(viewed(turned, never), turned);
  const part = g.slice(y, [0, 0, 0], [1, 2, 3]);
  assert.equal(viewed(part, never), part);
  const flipped = g.flip(y, [1]);
  assert.equal(viewed(flipped, never), flipped);
});

test("the way down ends at what is wanted, and at what is in memory", () => {
  const y = g.exp(stored(4));
  const middle = g.reshape(y, [2, 2]);
  const top = g.reshape(middle, [1, 4]);
  assert.equal(
    viewed(top, (node) => node === middle),
    middle,
  );
  assert.equal(
    viewed(top, (node) => node === top),
    top,
  );
  const memory = g.reshape(y, [4, 1]);
  memory.realize({ byteLength: 16 });
  assert.equal(viewed(g.reshape(memory, [2, 2]), never), memory);
});

test("a root that is a view of what a routine makes is made by the routine, unless another root has taken it", () => {
  const order = () => make(argsort, [storedAs("u32", 6)]);
  const [a, b] = [order(), order()];
  const shaped = g.reshape(a, [2, 3]);
  assert.deepEqual(withoutViews([shaped]), [a]);
  assert.deepEqual(withoutViews([shaped, a]), [shaped, a]);
  assert.deepEqual(
    withoutViews([shaped, g.reshape(a, [3, 2]), g.reshape(b, [3, 2])]).map((node) => [a, b].includes(node)),
    [true, false, true],
  );
  const computed = g.reshape(g.exp(stored(6)), [2, 3]);
  assert.deepEqual(withoutViews([computed]), [computed], "a group stores in any shape");
});

test("an input belongs to a node whose only use it is, directly or under other shapes", () => {
  const scattered = (x: Node) => make(scatter, [x, storedAs("i32", 2), stored(2, 3)], { op: "add" });
  const x = g.exp(stored(4, 3));
  const node = scattered(x);
  assert.equal(ownedInput(node, [x, node]), x);
  const flat = g.exp(stored(12));
  const shaped = g.reshape(flat, [4, 3]);
  const other = scattered(shaped);
  assert.equal(ownedInput(other, [flat, shaped, other]), flat);
  const user = g.neg(flat);
  assert.equal(ownedInput(other, [flat, shaped, user, other]), null, "somebody else needs it");
  const given = stored(4, 3);
  const ofMemory = scattered(given);
  assert.equal(ownedInput(ofMemory, [ofMemory]), null, "memory from outside is not the program's to change");
  const twice = make(scatter, [x, storedAs("i32", 4), x], { op: "add" });
  assert.equal(ownedInput(twice, [x, twice]), null, "it is read while it is changed");
});
