/** The order of a lane's products: each pair once, whatever the extents, and neighbours in it share an operand. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { blockOf, productOrder } from "../../../src/compiler/tiles/product-order.js";

test("every row meets every column once, also where blocks do not divide them", () => {
  for (const rows of [1, 2, 3, 4, 7, 8]) {
    for (const columns of [1, 2, 5, 7, 8, 16]) {
      for (const block of [blockOf("f32"), blockOf("f64")]) {
        const order = productOrder(rows, columns, block);
        assert.equal(order.length, rows * columns);
        assert.equal(new Set(order.map(([row, column]) => row * columns + column)).size, rows * columns);
        assert.ok(order.every(([row, column]) => row < rows && column < columns));
      }
    }
  }
});

test("f64 goes through two rows there and back, other types through pairs of columns", () => {
  const text = (...order: Parameters<typeof productOrder>) =>
    productOrder(...order)
      .map((pair) => pair.join(""))
      .join(" ");
  assert.equal(text(4, 3, blockOf("f64")), "00 01 02 12 11 10 30 31 32 22 21 20");
  assert.equal(text(2, 5, blockOf("f32")), "00 01 02 03 04 14 12 13 10 11");
});

test("in f64 each product has an operand of the one before", () => {
  const order = productOrder(8, 8, blockOf("f64"));
  assert.ok(order.slice(1).every(([row, column], i) => row === order[i]![0] || column === order[i]![1]));
});
