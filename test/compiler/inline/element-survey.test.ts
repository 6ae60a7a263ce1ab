/** What a survey of elements finds: what is computed how often, where it cuts, and the loops over stretches. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  anyElementOf,
  anyTermOf,
  everyElementOf,
  flatColumns,
  hasNeighbouringTerms,
  neighbourAxisOf,
  nestedColumns,
  surveyElements,
  unsupported,
  wholeOf,
} from "../../../src/compiler/inline/element-survey.js";
import { constantExpr, IndexSpace } from "../../../src/core/index-expr.js";
import type { Node } from "../../../src/graph/node.js";
import { stored as storedPrimitive } from "../../../src/graph/primitives/movement.js";
import { argsort } from "../../../src/graph/primitives/order.js";
import { g } from "../../../src/graph/vocabulary.js";
import { make, stored, storedAs } from "../../support/nodes.js";

/** Decisions where nothing is written out or shared, and memory alone is loaded. */
const plain = {
  isLoaded: ({ storage }: Node) => storage !== null,
  isWrittenOut: () => false,
  noteNested: () => {},
  isNesting: false,
  isSummedTogether: () => false,
  isSharing: false,
};

const anyOf = (node: Node) => anyElementOf(wholeOf(node), flatColumns(wholeOf(node)));

test("every element of stretches, with its index", () => {
  const x = stored(2, 3);
  const { elements, loops } = everyElementOf([{ node: x, from: 2, count: 3 }]);
  assert.deepEqual(loops, []);
  assert.deepEqual(
    elements.map(({ index }) => index.map(({ constant }) => constant)),
    [
      [0, 2],
      [1, 0],
      [1, 1],
    ],
  );
});

test("loops over a stretch: one, or one for each axis where whole rows are wanted", () => {
  const x = stored(4, 3, 2);
  const at = (columns: ReturnType<typeof flatColumns>, ...positions: number[]) =>
    columns.at(new IndexSpace(), positions.map(constantExpr)).map(({ constant }) => constant);
  const flat = flatColumns({ node: x, from: 7, count: 10 });
  assert.deepEqual(flat.extents, [10]);
  assert.deepEqual(at(flat, 4), [1, 2, 1]);
  const rows = nestedColumns({ node: x, from: 6, count: 12 });
  assert.deepEqual(rows.extents, [2, 3, 2]);
  assert.deepEqual(at(rows, 1, 2, 0), [2, 2, 0]);
  assert.deepEqual(nestedColumns({ node: x, from: 3, count: 6 }).extents, [6], "no whole rows");
  assert.deepEqual(nestedColumns(wholeOf(stored(5, 1))).extents, [5], "rows of one element");
});

test("the axis of neighbours is the last that has any", () => {
  const { outer, extent, at } = neighbourAxisOf(stored(4, 5, 1));
  assert.deepEqual([outer, extent], [[4], 5]);
  assert.deepEqual(
    at([constantExpr(3)], constantExpr(2)).map(({ constant }) => constant),
    [3, 2, 0],
  );
});

test("terms are neighbours where a sum leaves the last axis, of floats, and not too many of f32", () => {
  assert.ok(hasNeighbouringTerms(g.sum(stored(8, 6), [0])));
  assert.ok(!hasNeighbouringTerms(g.sum(stored(8, 6), [1])));
  assert.ok(hasNeighbouringTerms(g.sum(stored(8, 6, 1), [0])), "an axis of one is no axis");
  assert.ok(!hasNeighbouringTerms(g.sum(storedAs("i32", 8, 6), [0])));
  assert.ok(!hasNeighbouringTerms(g.sum(stored(2049, 6), [0])));
  assert.ok(hasNeighbouringTerms(g.sum(storedAs("f64", 2049, 6), [0])));
  assert.ok(!hasNeighbouringTerms(g.exp(stored(8, 6))));
});

test("an element that is needed twice is one value; each other index is one more", () => {
  const x = stored(6);
  const y = g.exp(x);
  const { values, times } = surveyElements(everyElementOf([wholeOf(g.add(y, y))]), plain);
  assert.deepEqual([values, times.get(y)], [12, 6]);
  const ends = g.add(g.slice(y, [0], [2]), g.slice(y, [1], [2]));
  assert.equal(surveyElements(everyElementOf([wholeOf(ends)]), plain).times.get(y), 3);
});

test("in loops an element counts as often as its index changes", () => {
  const rows = g.exp(stored(4));
  const y = g.mul(g.broadcast(g.reshape(rows, [4, 1]), [4, 5]), stored(4, 5));
  const nested = anyElementOf(wholeOf(y), nestedColumns(wholeOf(y)));
  const { times, hasLoops } = surveyElements(nested, plain);
  assert.equal(times.get(y), 20);
  assert.equal(times.get(rows), 4, "computed before the inner loop");
  assert.equal(hasLoops, false);
});

test("a reduction in each round of a loop is nested, and heard of; one for all rounds is not", () => {
  const x = stored(4, 8);
  const each = g.neg(g.sum(x, [1]));
  const noted: Node[] = [];
  const noting = { ...plain, noteNested: (node: Node) => noted.push(node) };
  assert.equal(surveyElements(anyOf(each), noting).hasLoops, true);
  assert.deepEqual(noted, [each.inputs[0]]);
  const whole = g.unreduce(g.sum(x, [0, 1]), [4, 8], [0, 1]);
  const scaled = g.mul(x, whole);
  const survey = surveyElements(anyOf(scaled), noting);
  assert.equal(survey.hasLoops, false);
  assert.equal(noted.length, 1);
});

test("a reduction that is written out has all its terms as values", () => {
  const y = g.exp(stored(3));
  const total = g.sum(y, [0]);
  const loop = surveyElements(everyElementOf([wholeOf(total)]), plain);
  const out = surveyElements(everyElementOf([wholeOf(total)]), { ...plain, isWrittenOut: () => true });
  assert.deepEqual([loop.values, out.values], [2, 4]);
  assert.deepEqual([loop.times.get(y), out.times.get(y)], [3, 3]);
});

test("reductions of the row over as many elements share a loop, and what they read in it", () => {
  const y = g.exp(stored(8));
  const both = g.add(g.sum(y, [0]), g.sum(g.mul(y, y), [0]));
  const targets = () => everyElementOf([wholeOf(both)]);
  const apart = surveyElements(targets(), plain);
  const shared = surveyElements(targets(), { ...plain, isSharing: true });
  assert.equal(apart.times.get(y), 16);
  assert.equal(shared.times.get(y), 8);
});

test("cuts: routines, what the graph asks to store, and sums made apart", () => {
  const x = stored(8);
  const order = make(argsort, [storedAs("u32", 8)], { axis: 0 });
  const sorted = g.neg(g.cast(order, "f32"));
  assert.deepEqual([...surveyElements(anyOf(sorted), plain).cuts], [order]);
  const kept = make(storedPrimitive, [g.exp(x)]);
  assert.deepEqual([...surveyElements(anyOf(g.neg(kept)), plain).cuts], [kept]);
  assert.deepEqual([...surveyElements(anyOf(kept), plain).cuts], [], "the target itself is stored anyway");
  const sums = g.sum(stored(5, 8), [0]);
  const across = { ...plain, isSummedTogether: (node: Node) => node === sums };
  assert.deepEqual([...surveyElements(anyOf(g.neg(sums)), across).cuts], [sums]);
  assert.deepEqual([...surveyElements(anyOf(g.neg(g.slice(sums, [0], [2]))), across).cuts], [], "two of eight");
});

test("edges: the rounds at which a movement begins or ends to read an input", () => {
  const joined = g.concat([g.exp(stored(3)), g.neg(stored(5))], 0);
  const { edges } = surveyElements(anyOf(joined), plain);
  assert.deepEqual(
    [...edges].filter((edge) => edge > 0 && edge < 8),
    [3],
  );
});

test("a term of each sum goes through rows, then terms, then neighbours", () => {
  const x = stored(7, 2, 3);
  const { loops, elements, isInputs } = anyTermOf(g.sum(x, [0]));
  assert.deepEqual(
    loops.map((atom) => atom.kind === "variable" && atom.extent),
    [2, 7, 3],
  );
  assert.equal(elements[0]!.node, x);
  assert.equal(isInputs, true);
  assert.throws(() => anyTermOf(g.exp(x)), /exp \[7,2,3\] cannot run inside a kernel of chains/);
  assert.match(unsupported(x).message, /buffer \[7,2,3\] cannot run/);
});
