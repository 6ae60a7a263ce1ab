/** Nodes that compute the same of the same become one. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { mergeEqual } from "../../../src/compiler/rewrite/merge-equal.js";
import { inputsFirst, type Node } from "../../../src/graph/node.js";
import { exp } from "../../../src/graph/primitives/elementwise.js";
import { recompute } from "../../../src/graph/primitives/movement.js";
import { g } from "../../../src/graph/vocabulary.js";
import { make, stored } from "../../support/nodes.js";

const count = (roots: readonly Node[], primitive: Node["primitive"]): number =>
  inputsFirst(roots, ({ inputs }) => inputs).filter((node) => node.primitive === primitive).length;

test("what was written twice is there once, however deep", () => {
  const x = stored(4);
  const twice = () => g.add(g.exp(g.mul(x, 2)), 1);
  const { roots } = mergeEqual([g.mul(twice(), twice())]);
  assert.equal(count(roots, exp), 1);
  const [product] = roots;
  assert.equal(product!.inputs[0], product!.inputs[1]);
});

test("other inputs, parameters and memory make other nodes", () => {
  const [x, y] = [stored(4), stored(4)];
  const nodes = [g.exp(x), g.exp(y), g.mul(x, 2), g.mul(x, 3), g.slice(x, [0], [2]), g.slice(x, [1], [2])];
  const { roots } = mergeEqual(nodes);
  assert.deepEqual(roots, nodes);
});

test("what is to be computed again is kept apart", () => {
  const x = stored(4);
  const { roots } = mergeEqual([g.mul(g.exp(x), g.exp(make(recompute, [x])))]);
  assert.equal(count(roots, exp), 2);
});

test("for every node it is known which one stands for it now", () => {
  const x = stored(4);
  const [first, second] = [g.exp(x), g.exp(x)];
  const { roots, keptFor } = mergeEqual([first, second, g.neg(second)]);
  assert.deepEqual([keptFor(first), keptFor(second)], [first, first]);
  assert.deepEqual(roots.slice(0, 2), [first, first]);
  assert.equal(roots[2]!.inputs[0], first);
  const stranger = g.neg(x);
  assert.equal(keptFor(stranger), stranger);
});
