/** `tree` for users: map, flatten, leaves, reduce and classes, over tensors alone. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Tensor, tensor, tree } from "../../src/index.js";
import { numbersOf } from "../support/tensors.js";

const one = (value: number) => tensor([value], { device: "cpu" });
const params = { w: one(1), layers: [{ b: one(2) }, { b: one(3) }] };
const values = (tensors: readonly Tensor[]) => tensors.map((x) => numbersOf(x)[0]);

test("map goes over trees of one structure side by side", () => {
  const sums = tree.map((x, y) => x.add(y), params, params);
  assert.deepEqual(values(tree.leaves(sums)), [4, 6, 2]);
  assert.equal(tree.map((x) => x.size, params).layers[1]!.b, 1);
  assert.throws(() => tree.map((x) => x, params, { w: one(1) } as never), /tree/);
  assert.throws(() => tree.map(3 as never, params), /tree\.map/);
});

test("leaves come by sorted key, and unflatten puts as many others in their place", () => {
  const { leaves, unflatten } = tree.flatten(params);
  assert.deepEqual(values(leaves), [2, 3, 1]);
  const turned = unflatten([...leaves].reverse());
  assert.deepEqual(values([turned.w, turned.layers[0]!.b]), [2, 1]);
  assert.throws(() => unflatten(leaves.slice(1)), /3|2/);
});

test("reduce folds in the same order", () => {
  assert.deepEqual(
    tree.reduce((list, x) => [...list, numbersOf(x)[0]!], params, [] as number[]),
    [2, 3, 1],
  );
});

test("a registered class takes part; tensors stay leaves", () => {
  class Layer {
    constructor(
      readonly w: Tensor,
      readonly name: string,
    ) {}
  }
  tree.registerClass(Layer, {
    name: "Layer",
    children: ({ w }) => ({ w }),
    data: ({ name }) => name,
    rebuild: ({ w }, name) => new Layer(w as Tensor, name),
  });
  const doubled = tree.map((x) => x.mul(2), new Layer(one(4), "first")) as Layer;
  assert.ok(doubled instanceof Layer && doubled.name === "first");
  assert.deepEqual(values([doubled.w]), [8]);
  assert.throws(
    () => tree.registerClass(Tensor, { name: "T", children: () => ({}), rebuild: () => one(1) }),
    /tensors are the leaves/,
  );
});
