/** Where rows stand while a tree grows: at the root first, then at the children that their codes send them to. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Tensor, tensor } from "../../../../src/index.js";
import { nodesOf, routedRows, rowsAtRoot } from "../../../../src/tensor/index.js";
import { describeOnTensorDevices, numbersOf } from "../../../support/tensors.js";
import { packedCodes } from "../../../support/tree-oracle.js";
import { nodeOfPlace, rowsAt } from "../../../support/tree-rows.js";

describeOnTensorDevices("rows of a growing tree", () => {
  test("all rows begin at the root", () => {
    const codes = tensor(packedCodes([Array.from({ length: 9001 }, () => 1)]), { shape: [1, 9001] }) as Tensor;
    assert.deepEqual(new Set(numbersOf(nodesOf(rowsAtRoot(codes), 9001))), new Set([0]));
  });

  test("rows of nodes with a split go to a child by their code, others stay", () => {
    const codes = [
      [0, 0, 0, 0],
      [9, 9, 9, 9],
      [0, 0, 0, 0],
      [0, 0, 0, 0],
      [3, 200, 3, 255],
    ];
    const goesLeft = new Uint8Array(2 * 256);
    goesLeft[256 + 3] = 1;
    // Rows 0, 1 and 3 stand at node 1, and row 2 at node 3.
    const next = routedRows(
      tensor(packedCodes(codes), { shape: [2, 4] }),
      rowsAt([0, 0, 1, 0]),
      tensor([-1, 1, -1, -1, -1, -1, -1, -1, -1], { dtype: "i32" }),
      tensor(
        [
          [0, 0],
          [4, 7],
        ],
        { dtype: "i32" },
      ),
      tensor(goesLeft, { shape: [2, 256] }),
    );
    assert.deepEqual(numbersOf(nodesOf(next, 4)), [7, 8, 3, 8]);
  });

  test("many rows come to their nodes, whatever their order, and nodes without rows are no trouble", () => {
    const places = Array.from({ length: 20_000 }, (_, row) => [5, 0, 2, 7][(row * row + (row >> 5)) % 4]!);
    assert.deepEqual(numbersOf(nodesOf(rowsAt(places), places.length)), places.map(nodeOfPlace));
  });
});
