/** What a survey finds of a group: nodes and places, loads, reductions and the axes they depend on, and where it cuts. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { surveyFrom } from "../../../src/compiler/schedule/survey.js";
import type { Node } from "../../../src/graph/node.js";
import { stored as storedPrimitive, window } from "../../../src/graph/primitives/movement.js";
import { argsort } from "../../../src/graph/primitives/order.js";
import { g } from "../../../src/graph/vocabulary.js";
import { make, stored, storedAs } from "../../support/nodes.js";

const nothingElse = () => false;
const NO_LIMITS = { maxNodes: 1000, maxStatements: 1e6 };

test("a node that is read at several indices counts as many places, loads are no nodes of the group", () => {
  const x = stored(8);
  const y = g.exp(x);
  const result = g.add(g.slice(y, [0], [6]), g.add(g.slice(y, [1], [6]), g.slice(y, [2], [6])));
  const { nodes, loads, cuts } = surveyFrom(result, nothingElse, NO_LIMITS);
  assert.equal(nodes.get(y), 3);
  assert.equal(nodes.get(result), 1);
  assert.equal(nodes.has(x), false);
  assert.deepEqual([...loads.keys()], [x]);
  assert.deepEqual(cuts, []);
});

test("what another group computes is loaded, except the result itself", () => {
  const x = stored(8);
  const y = g.exp(x);
  const result = g.neg(y);
  const { nodes, loads } = surveyFrom(result, (node) => node === y || node === result, NO_LIMITS);
  assert.deepEqual([...nodes.keys()], [result]);
  assert.deepEqual([...loads.keys()], [y]);
});

test("a reduction depends on the axes of the result that its index has, and on axes of one", () => {
  const x = stored(4, 5, 6);
  const rows = g.unreduce(g.sum(x, [2]), x.shape, [2]);
  const result = g.sub(x, rows);
  const [reduction] = surveyFrom(result, nothingElse, NO_LIMITS).reductions;
  assert.deepEqual(
    [reduction!.axes, reduction!.extent, reduction!.isInnermost, reduction!.isApart],
    [[0, 1], 6, true, false],
  );
  const one = stored(4, 1, 6);
  const [ofOne] = surveyFrom(
    g.sub(one, g.unreduce(g.sum(one, [0]), one.shape, [0])),
    nothingElse,
    NO_LIMITS,
  ).reductions;
  assert.deepEqual([ofOne!.axes, ofOne!.extent, ofOne!.isInnermost], [[1, 2], 4, false]);
});

test("a reduction inside another is apart, and names it; so is one that is needed only within bounds", () => {
  const x = stored(4, 5, 6);
  const inner = g.sum(x, [2]);
  const outer = g.sum(g.exp(inner), [1]);
  const { reductions } = surveyFrom(outer, nothingElse, NO_LIMITS);
  const found = reductions.find(({ node }) => node === inner)!;
  assert.equal(found.isApart, true);
  assert.deepEqual([...found.outers], [outer]);
  const padded = g.pad(g.sum(stored(4, 6), [1]), [1], [0]);
  assert.equal(surveyFrom(padded, nothingElse, NO_LIMITS).reductions[0]!.isApart, true);
});

test("a reduction that is seen at several indices depends on the axes of all of them", () => {
  const sums = g.sum(stored(5, 5, 7), [2]);
  const [column, row] = [g.slice(sums, [0, 2], [5, 1]), g.slice(sums, [1, 0], [1, 5])];
  const result = g.add(g.broadcast(column, [5, 5]), g.broadcast(row, [5, 5]));
  const [reduction] = surveyFrom(result, nothingElse, NO_LIMITS).reductions;
  assert.deepEqual(reduction!.axes, [0, 1]);
});

test("routines, what was asked to be stored, and what is computed at too many places are cut off", () => {
  const x = stored(40);
  const order = make(argsort, [g.cast(x, "u32")]);
  assert.deepEqual(surveyFrom(g.add(order, 1), nothingElse, NO_LIMITS).cuts, [order]);
  const kept = make(storedPrimitive, [g.exp(x)]);
  assert.deepEqual(surveyFrom(g.neg(kept), nothingElse, NO_LIMITS).cuts, [kept]);
  assert.deepEqual(surveyFrom(kept, nothingElse, NO_LIMITS).cuts, [], "the result is stored anyway");
  const neighbours = (y: Node, count: number) =>
    Array.from({ length: count }, (_, i) => g.slice(y, [i], [30])).reduce((a, b) => g.add(a, b));
  const y = g.exp(x);
  assert.deepEqual(surveyFrom(neighbours(y, 8), nothingElse, NO_LIMITS).cuts, []);
  assert.deepEqual(surveyFrom(neighbours(y, 9), nothingElse, NO_LIMITS).cuts, [y]);
  const moved = g.flip(y, [0]);
  assert.ok(
    surveyFrom(neighbours(moved, 9), nothingElse, NO_LIMITS).cuts.includes(y),
    "movement may be read more often",
  );
  assert.equal(surveyFrom(neighbours(moved, 9), nothingElse, NO_LIMITS).cuts.includes(moved), false);
});

test("past the limit of nodes further ones are cut off, but none that only moves what is in memory", () => {
  const x = stored(8);
  let y: Node = g.exp(x);
  for (let i = 0; i < 20; i++) y = g.neg(y);
  const { nodes, cuts } = surveyFrom(y, nothingElse, { ...NO_LIMITS, maxNodes: 10 });
  assert.equal(nodes.size, 10);
  assert.equal(cuts.length, 1);
  const moved = g.add(g.flip(x, [0]), g.reshape(g.reshape(x, [2, 4]), [8]));
  assert.deepEqual(surveyFrom(moved, nothingElse, { ...NO_LIMITS, maxNodes: 1 }).cuts, []);
});

test("statements are counted for every place, and only where there are limits", () => {
  const x = stored(8);
  const y = g.exp(x);
  const once = surveyFrom(g.slice(y, [0], [6]), nothingElse, NO_LIMITS).statements;
  const twice = surveyFrom(g.add(g.slice(y, [0], [6]), g.slice(y, [1], [6])), nothingElse, NO_LIMITS).statements;
  assert.ok(once > 10, "an exponential is long");
  assert.ok(twice >= 2 * once);
  const alike = [g.add(y, y), g.neg(y)].map((result) => surveyFrom(result, nothingElse, NO_LIMITS).statements);
  assert.equal(alike[0], alike[1], "two uses at one place are one");
  assert.equal(surveyFrom(y, nothingElse, null).statements, 0);
});

test("products of matrices are listed, with their operands as what they need", () => {
  const [a, b] = [g.exp(stored(1, 4, 5)), stored(1, 5, 6)];
  const product = g.dot(a, b);
  const { products, nodes, loads } = surveyFrom(g.neg(product), nothingElse, NO_LIMITS);
  assert.deepEqual(products, [product]);
  assert.ok(nodes.has(a));
  assert.ok(loads.has(b));
});

test("indices of loads are in words of rows and columns, the same for groups over the same rows", () => {
  const x = stored(6, 7);
  const survey = (result: Node, rowAxes: readonly number[]) => surveyFrom(result, nothingElse, null, rowAxes);
  const softened = g.exp(x);
  const [plain, flipped] = [survey(softened, [0]), survey(g.exp(g.flip(x, [1])), [0])];
  assert.deepEqual([...plain.loads.get(x)!], [plain.ownIndex]);
  assert.notDeepEqual([...flipped.loads.get(x)!], [flipped.ownIndex]);
  assert.equal(plain.ownIndex, survey(g.neg(stored(6, 7)), [0]).ownIndex);
  assert.notEqual(plain.ownIndex, survey(softened, [0, 1]).ownIndex, "other rows");
  const withOne = stored(1, 6, 7);
  assert.equal(survey(g.neg(withOne), [0, 1]).ownIndex, plain.ownIndex, "axes of one do not count");
});

test("a reduction is one of columns where neighbours of the result read neighbours and rounds of the loop do not", () => {
  const x = stored(64, 32);
  const columns = surveyFrom(g.sum(x, [0]), nothingElse, null, [0]);
  assert.equal(columns.isColumnReduction, true);
  assert.equal(surveyFrom(g.sum(x, [1]), nothingElse, null, [0]).isColumnReduction, false, "it reduces rows");
  assert.equal(surveyFrom(g.exp(x), nothingElse, null, [0, 1]).isColumnReduction, false, "it reduces nothing");
  assert.equal(
    surveyFrom(g.sum(storedAs("f64", 64, 32), [0]), nothingElse, null, [0]).isColumnReduction,
    false,
    "lanes are of 32 bits",
  );
  const weights = g.broadcast(g.reshape(stored(64), [64, 1]), [64, 32]);
  const weighted = surveyFrom(g.sum(g.mul(x, weights), [0]), nothingElse, null, [0]);
  assert.equal(weighted.isColumnReduction, true, "what a round reads is the same for all columns");
  const pairs = g.sub(g.broadcast(stored(1, 32), [32, 32]), g.broadcast(stored(32, 1), [32, 32]));
  const ofPairs = surveyFrom(g.sum(g.square(pairs), [0]), nothingElse, null, [0]);
  assert.equal(ofPairs.isColumnReduction, false, "of pairs there is no matrix");
  const across = g.mul(storedAs("f32", 32, 32), g.permute(storedAs("f32", 32, 32), [1, 0]));
  const mixed = surveyFrom(g.sum(across, [0]), nothingElse, null, [0]);
  assert.equal(mixed.isColumnReduction, false, "rounds of the loop read neighbours of each column, too");
  const windows = make(window, [x], { axes: [0], size: [3], stride: [1], dilation: [1] });
  assert.equal(surveyFrom(g.sum(windows, [2]), nothingElse, null, [0, 1]).isColumnReduction, true);
});
