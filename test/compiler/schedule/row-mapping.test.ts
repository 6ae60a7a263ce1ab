/** How a group is spread over a device: rows and columns by what is reduced, lanes by how long rows are. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { chooseLanes, chooseRows, tilingFor } from "../../../src/compiler/schedule/row-mapping.js";
import { surveyFrom } from "../../../src/compiler/schedule/survey.js";
import { cpuProfile, gpuProfile, type TargetProfile } from "../../../src/compiler/target/profile.js";
import type { Node } from "../../../src/graph/node.js";
import { g } from "../../../src/graph/vocabulary.js";
import { stored } from "../../support/nodes.js";

const reductionsOf = (result: Node) => surveyFrom(result, () => false, null).reductions;
const rowsOf = (result: Node, profile: TargetProfile = gpuProfile) => chooseRows(result, reductionsOf(result), profile);

/** x less the sum over one of its axes. */
const centred = (x: Node, axis: number): Node => g.sub(x, g.unreduce(g.sum(x, [axis]), x.shape, [axis]));

test("without reductions every axis is a row", () => {
  assert.deepEqual(rowsOf(g.exp(stored(4, 5))), { rowAxes: [0, 1], inlined: [] });
});

test("a reduction that each row needs is computed in it, and the axis it goes over is the column", () => {
  const result = centred(stored(512, 64), 1);
  const { rowAxes, inlined } = rowsOf(result);
  assert.deepEqual(rowAxes, [0]);
  assert.equal(inlined.length, 1);
  assert.deepEqual(rowsOf(centred(stored(64, 512), 0)).rowAxes, [1]);
});

test("with few rows it stays a kernel of its own; a reduction that is the result does not", () => {
  assert.deepEqual(rowsOf(centred(stored(gpuProfile.minRows - 1, 64), 1)), { rowAxes: [0, 1], inlined: [] });
  assert.equal(rowsOf(centred(stored(gpuProfile.minRows, 64), 1)).inlined.length, 1);
  const sum = g.sum(stored(2, 64), [1]);
  assert.deepEqual(rowsOf(sum), { rowAxes: [0], inlined: [sum] });
});

test("a result that is spread far beyond what it reduces keeps a thread for each element", () => {
  // Means of 64 channels from eight partial sums each, taken from 32×32 pixels of 256 images.
  const spread = (x: Node, partial: Node) => g.sub(x, g.unreduce(g.sum(partial, [0]), x.shape, [0, 2, 3]));
  const pixels = stored(256, 64, 32, 32);
  assert.deepEqual(rowsOf(spread(pixels, stored(8, 64))), { rowAxes: [0, 1, 2, 3], inlined: [] });
  assert.equal(rowsOf(spread(stored(4, 64, 4, 4), stored(8, 64))).inlined.length, 1, "64 elements to a row");
  assert.equal(rowsOf(spread(pixels, stored(8, 64)), cpuProfile).inlined.length, 1, "a thread takes whole rows");
  assert.equal(rowsOf(centred(stored(64, 1 << 20), 1)).inlined.length, 1, "as many as it reduces");
});

test("of two directions the one with more work is taken into the rows", () => {
  const x = stored(256, 4096);
  const result = g.add(centred(x, 1), centred(x, 0));
  const { inlined } = rowsOf(result);
  assert.equal(inlined.length, 1);
  const y = stored(4096, 256);
  const work = (node: Node) => node.inputs[0]!.shape.reduce((a, b) => a * b, 1);
  assert.equal(work(inlined[0]!), 256 * 4096);
  assert.equal(rowsOf(g.add(centred(y, 1), g.mul(centred(y, 1), centred(y, 0)))).inlined.length, 2, "both along one");
});

test("a result that many rows share is not computed again in each", () => {
  // One sum of 64 for four neighbours: each of them would add it up.
  const sums = g.sum(stored(100, 64), [1]);
  const repeated = g.exp(g.reshape(g.broadcast(g.reshape(sums, [100, 1]), [100, 4]), [400]));
  assert.deepEqual(rowsOf(repeated).inlined, []);
  const short = g.sum(stored(100, 4), [1]);
  assert.deepEqual(rowsOf(g.exp(g.reshape(g.broadcast(g.reshape(short, [100, 1]), [100, 4]), [400]))).inlined, [short]);
});

test("a workgroup shares a row that is long and lies along memory; more lanes for longer rows", () => {
  const lanes = (rows: number, length: number, axis = 1, profile: TargetProfile = gpuProfile) => {
    const result = g.sum(axis === 1 ? stored(rows, length) : stored(length, rows), [axis]);
    return chooseLanes(result, [0], reductionsOf(result), profile);
  };
  assert.equal(lanes(1 << 20, 16), 1, "too short to share");
  assert.equal(lanes(1 << 20, 4096, 0), 1, "across memory neighbours are other rows");
  assert.equal(lanes(1 << 20, 4096, 1, cpuProfile), 1);
  const widths = [64, 256, 1024, 4096, 65536].map((length) => lanes(1 << 20, length));
  assert.deepEqual(
    widths,
    [...widths].sort((a, b) => a - b),
  );
  assert.equal(widths.at(-1), gpuProfile.maxLanes);
  assert.ok(lanes(16, 1024) > lanes(1 << 20, 1024), "few rows are shared out further");
  for (const length of [64, 100, 1000, 5000]) assert.equal(Math.log2(lanes(1000, length)) % 1, 0, "powers of two");
});

test("a thread by itself unrolls more; 64-bit types have an amount of their own", () => {
  assert.deepEqual(tilingFor(32, gpuProfile, false), {
    lanes: 32,
    width: gpuProfile.width,
    unroll: gpuProfile.unroll,
    elementsPerLane: gpuProfile.elementsPerLane,
  });
  assert.deepEqual(tilingFor(1, gpuProfile, false), {
    lanes: 1,
    width: 1,
    unroll: gpuProfile.unroll * gpuProfile.width,
    elementsPerLane: gpuProfile.elementsPerLane,
  });
  assert.equal(tilingFor(1, cpuProfile, true).unroll, cpuProfile.unrollWide);
});
