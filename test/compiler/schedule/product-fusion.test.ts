/** What a product takes into its kernel, and how far the operations on a value reach. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { endOfEpilogue, fusedProduct, graphOrder, narrowedBy } from "../../../src/compiler/schedule/product-fusion.js";
import { surveyFrom } from "../../../src/compiler/schedule/survey.js";
import { castNode } from "../../../src/graph/build.js";
import { type Node, pendingInOrder } from "../../../src/graph/node.js";
import { g } from "../../../src/graph/vocabulary.js";
import { stored, storedAs } from "../../support/nodes.js";

const product = (m: number, n: number, k = 8): Node => g.dot(stored(1, m, k), stored(1, k, n));
const fusedIn = (result: Node) =>
  fusedProduct(
    result,
    surveyFrom(result, () => false, null),
  );

test("a product is computed with what follows it element by element, at most moved", () => {
  const dot = product(4, 6);
  assert.deepEqual(fusedIn(dot), { dot, path: [] });
  const moved = g.permute(g.reshape(dot, [4, 6]), [1, 0]);
  const result = g.add(moved, g.broadcast(stored(4), [6, 4]));
  const fused = fusedIn(result);
  assert.equal(fused?.dot, dot);
  assert.deepEqual(fused?.path, [moved.inputs[0], moved, result]);
});

test("not with what drops or repeats elements, nor where it is needed at two places, nor at a high cost", () => {
  const dot = product(4, 6);
  const flat = g.reshape(dot, [4, 6]);
  assert.equal(fusedIn(g.neg(g.slice(flat, [0, 0], [4, 5]))), null);
  assert.equal(fusedIn(g.add(flat, g.flip(flat, [0]))), null);
  assert.equal(fusedIn(g.neg(g.broadcast(g.reshape(flat, [1, 24]), [2, 24]))), null);
  assert.ok(fusedIn(g.exp(flat)));
  assert.equal(fusedIn(g.exp(g.exp(g.exp(flat)))), null);
});

test("of several products it is the one with the most work", () => {
  const [small, large] = [product(4, 6, 3), product(4, 6, 30)];
  assert.equal(fusedIn(g.add(small, large))?.dot, large);
  assert.equal(fusedIn(g.add(large, small))?.dot, large);
});

const endIn = (root: Node, source: Node, isStored: (node: Node) => boolean = () => false): Node =>
  endOfEpilogue(source, graphOrder(pendingInOrder([root])), isStored);

test("an epilogue ends where all that use the source have come together", () => {
  const dot = product(4, 6);
  const biased = g.add(dot, stored(1, 4, 6));
  const active = g.mul(biased, g.exp(biased));
  const result = g.sum(active, [2]);
  assert.equal(endIn(result, dot), active);
  const early = g.neg(dot);
  const late = g.add(active, early);
  assert.equal(endIn(g.sum(late, [2]), dot), late, "another use of it is part of it, too");
});

test("it is the source itself where something behind its first users still reads it", () => {
  const dot = product(4, 6);
  const negated = g.neg(dot);
  const result = g.add(g.sum(negated, [2]), g.sum(g.exp(dot), [2]));
  assert.equal(endIn(result, dot), dot);
});

test("it does not go beyond other shapes, what is stored, and what is dear", () => {
  const dot = product(4, 6);
  const biased = g.add(dot, 1);
  const sums = g.sum(biased, [1]);
  assert.equal(endIn(g.exp(sums), dot), biased);
  const after = g.neg(biased);
  assert.equal(
    endIn(g.sum(after, [1]), dot, (node) => node === biased),
    biased,
  );
  const dear = g.exp(g.exp(g.exp(biased)));
  assert.notEqual(endIn(g.sum(dear, [1]), dot), dear);
  const alone = g.sum(dot, [1]);
  assert.equal(endIn(alone, dot), dot, "where there is nothing it is the source itself");
});

test("the order of a graph knows who reads what", () => {
  const x = stored(3);
  const [a, b] = [g.neg(x), g.exp(x)];
  const sum = g.add(a, b);
  const { order, positions, users } = graphOrder(pendingInOrder([sum]));
  assert.deepEqual(users.get(x), [a, b]);
  assert.deepEqual(users.get(sum), []);
  assert.ok(order.every((node, i) => positions.get(node) === i));
});

test("an epilogue stores the narrower value: a cast to more bytes is left to those who read it", () => {
  const dot = g.dot(storedAs("bf16", 1, 4, 8), storedAs("bf16", 1, 8, 6));
  const wide = castNode(dot, "f32");
  assert.equal(endIn(g.sum(wide, [2]), dot), dot);
  const active = g.exp(wide);
  assert.equal(endIn(g.sum(active, [2]), dot), active, "what is computed in more bytes is kept in them");
  assert.equal(endIn(g.sum(castNode(active, "bf16"), [2]), dot).dtype, "bf16");
});

test("a value that is read only in a narrower dtype is stored in that", () => {
  const value = g.exp(stored(4, 8));
  const narrow = castNode(value, "bf16");
  const two = [g.neg(narrow), g.exp(narrow)];
  assert.equal(narrowedBy(value, graphOrder(pendingInOrder(two))), narrow);
  assert.equal(narrowedBy(value, graphOrder(pendingInOrder([...two, g.neg(value)]))), value, "read as it is, too");
  const wide = castNode(value, "f64");
  assert.equal(narrowedBy(value, graphOrder(pendingInOrder([wide]))), value);
});
