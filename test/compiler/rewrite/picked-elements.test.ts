/** Sums that pick one element, which become reads of it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { pickedElement } from "../../../src/compiler/rewrite/picked-elements.js";
import type { Node } from "../../../src/graph/node.js";
import { max, sum } from "../../../src/graph/primitives/reduce.js";
import { g } from "../../../src/graph/vocabulary.js";
import { make, stored, storedAs } from "../../support/nodes.js";
import { plainValues } from "../../support/plain-graph.js";

const ROWS = 5;
const COLUMNS = 3;
const X = Array.from({ length: ROWS * COLUMNS }, (_, i) => i + 0.5);

/** Σ over an axis of where(position along it = k, x, 0); `k` has the shape of the sum, or is broadcast to it. */
function oneHot(x: Node, k: Node, axis: number): Node {
  const there = g.equal(g.counting(x.shape, axis, k), g.broadcast(k, x.shape));
  return make(sum, [g.where(there, x, 0)], { axes: [axis] });
}

const valuesOf = (node: Node, given: ReadonlyMap<Node, readonly number[]>) =>
  plainValues([node], given)[0]!.map(Number);

test("the element at a position is read, along any axis, and is 0 where there is none", () => {
  for (const axis of [0, 1]) {
    for (const at of [-7, -1, 0, 1, 2, 4, 5, 100]) {
      const [x, k] = [stored(ROWS, COLUMNS), storedAs("i32", 1, 1)];
      const node = oneHot(x, k, axis);
      const picked = pickedElement(node, node.inputs[0]);
      assert.ok(picked, "it is read");
      assert.deepEqual([picked.shape, picked.dtype], [node.shape, node.dtype]);
      const given = new Map([
        [x, X],
        [k, [at]],
      ]);
      const want = X.filter((_, i) => (axis === 0 ? Math.floor(i / COLUMNS) : i % COLUMNS) === at);
      const zeros = (axis === 0 ? Array(COLUMNS) : Array(ROWS)).fill(0);
      assert.deepEqual(valuesOf(picked, given), want.length > 0 ? want : zeros, `axis ${axis}, position ${at}`);
    }
  }
});

test("each row may have a position of its own, and it may be computed", () => {
  const [x, k] = [stored(ROWS, COLUMNS), storedAs("i32", ROWS, 1)];
  const node = oneHot(x, g.sub(k, 1), 1);
  const picked = pickedElement(node, node.inputs[0]) as Node;
  const given = new Map([
    [x, X],
    [k, [1, 3, 0, 2, 4]],
  ]);
  assert.deepEqual(valuesOf(picked, given), [X[0], X[5], 0, X[10], 0]);
  assert.deepEqual(valuesOf(picked, given), valuesOf(node, given));
});

test("the comparison may be written the other way round, and be broadcast after it", () => {
  const [x, k] = [stored(ROWS, COLUMNS), storedAs("i32")];
  const counter = g.counting([ROWS], 0, k);
  const there = g.equal(g.broadcast(k, [ROWS]), counter);
  const all = g.broadcast(g.reshape(there, [ROWS, 1]), [ROWS, COLUMNS]);
  const node = make(sum, [g.where(all, x, 0)], { axes: [0] });
  const picked = pickedElement(node, node.inputs[0]) as Node;
  const given = new Map([
    [x, X],
    [k, [3]],
  ]);
  assert.deepEqual(valuesOf(picked, given), X.slice(9, 12));
});

test("other sums stay: of more elements than one, of another axis, with something beside zeros", () => {
  const [x, k] = [stored(ROWS, COLUMNS), storedAs("i32", 1, 1)];
  const there = g.equal(g.counting(x.shape, 0, k), g.broadcast(k, x.shape));
  const isLeft = (node: Node) => assert.equal(pickedElement(node, node.inputs[0]), null);
  const ofHere = g.where(there, x, 0);
  isLeft(make(sum, [ofHere], { axes: [1] }));
  isLeft(make(sum, [ofHere], { axes: [0, 1] }));
  isLeft(make(max, [ofHere], { axes: [0] }));
  isLeft(make(sum, [g.where(there, x, 1)], { axes: [0] }));
  isLeft(make(sum, [g.where(there, 0, x)], { axes: [0] }));
  isLeft(make(sum, [g.mul(ofHere, 2)], { axes: [0] }));
  const below = g.less(g.counting(x.shape, 0, k), g.broadcast(k, x.shape));
  isLeft(make(sum, [g.where(below, x, 0)], { axes: [0] }));
  // A position that changes along the axis may be met several times, or never.
  const moving = g.equal(g.counting(x.shape, 0, k), storedAs("i32", ROWS, COLUMNS));
  isLeft(make(sum, [g.where(moving, x, 0)], { axes: [0] }));
  const twice = g.equal(g.mul(g.counting(x.shape, 0, k), 2), g.broadcast(k, x.shape));
  isLeft(make(sum, [g.where(twice, x, 0)], { axes: [0] }));
});
