/** The shape of a histogram's work, from the node that asks for it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  gradientInputs,
  type inputs,
  leftOver,
  parentInputs,
  shapeOf,
} from "../../../../src/compiler/routines/trees/histogram-shape.js";
import type { DType } from "../../../../src/core/dtype.js";
import { Node } from "../../../../src/graph/node.js";
import { buffer } from "../../../../src/graph/primitives/leaf.js";
import { nodeHistogram, standingOf } from "../../../../src/graph/primitives/trees.js";
import { nowhere } from "../../../support/nodes.js";

const leaf = (shape: readonly number[], dtype: DType) => new Node(buffer, { shape, dtype }, [], shape, dtype, nowhere);

/** Rows that may stand at 9 nodes, of which the first 7 may have one of 3 slots. */
function asked(rows: number, hasHessians: boolean, hasParents: boolean) {
  const params = { slots: 3, dtype: "f64", hasHessians, hasParents, isPrecise: true };
  const given = [
    leaf([2, rows], "u32"),
    leaf([standingOf(rows, 9).size], "i32"),
    leaf([7], "i32"),
    leaf([2], "f32"),
    leaf([rows], "f32"),
  ];
  return shapeOf(new Node(nodeHistogram, params, given, [3, 8, hasHessians ? 3 : 2, 256], "f64", nowhere));
}

test("features, channels, and the nodes that rows stand at, however many chunks their list has", () => {
  for (const rows of [1, 700, 100_000, 3_000_001]) {
    const shape = asked(rows, true, false);
    assert.deepEqual([shape.words, shape.features, shape.channels, shape.slots], [2, 8, 3, 3]);
    assert.deepEqual([shape.rows, shape.nodes, shape.standingNodes], [rows, 7, 9]);
    assert.ok(shape.chunks * shape.length >= rows && (shape.chunks - 1) * shape.length < rows);
  }
});

test("hessians and parents are inputs behind the gradients where there are any", () => {
  const places = (which: ReturnType<typeof inputs>) => which.map(({ index }) => index);
  const [plain, both] = [asked(10, false, false), asked(10, true, true)];
  assert.deepEqual([places(gradientInputs(plain)), places(parentInputs(plain)), leftOver(plain)], [[4], [], ""]);
  assert.deepEqual(
    [places(gradientInputs(both)), places(parentInputs(both))],
    [
      [4, 5],
      [6, 7],
    ],
  );
  assert.deepEqual(places(parentInputs(asked(10, false, true))), [5, 6]);
  assert.match(leftOver(both), /parents/);
});
