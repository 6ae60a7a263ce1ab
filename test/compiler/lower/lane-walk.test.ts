/** The ways over a row: every element is taken once, by one lane. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { placesOf, planWalk } from "../../../src/compiler/lower/lane-walk.js";
import type { RowTiling } from "../../../src/compiler/schedule/group.js";
import { evaluate, type IndexExpr, IndexSpace } from "../../../src/core/index-expr.js";

/** The elements in the order lanes take them: lane by lane. */
function taken(extent: number, tiling: RowTiling): number[][] {
  const space = new IndexSpace();
  const lane = space.variable("lane", tiling.lanes);
  const walk = planWalk(space, lane, extent, tiling);
  return Array.from({ length: tiling.lanes }, (_, l) => {
    const at = (index: IndexExpr, counts: Readonly<Record<string, number>> = {}) =>
      evaluate(index, (atom) => (atom.kind === "variable" ? ({ ...counts, lane: l }[atom.name] ?? 0) : 0));
    const found: number[] = [];
    for (const { blocks, rounds, inRound } of walk.loops) {
      for (let block = 0; block < blocks; block++) {
        for (let round = 0; round < rounds; round++) {
          found.push(...placesOf(inRound).map((index) => at(index, { block, round })));
        }
      }
    }
    found.push(...placesOf(walk.after).map((index) => at(index)));
    const last = placesOf(walk.bounded).map((index) => at(index));
    if (last.length > 0 && last[0]! < extent) found.push(...last);
    return found;
  });
}

test("every element is taken once, whatever the extent", () => {
  for (const lanes of [1, 4, 32]) {
    for (const width of [1, 4]) {
      for (const unroll of [1, 4]) {
        for (const elementsPerLane of [0, 16]) {
          for (const extent of [0, 1, 3, 4, 8, 31, 127, 128, 132, 512, 513, 2052, 5000, 140001]) {
            const all = taken(extent, { lanes, width, unroll, elementsPerLane }).flat();
            const what = `${extent} by ${lanes} lanes of ${width}, ${unroll} steps, ${elementsPerLane} in registers`;
            assert.deepEqual(
              [...all].sort((a, b) => a - b),
              Array.from({ length: extent }, (_, i) => i),
              what,
            );
          }
        }
      }
    }
  }
});

test("lanes take neighbours, and each of them a vector", () => {
  const [first, second] = taken(4096, { lanes: 256, width: 4, unroll: 1, elementsPerLane: 16 });
  assert.deepEqual(first?.slice(0, 5), [0, 1, 2, 3, 1024]);
  assert.deepEqual(second?.slice(0, 5), [4, 5, 6, 7, 1028]);
});

test("what a lane can hold needs no loop", () => {
  const space = new IndexSpace();
  const lane = space.variable("lane", 256);
  const tiling = { lanes: 256, width: 4, unroll: 4, elementsPerLane: 16 };
  assert.equal(planWalk(space, lane, 4096, tiling).loops.length, 0);
  assert.equal(planWalk(space, lane, 8192, tiling).loops[0]?.rounds, 2);
});
