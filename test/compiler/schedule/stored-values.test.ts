/** Which values are better stored than computed where they are used. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { endOfEpilogue, graphOrder } from "../../../src/compiler/schedule/product-fusion.js";
import type { Cluster, Member } from "../../../src/compiler/schedule/siblings.js";
import {
  costlyAgain,
  costlyBroadcasts,
  costsWithin,
  frontier,
  LOAD_COST,
  REDUCTION_COST,
  reducedAgain,
  sharedAndCostly,
  termsOf,
} from "../../../src/compiler/schedule/stored-values.js";
import { surveyFrom } from "../../../src/compiler/schedule/survey.js";
import { gpuProfile } from "../../../src/compiler/target/profile.js";
import { type Node, pendingInOrder } from "../../../src/graph/node.js";
import { g } from "../../../src/graph/vocabulary.js";
import { stored } from "../../support/nodes.js";

const surveyOf = (result: Node) => surveyFrom(result, () => false, gpuProfile);

test("an element costs what its operations do, as far as the group computes them; a reduction as much as is said", () => {
  const x = stored(8, 8);
  const y = g.exp(g.exp(x));
  const { nodes } = surveyOf(g.neg(y));
  assert.equal(costsWithin(nodes, 0)(y), 40);
  assert.equal(costsWithin(nodes, 0)(x), 0, "what is loaded costs nothing here");
  assert.equal(costsWithin(new Set([y]) as unknown as ReadonlyMap<Node, unknown>, 0)(y), 20);
  const mean = g.sum(x, [1]);
  const all = surveyOf(g.exp(mean)).nodes;
  assert.equal(costsWithin(all, REDUCTION_COST)(mean), REDUCTION_COST);
  assert.equal(costsWithin(all, 0)(mean), 0);
});

test("what one group computes at several places at a high cost is stored, the last of a chain and one at a time", () => {
  const x = stored(100);
  const spread = (y: Node, count: number) =>
    Array.from({ length: count }, (_, i) => g.slice(y, [i], [90])).reduce((a, b) => g.add(a, b));
  const dear = g.exp(g.exp(x));
  assert.deepEqual(costlyAgain(surveyOf(spread(dear, 4)), stored(1)), [dear]);
  assert.deepEqual(costlyAgain(surveyOf(spread(g.neg(x), 4)), stored(1)), [], "cheap to compute again");
  assert.deepEqual(costlyAgain(surveyOf(spread(dear, 1)), stored(1)), [], "computed once");
  const result = g.exp(x);
  assert.deepEqual(costlyAgain(surveyOf(result), result), []);
});

test("a long reduction that elements need at several places is stored; a short one, a small one, one at one place are not", () => {
  const both = (side: number, terms: number) => {
    const sum = g.sum(stored(terms, side, side), [0]);
    return [sum, g.add(g.lowerPart(sum, 0), g.adjoint(g.lowerPart(sum, 1)))] as const;
  };
  const found = ([, result]: readonly [Node, Node]) => reducedAgain(surveyOf(result), result);
  const long = both(256, 125);
  assert.deepEqual(found(long), [long[0]]);
  assert.deepEqual(found(both(2048, 8)), []);
  assert.deepEqual(found(both(32, 125)), []);
  const once = g.sum(stored(125, 256, 256), [0]);
  assert.deepEqual(found([once, g.exp(once)]), []);
});

test("a costly value that many elements share is stored, the last of a chain; not where it is cheap, or they are few", () => {
  const beside = (count: number, of: (channel: Node) => Node) => {
    const pixels = stored(count, 64, 32, 32);
    const channel = of(stored(64));
    const result = g.mul(pixels, g.unreduce(channel, pixels.shape, [0, 2, 3]));
    return { channel, found: costlyBroadcasts(surveyOf(result), result) };
  };
  const root = beside(256, (x) => g.exp(g.sqrt(x)));
  assert.deepEqual(root.found, [root.channel]);
  assert.deepEqual(beside(256, (x) => g.add(x, 1)).found, []);
  assert.deepEqual(beside(1, (x) => g.exp(x)).found, [], "64 K elements take less than another kernel");
  const row = stored(4096, 4096);
  const sums = g.exp(g.sum(row, [1]));
  const ofRows = g.mul(row, g.unreduce(sums, row.shape, [1]));
  assert.deepEqual(costlyBroadcasts(surveyOf(ofRows), ofRows), [], "a row computes it once");
});

/** Groups that compute some nodes each. */
const clusters = (...groups: readonly (readonly Node[])[]): Cluster[] =>
  groups.map((nodes) => {
    const group = { results: [{ node: nodes[0]!, rowAxes: [] }] };
    const member = { kind: "group", sibling: { group, nodes: new Set(nodes) } } as unknown as Member;
    return { members: [member], needs: new Set(), dependsOn: () => false };
  });

test("what follows from results of other kernels costs only itself", () => {
  const x = stored(8, 64);
  const mean = g.sum(x, [1]);
  const centred = g.sub(x, g.unreduce(mean, x.shape, [1]));
  const [a, b] = [g.square(centred), g.neg(centred)];
  const way = pendingInOrder([centred]).filter(({ storage }) => storage === null);
  assert.deepEqual(sharedAndCostly(clusters([mean], [a, ...way], [b, ...way])), []);
});

test("what several kernels would compute at a cost is stored; results are anyway", () => {
  const x = stored(10);
  const dear = g.exp(g.exp(g.exp(x)));
  const [inner] = dear.inputs as [Node];
  const [first] = inner.inputs as [Node];
  const [a, b] = [g.neg(dear), g.square(dear)];
  assert.deepEqual(
    sharedAndCostly(clusters([a, dear, inner, first], [b, dear, inner, first])),
    [dear],
    "the last of the chain is enough",
  );
  assert.deepEqual(sharedAndCostly(clusters([a, dear, inner, first], [b])), []);
  assert.deepEqual(
    sharedAndCostly(clusters([a, dear, inner, first], [b, dear, inner, first], [dear])),
    [inner],
    "a result is in memory",
  );
  const cheap = g.neg(x);
  assert.ok(1 < LOAD_COST);
  assert.deepEqual(sharedAndCostly(clusters([a, cheap], [b, cheap])), []);
});

test("terms of a sum that are made of other sums, one each, are stored as they are added up", () => {
  const x = stored(64, 100);
  const rows = g.sum(x, [1]);
  const losses = g.exp(rows);
  const total = g.sum(losses, [0]);
  const endIn = (root: Node) => (node: Node) => endOfEpilogue(node, graphOrder(pendingInOrder([root])), () => false);
  assert.deepEqual(termsOf(surveyOf(total), endIn(total)), [losses]);
  // Terms that take the sums and what another reduction makes of them are not made of one each.
  const shares = g.div(rows, g.unreduce(g.sum(rows, [0]), rows.shape, [0]));
  const normalised = g.sum(shares, [0]);
  assert.deepEqual(termsOf(surveyOf(normalised), endIn(normalised)), []);
});

test("what makes a kernel too long is cut where few values lead to the rest", () => {
  const x = stored(16);
  const branches = (y: Node) => g.add(g.exp(g.mul(y, 2)), g.add(g.exp(g.mul(y, 3)), g.exp(g.mul(y, 4))));
  const narrow = g.exp(g.exp(x));
  const result = branches(narrow);
  const survey = surveyOf(result);
  const limit = { ...gpuProfile, maxStatements: Math.floor(survey.statements * 0.45) };
  const multiples = [...survey.nodes.keys()].filter(({ inputs }) => inputs[0] === narrow);
  assert.equal(multiples.length, 3);
  assert.deepEqual(new Set(frontier(survey, limit)), new Set(multiples), "as much as one kernel can compute");
  assert.deepEqual(frontier(survey, { ...limit, maxBuffers: 2 }), [narrow], "as little as one kernel can store");
  assert.deepEqual(frontier(survey, { ...gpuProfile, maxStatements: 1 }), [], "no part of it is that short");
});
