/** Which memory an element takes, and how far apart neighbours lie there. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { areVectors, loadStrides, loadsOf, splitAxes } from "../../../src/compiler/schedule/loads.js";
import { IndexSpace } from "../../../src/core/index-expr.js";
import type { Node } from "../../../src/graph/node.js";
import { take, window } from "../../../src/graph/primitives/movement.js";
import { g } from "../../../src/graph/vocabulary.js";
import { windowNode } from "../../../src/graph/windows.js";
import { make, stored, storedAs } from "../../support/nodes.js";

const isStored = ({ storage }: Node): boolean => storage !== null;

const found = (node: Node, isLoaded = isStored) => {
  const space = new IndexSpace();
  return loadsOf(
    space,
    node,
    node.shape.map((extent, axis) => space.variable(`i${axis}`, extent)),
    isLoaded,
  );
};

test("each place is found once, whatever leads to it", () => {
  const x = stored(5, 4);
  const twice = g.add(g.exp(x), g.mul(x, x));
  assert.deepEqual(
    found(twice).map(({ node }) => node),
    [x],
  );
  assert.equal(found(g.add(x, g.flip(x, [0]))).length, 2, "two places of one tensor are two loads");
  const computed = g.exp(x);
  assert.deepEqual(
    found(g.neg(computed), (node) => node === computed).map(({ node }) => node),
    [computed],
  );
});

test("what is read only where bounds hold is gated, and so is all behind it", () => {
  const [x, y] = [stored(4), stored(4)];
  const padded = g.pad(g.add(x, g.neg(y)), [1], [0]);
  assert.deepEqual(
    found(padded).map(({ isGated }) => isGated),
    [true, true],
  );
  assert.deepEqual(
    found(g.slice(padded, [1], [4])).map(({ isGated }) => isGated),
    [false, false],
    "bounds that always hold",
  );
});

test("positions are loads as well; reductions have none of their own", () => {
  const [x, positions] = [stored(6, 3), storedAs("i32", 4)];
  assert.deepEqual(
    found(make(take, [x, positions], { axis: 0 })).map(({ node }) => node),
    [positions, x],
  );
  assert.deepEqual(found(g.sum(x, [0])), []);
});

test("strides are those of memory, through any movement", () => {
  const x = stored(4, 5, 6);
  assert.deepEqual(loadStrides(g.exp(x), isStored), [[30, 6, 1]]);
  assert.deepEqual(loadStrides(g.permute(x, [2, 0, 1]), isStored), [[1, 30, 6]]);
  assert.deepEqual(loadStrides(g.flip(x, [2]), isStored), [[30, 6, -1]]);
  assert.deepEqual(loadStrides(g.broadcast(g.slice(x, [0, 0, 0], [1, 1, 6]), [4, 5, 6]), isStored), [[0, 0, 1]]);
  assert.deepEqual(loadStrides(g.slice(x, [0, 0, 0], [4, 5, 3], [1, 1, 2]), isStored), [[30, 6, 2]]);
});

test("where a reshape jumps now and then, the stride is the usual one", () => {
  const x = stored(64, 30);
  const [strides] = loadStrides(g.reshape(g.slice(x, [0, 0], [64, 29]), [29, 64]), isStored);
  assert.equal(strides![1], 1);
});

test("axes that are split where they are loaded are those that divide", () => {
  const x = stored(6, 8);
  assert.deepEqual(splitAxes(g.exp(x), isStored), [false, false]);
  assert.deepEqual(splitAxes(g.reshape(x, [48]), isStored), [false], "row-major order is one stretch of memory");
  assert.deepEqual(splitAxes(g.reshape(g.permute(x, [1, 0]), [48]), isStored), [true]);
  const windows = make(window, [x], { axes: [1], size: [3], stride: [2], dilation: [1] });
  const [rows, counts, places] = windows.shape as [number, number, number];
  assert.deepEqual(splitAxes(g.reshape(windows, [rows, counts * places]), isStored), [false, true]);
});

test("vectors: neighbours from a multiple of the width on are neighbours in memory from such a multiple on", () => {
  const vectors = (node: Node, axis: number, width = 4) => areVectors(node, isStored, axis, width);
  const plain = stored(8, 12);
  assert.ok(vectors(plain, 1));
  assert.ok(!vectors(plain, 0), "a column");
  assert.ok(!vectors(stored(8, 10), 1), "rows that do not begin at multiples");
  assert.ok(vectors(g.permute(plain, [1, 0]), 0));
  assert.ok(vectors(g.reshape(stored(2, 8, 12), [16, 12]), 1));
  assert.ok(vectors(g.reshape(stored(4, 24), [8, 12]), 1), "an axis that is split at multiples");
  assert.ok(!vectors(g.slice(stored(8, 16), [0, 1], [8, 12]), 1), "a slice from 1 on");
  assert.ok(vectors(g.slice(stored(8, 16), [0, 4], [8, 12]), 1));
  assert.ok(vectors(g.broadcast(stored(8, 1), [8, 12]), 1), "one element for all");
  const windows = windowNode(
    stored(1, 1, 12),
    { axes: [2], size: [3], stride: [1], dilation: [1], padding: [[1, 1]] },
    0,
  );
  assert.ok(!vectors(windows, 2), "places of a window lie one apart");
  const places = g.reshape(g.permute(stored(3, 5, 8, 4), [1, 0, 2, 3]), [5, 96]);
  assert.ok(vectors(places, 1), "an axis that is split twice, each time at multiples");
  assert.ok(!vectors(g.reshape(g.permute(stored(3, 5, 8, 6), [1, 0, 2, 3]), [5, 144]), 1), "rows of 6");
});
