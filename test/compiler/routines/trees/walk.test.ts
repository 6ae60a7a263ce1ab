/** Ways through trees: samples to leaves. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Tensor, tensor, vmap } from "../../../../src/index.js";
import { leavesOfTrees } from "../../../../src/tensor/index.js";
import { describeOnTensorDevices, numbersOf } from "../../../support/tensors.js";

describeOnTensorDevices("ways through trees", () => {
  /** Two trees: by feature 1 at 0.5 and then feature 0 at 2, missing to the right; and a leaf alone. */
  const trees = () => {
    const i32 = (values: number[][]) => tensor(values, { dtype: "i32" }) as Tensor;
    return {
      feature: i32([
        [1, 0, 0, 0, 0],
        [0, 0, 0, 0, 0],
      ]),
      threshold: tensor([
        [0.5, 2, 0, 0, 0],
        [0, 0, 0, 0, 0],
      ]) as Tensor,
      left: i32([
        [1, 3, -1, -1, -1],
        [-1, -1, -1, -1, -1],
      ]),
      right: i32([
        [2, 4, -1, -1, -1],
        [-1, -1, -1, -1, -1],
      ]),
      missingLeft: i32([
        [0, 1, 0, 0, 0],
        [0, 0, 0, 0, 0],
      ]),
      categories: null,
    };
  };
  const x = () =>
    tensor([
      [2, 0.5],
      [3, 0],
      [0, 1],
      [Number.NaN, 0],
      [0, Number.NaN],
    ]) as Tensor;
  const leaves = [3, 0, 4, 0, 2, 0, 3, 0, 2, 0];

  test("samples end in the leaf of every tree; equal to the threshold is left", () => {
    const found = leavesOfTrees(x(), trees(), 2);
    assert.deepEqual([found.shape, numbersOf(found)], [[5, 2], leaves]);
  });

  test("vmap maps over samples, over trees, and over both", () => {
    const { categories: _, ...nodes } = trees();
    const walk = (samples: Tensor, forest: typeof nodes) => leavesOfTrees(samples, { ...forest, categories: null }, 2);
    const two = x().expandDims(0).broadcastTo([2, 5, 2]);
    const forests = Object.fromEntries(
      Object.entries(nodes).map(([name, t]) => [name, t.expandDims(0).broadcastTo([2, ...t.shape])]),
    ) as typeof nodes;
    const twice = [...leaves, ...leaves];
    assert.deepEqual(numbersOf(vmap((samples: Tensor) => walk(samples, nodes))(two)), twice);
    assert.deepEqual(numbersOf(vmap((forest: typeof nodes) => walk(x(), forest))(forests)), twice);
    assert.deepEqual(numbersOf(vmap(walk)(two, forests)), twice);
  });

  test("a set of categories decides in place of a threshold", () => {
    const forest = trees();
    const sets = new Uint32Array(2 * 5 * 8);
    sets[1] = 1 << 3; // category 35 of the first node goes left
    const categories = tensor(sets, { shape: [2, 5, 8] }) as Tensor;
    const samples = tensor([
      [9, 35],
      [9, 34],
      [1, 3],
    ]) as Tensor;
    const found = numbersOf(leavesOfTrees(samples, { ...forest, categories }, 2));
    assert.deepEqual(found, [4, 0, 2, 0, 2, 0]);
  });
});
