/** Layers that move elements. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { arange, random, type Tensor } from "../../../src/index.js";
import { flatten, type Layer, pad, reshape, transpose } from "../../../src/nn/index.js";

const of = (...shape: number[]): Tensor =>
  arange(
    shape.reduce((a, b) => a * b, 1),
    { device: "cpu", dtype: "f32" },
  ).reshape(shape) as Tensor;
const on = (layer: Layer, x: Tensor) => layer.apply({}, x);

test("flatten and reshape leave the batch, also an empty one", () => {
  assert.deepEqual(on(flatten(), of(2, 3, 4)).shape, [2, 12]);
  assert.deepEqual(on(flatten(), of(5)).shape, [5, 1]);
  assert.deepEqual(on(flatten(), of(0, 3, 4)).shape, [0, 12]);
  assert.deepEqual(on(reshape([2, -1]), of(3, 8)).shape, [3, 2, 4]);
  assert.deepEqual(on(reshape([2, -1]), of(0, 8)).shape, [0, 2, 4]);
  assert.deepEqual(on(reshape([]), of(3, 1)).shape, [3]);
  assert.throws(() => on(reshape([3, -1]), of(1, 8)), {
    name: "ShapeError",
    message: /examples of \[8\] have 8 elements/,
  });
  assert.throws(() => reshape([-1, -1]), { message: /reshape: the shape of an example/ });
  assert.throws(() => reshape(4 as never), { message: /reshape: the shape of an example/ });
  assert.throws(() => on(flatten(), of(1).at(0)), { message: /flatten takes tensors with at least one axis/ });
});

test("transpose orders all axes", async () => {
  assert.deepEqual(await on(transpose([0, 2, 1]), of(1, 2, 2)).array(), [
    [
      [0, 2],
      [1, 3],
    ],
  ]);
  assert.throws(() => transpose("021" as never), { message: /transpose: the order is a list of axes/ });
  assert.throws(() => on(transpose([0, 1]), of(1, 2, 2)), { name: /Error/ });
});

test("pad surrounds the spatial axes, by a value or by what is there", async () => {
  assert.deepEqual(await on(pad(1, { value: 9 }), of(1, 1, 2)).array(), [[[9, 0, 1, 9]]]);
  assert.deepEqual(await on(pad([[0, 2]], { mode: "edge" }), of(1, 1, 2)).array(), [[[0, 1, 1, 1]]]);
  assert.deepEqual(await on(pad([1], { channels: "last" }), of(1, 1, 2)).array(), [
    [
      [0, 0],
      [0, 1],
      [0, 0],
    ],
  ]);
  assert.throws(() => on(pad([1, 1]), of(1, 1, 2)), { message: /pad: amounts for 2 axes/ });
  assert.throws(() => pad("same" as never), { message: /pad: amounts are a number or a list/ });
  assert.throws(() => on(pad(1, { mode: "mirror" as never }), of(1, 1, 2)), { message: /there is no mode "mirror"/ });
  assert.throws(() => pad(1).init(random.key(0, { device: "cpu" }), [2, 2]), { message: /pad takes/ });
});
