/** How operands lie in memory: plain, transposed, or otherwise rearranged. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { productShapeOf } from "../../../src/compiler/tiles/operand-orders.js";
import type { Node } from "../../../src/graph/node.js";
import * as E from "../../../src/graph/primitives/elementwise.js";
import * as M from "../../../src/graph/primitives/movement.js";
import { make, stored, storedAs } from "../../support/nodes.js";

const ordersOf = (a: Node, b: Node) => productShapeOf([a, b], undefined, { note: () => {} }).orders;
const turned = (node: Node) => make(M.permute, [node], { axes: [0, 2, 1] });
const shaped = (node: Node, ...shape: number[]) => make(M.reshape, [node], { shape });

test("rows one after the other, transposed ones, and reshaped ones that lie alike", () => {
  const [a, b] = [stored(2, 8, 12), stored(2, 12, 16)];
  assert.equal(ordersOf(a, b), "nn");
  assert.equal(ordersOf(turned(stored(2, 12, 8)), b), "tn");
  assert.equal(ordersOf(a, turned(stored(2, 16, 12))), "nt");
  assert.equal(ordersOf(shaped(stored(16, 12), 2, 8, 12), shaped(stored(24, 16), 2, 12, 16)), "nn");
});

test("another rearrangement has a number, the same for the same one", () => {
  const windows = (rows: number) => {
    const image = stored(rows, 4, 6);
    return shaped(make(M.permute, [image], { axes: [1, 0, 2] }), 1, 4, rows * 6);
  };
  const b = stored(1, 48, 16);
  assert.match(ordersOf(windows(8), b)!, /^w[0-9a-f]+n$/);
  assert.equal(ordersOf(windows(8), b), ordersOf(windows(8), b));
  assert.notEqual(ordersOf(windows(8), b), ordersOf(windows(9), stored(1, 54, 16)));
});

test("without anything measured nobody looks", () => {
  assert.equal(productShapeOf([stored(1, 8, 8), stored(1, 8, 8)], undefined, {}).orders, undefined);
  assert.equal(productShapeOf([stored(1, 8, 8), stored(1, 8, 8)], undefined, { tuned: { x: "y" } }).orders, "nn");
});

test("i32 operands that are casts of i8, rearranged or not, are known as such", () => {
  const wide = (node: Node) => make(E.cast, [node], { dtype: "i32" });
  const bytes = () => storedAs("i8", 1, 8, 8);
  const narrow = (a: Node, b: Node) => productShapeOf([a, b], undefined, {}).narrow;
  assert.equal(narrow(wide(bytes()), turned(wide(bytes()))), "i8");
  assert.equal(narrow(wide(bytes()), storedAs("i32", 1, 8, 8)), undefined);
  assert.equal(narrow(wide(storedAs("u8", 1, 8, 8)), wide(bytes())), undefined);
  const padded = (value: number) =>
    make(M.pad, [wide(storedAs("i8", 1, 7, 8))], { low: [0, 0, 0], high: [0, 1, 0], interior: [0, 0, 0], value });
  assert.equal(narrow(padded(0), wide(bytes())), "i8");
  assert.equal(narrow(padded(300), wide(bytes())), undefined, "a number that i8 has not");
});
