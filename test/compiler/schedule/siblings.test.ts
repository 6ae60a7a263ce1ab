/** Which groups become one kernel, and which must not. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  joinSiblings,
  type Member,
  type Sibling,
  type SiblingLimits,
} from "../../../src/compiler/schedule/siblings.js";
import { statementsOf } from "../../../src/compiler/schedule/statement-counts.js";
import { surveyFrom } from "../../../src/compiler/schedule/survey.js";
import { bytesOf } from "../../../src/core/bytes.js";
import type { Node } from "../../../src/graph/node.js";
import { lgamma } from "../../../src/graph/primitives/elementwise.js";
import { argsort } from "../../../src/graph/primitives/order.js";
import { g } from "../../../src/graph/vocabulary.js";
import { make, stored, storedAs } from "../../support/nodes.js";

const LIMITS: SiblingLimits = {
  maxNodes: 100,
  maxStatements: 1000,
  maxBuffers: 10,
  loadCost: 24,
  isConcurrent: false,
  columnReduction: null,
};

/** The group of a result that runs over some of its axes; `made` are results of others. */
function groupOf(
  result: Node,
  made: readonly Node[] = [],
  rowAxes = result.shape.map((_, axis) => axis),
  lanes = 1,
): Member {
  const survey = surveyFrom(result, (node) => made.includes(node), null, rowAxes);
  const sibling: Sibling = {
    ...survey,
    group: {
      results: [{ node: result, rowAxes }],
      tiling: { lanes, width: 1, unroll: 1, elementsPerLane: 1 },
      rowsPerThread: 1,
      isLoaded: () => false,
    },
    nodes: new Set(survey.nodes.keys()),
    statements: [...survey.nodes.keys()].reduce((sum, each) => sum + statementsOf(each), 0),
    bytesMoved: [...survey.loads.keys(), result].reduce((sum, each) => sum + bytesOf(each), 0),
    costOf: () => 0,
    rowsTogether: 1,
    isPlain: survey.reductions.length === 0,
  };
  return { kind: "group", sibling };
}

const joined = (members: readonly Member[], limits: Partial<SiblingLimits> = {}): number[] =>
  joinSiblings(members, { ...LIMITS, ...limits }).map(({ members: all }) => all.length);

const LARGE = 1 << 16;

test("groups over the same rows that load the same memory at the same places are one", () => {
  const x = stored(LARGE);
  assert.deepEqual(joined([groupOf(g.exp(x)), groupOf(g.neg(x))]), [2]);
  assert.deepEqual(joined([groupOf(g.exp(x)), groupOf(g.neg(stored(LARGE)))]), [1, 1], "nothing in common");
  assert.deepEqual(joined([groupOf(g.exp(x)), groupOf(g.neg(g.flip(x, [0])))]), [1, 1], "other places");
  assert.deepEqual(joined([groupOf(g.exp(x)), groupOf(g.neg(g.slice(x, [0], [LARGE - 1])))]), [1, 1], "other rows");
});

test("a group joins one that shares its memory, however many others lie between", () => {
  const x = stored(LARGE);
  const others = Array.from({ length: 40 }, () => groupOf(g.exp(stored(LARGE))));
  const sizes = joined([groupOf(g.exp(x)), ...others, groupOf(g.neg(x))]);
  assert.equal(sizes.length, 41);
  assert.deepEqual(
    sizes.filter((size) => size > 1),
    [2],
  );
});

test("sharing a small part of what is moved is not enough, sharing costly work is", () => {
  const x = stored(LARGE);
  const wide = [1, 2, 3, 4, 5, 6, 7, 8].map(() => stored(LARGE)).reduce((a, b) => g.add(a, b));
  const [little, much] = [groupOf(g.exp(x)), groupOf(g.add(wide, x))];
  assert.deepEqual(joined([little, much], { maxBuffers: 20 }), [1, 1]);
  const costly = (member: Member): Member =>
    member.kind === "group" ? { ...member, sibling: { ...member.sibling, costOf: () => 100 } } : member;
  const shared = g.exp(x);
  const [one, other] = [groupOf(g.neg(shared)), groupOf(g.add(g.add(wide, wide), shared))];
  assert.deepEqual(joined([one, other].map(costly), { maxBuffers: 20 }), [2]);
});

test("columns that are reduced side by side are not joined by a long computation on their totals", () => {
  const total = g.sum(stored(10, 32), [0]);
  const [short, long] = [g.neg(total), make(lgamma, [g.sin(total)])];
  const columnReduction = { lanes: 4, turns: 8, maxStatements: 100 };
  const joinedWith = (next: Node, limits: Partial<SiblingLimits>) =>
    joined([groupOf(total), groupOf(next, [total])], limits);
  assert.deepEqual(joinedWith(short, { columnReduction }), [2]);
  assert.deepEqual(joinedWith(long, { columnReduction }), [1, 1]);
  assert.deepEqual(joinedWith(long, { columnReduction: null }), [2]);
});

test("small groups are one, whatever they load; not where they could run at the same time as others", () => {
  const members = [groupOf(g.exp(stored(10))), groupOf(g.neg(stored(10)))];
  assert.deepEqual(joined(members), [2]);
  const keys = storedAs("u32", 10);
  const sorted = make(argsort, [keys]);
  const routine: Member = { kind: "routine", node: sorted, loads: [keys] };
  const afterRoutine = () => [groupOf(g.exp(stored(10))), routine, groupOf(g.add(sorted, 1), [sorted])];
  assert.deepEqual(joined(afterRoutine()), [1, 2]);
  assert.deepEqual(joined(afterRoutine(), { isConcurrent: true }), [1, 1, 1]);
});

test("a group joins one that it reads from, where it reads each element at the place where it is made", () => {
  const x = stored(LARGE);
  const made = g.exp(x);
  assert.deepEqual(joined([groupOf(made), groupOf(g.neg(made), [made])]), [2]);
  assert.deepEqual(
    joined([groupOf(made), groupOf(g.neg(g.flip(made, [0])), [made])]),
    [1, 1],
    "it needs another row's",
  );
  const both = g.add(made, g.flip(made, [0]));
  assert.deepEqual(joined([groupOf(made), groupOf(both, [made])]), [1, 1]);
});

test("a group does not join across something that stands between the two", () => {
  const x = stored(LARGE);
  const first = g.exp(x);
  const flipped = g.flip(first, [0]);
  const between = g.neg(flipped);
  const last = g.add(x, between);
  const order = joinSiblings([groupOf(first), groupOf(between, [first]), groupOf(last, [between])], LIMITS);
  const places = order.map(({ members }) => members.length);
  assert.deepEqual(places, [1, 2], "it may join what it reads at its own place, never what comes before that");
  const routine: Member = { kind: "routine", node: make(argsort, [g.cast(first, "u32")]), loads: [first] };
  const sorted = (routine as Extract<Member, { kind: "routine" }>).node;
  const after = g.add(g.cast(sorted, "f32"), x);
  assert.deepEqual(joined([groupOf(first), routine, groupOf(after, [sorted])]), [1, 1, 1]);
});

test("families come in an order in which each is preceded by what it needs", () => {
  const [x, y] = [stored(LARGE), stored(LARGE)];
  const first = g.exp(x);
  const apart = g.flip(g.neg(y), [0]);
  const other = g.square(g.flip(apart, [0]));
  // The third joins the first, which then needs the second.
  const third = g.add(g.add(x, x), g.flip(other, [0]));
  const families = joinSiblings([groupOf(first), groupOf(other), groupOf(third, [other])], LIMITS);
  families.forEach(({ needs }, i) => {
    for (const needed of needs) assert.ok(families.indexOf(needed) < i);
  });
  assert.deepEqual(
    families.map(({ members }) => members.length),
    [1, 2],
  );
});

test("limits on nodes, statements and buffers are kept", () => {
  const x = stored(LARGE);
  const members = () => [groupOf(g.exp(x)), groupOf(g.neg(g.neg(x)))];
  assert.deepEqual(joined(members()), [2]);
  assert.deepEqual(joined(members(), { maxNodes: 2 }), [1, 1]);
  assert.deepEqual(joined(members(), { maxStatements: 10 }), [1, 1]);
  assert.deepEqual(joined(members(), { maxBuffers: 2 }), [1, 1]);
  assert.deepEqual(joined(members(), { maxBuffers: 3 }), [2]);
});

test("groups with other lanes stay apart, unless one has nothing to share and reads what the other makes", () => {
  const x = stored(512, 1024);
  const sums = g.sum(x, [1]);
  const [reduced, more] = [groupOf(sums, [], [0], 32), groupOf(g.sum(g.square(x), [1]), [], [0], 64)];
  assert.deepEqual(joined([reduced, more]), [1, 1]);
  assert.deepEqual(joined([reduced, groupOf(g.exp(sums), [sums], [0], 1)]), [2]);
});
