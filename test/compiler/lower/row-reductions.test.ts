/** Which reductions a row computes ahead of its columns, and in which turns. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { reductionsInTurns, type Wanted } from "../../../src/compiler/lower/row-reductions.js";
import { IndexSpace, unravel } from "../../../src/core/index-expr.js";
import type { Node } from "../../../src/graph/node.js";
import { take } from "../../../src/graph/primitives/movement.js";
import { max } from "../../../src/graph/primitives/reduce.js";
import { g } from "../../../src/graph/vocabulary.js";
import { make, stored, storedAs } from "../../support/nodes.js";

const isStored = ({ storage }: Node): boolean => storage !== null;
const stretched = (reduced: Node, x: Node): Node => g.unreduce(reduced, x.shape, [1]);

/** Results of rows along the first axis; columns are the second, where there is one. */
function turnsOf(
  results: readonly Node[],
  options: { isWrittenOut?: (node: Node) => boolean; isLoaded?: (node: Node) => boolean } = {},
) {
  const space = new IndexSpace();
  const [{ shape }] = results as [Node];
  const row = space.variable("row", shape[0]!);
  const wanted = results.map((node): Wanted => {
    const columns = node.shape[1] ?? null;
    return {
      node,
      columns,
      at: (at, column) => (columns === null ? [at] : [at, ...unravel(space, column, [columns])]),
    };
  });
  const known = { space, isLoaded: options.isLoaded ?? isStored, isWrittenOut: options.isWrittenOut };
  return reductionsInTurns(known, wanted, [row]).map((turn) =>
    Object.fromEntries([...turn].map(([extent, reductions]) => [extent, reductions.map(({ node }) => node)])),
  );
}

test("a softmax has two turns: the largest, then the sum that needs it", () => {
  const x = stored(5, 7);
  const largest = make(max, [x], { axes: [1] });
  const powers = g.exp(g.sub(x, stretched(largest, x)));
  const total = g.sum(powers, [1]);
  assert.deepEqual(turnsOf([g.div(powers, stretched(total, x))]), [{ 7: [largest] }, { 7: [total] }]);
});

test("reductions that need nothing of one another share a turn, and a loop where they are as long", () => {
  const [x, y] = [stored(5, 7), stored(5, 9)];
  const [sums, squares, others] = [g.sum(x, [1]), g.sum(g.square(x), [1]), g.sum(y, [1])];
  const result = g.add(g.add(sums, squares), others);
  const turns = turnsOf([result]);
  assert.equal(turns.length, 1);
  assert.deepEqual(new Set(turns[0]![7]), new Set([sums, squares]));
  assert.deepEqual(turns[0]![9], [others]);
});

test("a reduction that depends on the column is not the row's, and is computed with it", () => {
  const inner = g.sum(stored(5, 7, 3), [2]);
  assert.deepEqual(turnsOf([inner]), []);
  const total = g.sum(inner, [1]);
  assert.deepEqual(turnsOf([total]), [{ 7: [total] }], "nor is one that depends on the round of another");
});

test("nor is one at an index that is read from memory, which is not known ahead", () => {
  const sums = g.sum(stored(9, 7), [1]);
  assert.deepEqual(turnsOf([make(take, [sums, storedAs("i32", 5)], { axis: 0 })]), []);
});

test("what is loaded is not gone into; what is written out is, but has no turn", () => {
  const x = stored(5, 7);
  const sums = g.sum(x, [1]);
  const result = g.sub(x, stretched(sums, x));
  assert.deepEqual(turnsOf([result], { isLoaded: (node) => isStored(node) || node === sums }), []);
  assert.deepEqual(turnsOf([result], { isWrittenOut: () => true }), []);
  const nested = g.sum(g.sub(x, stretched(sums, x)), [1]);
  assert.deepEqual(turnsOf([nested], { isWrittenOut: (node) => node === nested }), [{ 7: [sums] }]);
});

test("what several results need is computed once", () => {
  const x = stored(5, 7);
  const sums = g.sum(x, [1]);
  const turns = turnsOf([g.exp(sums), g.neg(sums)]);
  assert.deepEqual(turns, [{ 7: [sums] }]);
});
