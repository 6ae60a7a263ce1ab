/** The transforms of a node: axes that lie in memory as one are one, views and orders become distances. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  nearAxis,
  resultOf,
  sourceOf,
  temporaryOf,
  transformsOf,
} from "../../../../src/compiler/routines/fft/transforms.js";
import { productOf } from "../../../../src/core/shape.js";
import { type DeviceHandle, Node } from "../../../../src/graph/node.js";
import type { Params } from "../../../../src/graph/primitive.js";
import { type DftParams, dft } from "../../../../src/graph/primitives/dft.js";
import { constant } from "../../../../src/graph/primitives/leaf.js";

const device: DeviceHandle = { id: "none", realize: () => assert.fail("nothing is computed here") };

/** A transform in a program: complex numbers are pairs. */
function transformsWith(shape: readonly number[], axis: number, more: Partial<DftParams> = {}) {
  const given = more.view?.shape ?? shape;
  const params = { kind: "complex", axis, length: given[axis], sign: -1, scale: 1, isOfComplex: true, ...more };
  const x = new Node(constant, { value: 0 }, [], [...shape, 2], "f32", device);
  const result = (more.order ?? given.map((_, i) => i)).map((i) => given[i]!);
  return transformsOf(new Node(dft, params as unknown as Params, [x], [...result, 2], "f32", device), {
    largestRadix: 16,
    largestOfColumns: 32,
    longestPass: 512,
  });
}

test("axes before the transformed one are one, and so are those behind it", () => {
  const { batch, from, to, extent } = transformsWith([2, 3, 8, 5, 4], 2);
  assert.deepEqual(batch, [
    { extent: 20, from: 1, to: 1 },
    { extent: 6, from: 160, to: 160 },
  ]);
  assert.deepEqual([from, to, extent], [20, 20, 8]);
});

test("another order of the result keeps axes apart", () => {
  const found = transformsWith([3, 50, 8], 2, { order: [0, 2, 1] });
  assert.deepEqual(found.batch, [
    { extent: 50, from: 8, to: 1 },
    { extent: 3, from: 400, to: 400 },
  ]);
  assert.deepEqual(resultOf(found), { start: 0, apart: 50, axes: [1, 400] });
  assert.equal(nearAxis(found)?.extent, 50);
});

test("frames are a view: neighbours begin a hop apart", () => {
  const view = { shape: [7, 8], strides: [3, 1], offset: 2 };
  const found = transformsWith([30], 1, { view });
  assert.deepEqual(sourceOf(found), { start: 2, apart: 1, axes: [3] });
  assert.equal(nearAxis(found), null);
});

test("memory between passes has a place of its own for every number", () => {
  for (const [shape, axis] of [
    [[3, 5000, 4], 1],
    [[2, 5000], 1],
    [[5000, 6], 0],
  ] as const) {
    // biome-ignore format: a list
    const found = transformsWith(shape, axis);
    const { apart, axes } = temporaryOf(found);
    const extents = [found.plan.computed, ...found.batch.map(({ extent }) => extent)];
    const distances = [apart, ...axes];
    const order = distances.map((_, i) => i).sort((a, b) => distances[a]! - distances[b]!);
    let next = 1;
    for (const i of order) {
      assert.equal(distances[i], next);
      next *= extents[i]!;
    }
    assert.equal(next, productOf(shape));
  }
});
