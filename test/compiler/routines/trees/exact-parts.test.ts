/** Rows of nodes after splits, and totals of both parts. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Tensor, tensor } from "../../../../src/index.js";
import { backendFor, rowsByPart, totalsByPart } from "../../../../src/tensor/index.js";
import { describeOnTensorDevices, numbersOf } from "../../../support/tensors.js";

describeOnTensorDevices("parts of nodes", (device) => {
  const dtype = backendFor(device, "test").hasDoubles ? "f64" : "f32";
  const i32 = (values: unknown) => tensor(values as number[], { dtype: "i32" }) as Tensor;
  const real = (values: unknown) => tensor(values as number[], { dtype }) as Tensor;
  const valuesOf = () =>
    tensor([
      [5, 1, 4, 2, 3, 9],
      [0, 0, 1, 1, 0, 0],
    ]) as Tensor;
  // Node 0 has rows 5, 3, 0, 4 and is split by feature 0 at 3.5; node 1 has rows 1 and 2 and stays; node 2 has none.
  const nodesOf = () =>
    i32([
      [0, 4, 1],
      [4, 2, 0],
      [0, 0, 0],
    ]);
  const splitsOf = () =>
    real([
      [9, 0, 2, 3.5, 1],
      [0, 0, 0, 0, 1],
      [0, 0, 0, 0, 0],
    ]);
  const rowsOf = () => ({
    ...{
      values: valuesOf(),
      ranks: valuesOf().cast("i32") as Tensor,
      order: i32([5, 3, 0, 4, 2, 1]),
      nodes: nodesOf(),
    },
    targets: real([[1], [2], [3], [4], [5], [6]]),
    weights: real([
      [1, 1, 1, 1, 1, 1],
      [2, 0, 0, 3, 1, 5],
    ]),
    spreads: real([1, 10, 100, 1000, 10000, 100000]),
  });

  test("rows that go left come first, in their order; those of nodes without a split stay", () => {
    assert.deepEqual(numbersOf(rowsByPart(rowsOf(), splitsOf())), [3, 4, 5, 0, 2, 1]);
  });

  test("totals are weights, weighted spreads and weighted targets of the tree's weights", () => {
    const order = i32([3, 4, 5, 0, 2, 1]);
    const sums = numbersOf(totalsByPart({ ...rowsOf(), order }, splitsOf(), { channels: 1, isByClass: false }));
    assert.deepEqual(sums.slice(0, 9), [4, 13000, 17, 7, 500002, 32, 2, 110, 5]);
    assert.deepEqual(sums.slice(9), [0, 0, 0, 0, 0, 0, 0, 0, 0]);
  });

  test("totals by class count weights", () => {
    const targets = real([[0], [1], [2], [0], [1], [2]]);
    const given = { ...rowsOf(), order: i32([3, 4, 5, 0, 2, 1]), targets };
    const sums = numbersOf(totalsByPart(given, splitsOf(), { channels: 3, isByClass: true }));
    assert.deepEqual(sums.slice(0, 10), [4, 13000, 3, 1, 0, 7, 500002, 2, 0, 5]);
  });
});
