/** Which results are transposed copies, and along which axes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { transposedAxes } from "../../../src/compiler/schedule/transposed-axes.js";
import { cpuProfile, gpuProfile } from "../../../src/compiler/target/profile.js";
import type { Node } from "../../../src/graph/node.js";
import { g } from "../../../src/graph/vocabulary.js";
import { stored } from "../../support/nodes.js";

const TILES = { ...gpuProfile.tiles, maxLanes: 256 };
const isStored = ({ storage }: Node) => storage !== null;
const axesOf = (node: Node, tiles = TILES) => {
  const found = transposedAxes(node, isStored, tiles);
  return found && [found.from, found.to];
};

test("a result whose neighbours are far apart in memory, and whose source is contiguous along another long axis", () => {
  const x = stored(200, 300);
  assert.deepEqual(axesOf(g.exp(g.permute(x, [1, 0]))), [0, 1]);
  assert.equal(axesOf(g.exp(x)), null);
  assert.deepEqual(axesOf(g.permute(stored(20, 30, 40), [2, 1, 0])), [0, 2]);
  assert.deepEqual(axesOf(g.permute(stored(20, 30, 40), [0, 2, 1])), [1, 2]);
  assert.equal(axesOf(g.permute(stored(40, 30, 20), [1, 0, 2])), null, "the last axis stays the last");
});

test("small results and short axes are not worth it", () => {
  assert.equal(axesOf(g.permute(stored(100, 100), [1, 0])), null);
  assert.ok(axesOf(g.permute(stored(128, 128), [1, 0])));
  assert.equal(axesOf(g.permute(stored(2000, 15), [1, 0])), null, "contiguous along too few");
  assert.equal(axesOf(g.permute(stored(15, 2000), [1, 0])), null, "too few neighbours");
});

test("another shape of a transposed copy is found behind it", () => {
  const turned = g.permute(stored(200, 300), [1, 0]);
  const found = transposedAxes(g.reshape(turned, [60000]), isStored, TILES);
  assert.equal(found?.node, turned);
});

test("squares go through shared memory where a workgroup has lanes for one, through the cache of a CPU, and not on software drivers", () => {
  const turned = g.permute(stored(200, 300), [1, 0]);
  assert.equal(transposedAxes(turned, isStored, TILES)?.sharedBytes, TILES.sharedBytes);
  assert.equal(axesOf(turned, { ...TILES, maxLanes: 128 }), null);
  assert.equal(axesOf(turned, { ...TILES, kind: "registers" }), null);
  assert.equal(transposedAxes(turned, isStored, cpuProfile.tiles)?.sharedBytes, null);
});
