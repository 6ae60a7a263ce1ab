/** Rearranged elements: which goes where, their places in memory, and shapes that do not fit. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ShapeError } from "../../../../src/core/errors.js";
import type { Node } from "../../../../src/graph/node.js";
import type { MovementPrimitive, Params } from "../../../../src/graph/primitive.js";
import * as M from "../../../../src/graph/primitives/movement/arrangement.js";
import { input } from "../../../support/node-rules.js";
import { make, stored } from "../../../support/nodes.js";
import { testCases } from "./movement-rules.js";

const x23 = input([2, 3]);
const x45 = input([4, 5]);
const mod = (a: number, n: number) => ((a % n) + n) % n;

testCases({
  reshape: {
    primitive: M.reshape,
    params: { shape: [3, 2] },
    inputs: [x23],
    shape: [3, 2],
    at: ([i, j], x) => x(Math.floor((2 * i! + j!) / 3), (2 * i! + j!) % 3),
  },
  permute: {
    primitive: M.permute,
    params: { axes: [2, 0, 1] },
    inputs: [input([2, 3, 4])],
    shape: [4, 2, 3],
    at: ([i, j, k], x) => x(j!, k!, i!),
  },
  expand: {
    primitive: M.expand,
    params: { shape: [4, 3] },
    inputs: [input([1, 3])],
    shape: [4, 3],
    at: ([, j], x) => x(0, j!),
  },
  "slice forwards": {
    primitive: M.slice,
    params: { start: [1, 0], step: [1, 2], shape: [2, 3] },
    inputs: [x45],
    shape: [2, 3],
    at: ([i, j], x) => x(1 + i!, 2 * j!),
  },
  "slice backwards": {
    primitive: M.slice,
    params: { start: [3, 4], step: [-2, -1], shape: [2, 4] },
    inputs: [x45],
    shape: [2, 4],
    at: ([i, j], x) => x(3 - 2 * i!, 4 - j!),
  },
  "pad around and between": {
    primitive: M.pad,
    params: { low: [1, 0], high: [0, 2], interior: [0, 1], value: 7 },
    inputs: [x23],
    shape: [3, 7],
    at: ([i, j], x) => (i! >= 1 && j! < 5 && j! % 2 === 0 ? x(i! - 1, j! / 2) : 7),
  },
  "pad that cuts off": {
    primitive: M.pad,
    params: { low: [-1, 1], high: [0, -2], interior: [0, 0], value: 0 },
    inputs: [x45],
    shape: [3, 4],
    at: ([i, j], x) => (j === 0 ? 0 : x(i! + 1, j! - 1)),
  },
  concat: {
    primitive: M.concat,
    params: { axis: 1 },
    inputs: [x23, input([2, 2])],
    shape: [2, 5],
    at: ([i, j], x, y) => (j! < 3 ? x(i!, j!) : y(i!, j! - 3)),
  },
  window: {
    primitive: M.window,
    params: { axes: [1], size: [2], stride: [1], dilation: [2] },
    inputs: [x45],
    shape: [4, 3, 2],
    at: ([i, o, k], x) => x(i!, o! + 2 * k!),
  },
  "window with a stride": {
    primitive: M.window,
    params: { axes: [0, 1], size: [2, 3], stride: [2, 1], dilation: [1, 1] },
    inputs: [x45],
    shape: [2, 3, 2, 3],
    at: ([i, j, k, l], x) => x(2 * i! + k!, j! + l!),
  },
  wrap: {
    primitive: M.wrap,
    params: { start: [-3, 4], shape: [5, 7] },
    inputs: [x23],
    shape: [5, 7],
    at: ([i, j], x) => x(mod(i! - 3, 2), mod(j! + 4, 3)),
  },
});

test("what lies side by side in memory, and from where on", () => {
  const x = stored(4, 5);
  const slice = (start: number[], step: number[], shape: number[]) =>
    M.slice.beginsAt?.(make(M.slice, [x], { start, step, shape }));
  assert.equal(slice([1, 0], [1, 1], [2, 5]), 5);
  assert.equal(slice([2, 1], [1, 1], [1, 3]), 11);
  assert.equal(slice([2, 1], [7, 1], [1, 3]), 11, "a step over one element does not matter");
  assert.equal(slice([0, 1], [1, 1], [2, 4]), null);
  assert.equal(slice([1, 0], [2, 1], [2, 5]), null);
  assert.equal(slice([3, 0], [-1, 1], [2, 5]), null);
  assert.equal(slice([9, 0], [1, 1], [0, 5]), 0, "an empty one begins anywhere");
  assert.equal(M.reshape.beginsAt?.(make(M.reshape, [x], { shape: [20] })), 0);
});

test("shapes that do not fit are refused, and say by how much", () => {
  const x = stored(4, 5);
  const refused: readonly [MovementPrimitive, readonly Node[], Params, RegExp][] = [
    [M.reshape, [x], { shape: [3, 7] }, /20 elements of \[4,5\] do not fill \[3,7\]/],
    [M.expand, [x], { shape: [8, 5] }, /does not repeat/],
    [M.slice, [x], { start: [0, 3], step: [1, 1], shape: [4, 3] }, /elements 3 to 5 of axis 1, which has 5/],
    [M.slice, [x], { start: [1, 0], step: [-1, 1], shape: [3, 5] }, /elements 1 to -1 of axis 0/],
    [M.pad, [x], { low: [-3, 0], high: [-2, 0], interior: [0, 0], value: 0 }, /would have the shape \[-1,5\]/],
    [M.concat, [x, stored(4, 6)], { axis: 0 }, /differ off axis 0/],
    [M.wrap, [stored(0)], { start: [0], shape: [3] }, /nothing to fill/],
  ];
  for (const [primitive, inputs, params, message] of refused) {
    assert.throws(
      () => make(primitive, inputs, params),
      (error: Error) => error instanceof ShapeError && message.test(error.message),
      primitive.name,
    );
  }
});

test("a window longer than its axis fits nowhere", () => {
  const { shape } = make(M.window, [stored(4)], { axes: [0], size: [3], stride: [1], dilation: [2] });
  assert.deepEqual(shape, [0, 3]);
});
