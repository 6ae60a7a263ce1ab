/** Where a group that loads from too many tensors is cut. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { cutsForLoads } from "../../../src/compiler/schedule/load-limit.js";
import { surveyFrom } from "../../../src/compiler/schedule/survey.js";
import { inputsFirst, type Node } from "../../../src/graph/node.js";
import { g } from "../../../src/graph/vocabulary.js";
import { stored } from "../../support/nodes.js";

const cutsOf = (result: Node, maxLoads: number): Node[] =>
  cutsForLoads(result, surveyFrom(result, () => false, null).nodes, maxLoads);

/** The tensors that each kernel loads, once the cuts are stored. */
function loadsOfKernels(result: Node, cuts: readonly Node[]): number[] {
  const isStored = (node: Node) => node.storage !== null || cuts.includes(node);
  return [result, ...cuts].map((top) => {
    const behind = inputsFirst([top], (node) => (node !== top && isStored(node) ? [] : node.inputs));
    return behind.filter((node) => node !== top && isStored(node)).length;
  });
}

const tensors = (count: number) => Array.from({ length: count }, () => stored(8));

test("a sum of many tensors becomes kernels that load no more than they may, whatever its shape", () => {
  const chain = tensors(100).reduce((a, b) => g.add(a, b));
  const tree = (nodes: readonly Node[]): Node =>
    nodes.length === 1
      ? nodes[0]!
      : g.add(tree(nodes.slice(0, nodes.length >> 1)), tree(nodes.slice(nodes.length >> 1)));
  for (const result of [chain, tree(tensors(100))]) {
    for (const most of [2, 7, 32]) {
      const cuts = cutsOf(result, most);
      assert.ok(cuts.length > 0);
      assert.ok(Math.max(...loadsOfKernels(result, cuts)) <= most, `${most}: ${loadsOfKernels(result, cuts)}`);
    }
    assert.ok(cutsOf(result, 32).length <= 5, "and not into more than it takes");
  }
});

test("within the limit nothing is cut; one tensor counts once, however often it is read", () => {
  const [x, y] = tensors(2) as [Node, Node];
  assert.deepEqual(cutsOf(g.add(g.mul(x, y), g.add(x, y)), 2), []);
});

test("what only moves a tensor is not stored", () => {
  const parts = tensors(9).map((x) => g.flip(g.add(x, stored(8)), [0]));
  const result = parts.reduce((a, b) => g.add(a, b));
  assert.ok(cutsOf(result, 3).length > 0);
  for (const cut of cutsOf(result, 3)) assert.equal(cut.primitive.kind, "elementwise");
});

test("a node of more inputs than that has them all: there is nothing to cut", () => {
  const result = g.concat(tensors(10), 0);
  assert.deepEqual(cutsOf(result, 4), []);
});
