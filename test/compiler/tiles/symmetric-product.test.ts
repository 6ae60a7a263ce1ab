/** Which products are seen to be symmetric: by their factors, and not by their numbers. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isSymmetricProduct } from "../../../src/compiler/tiles/symmetric-product.js";
import type { Node } from "../../../src/graph/node.js";
import { pad, permute, reshape } from "../../../src/graph/primitives/movement.js";
import { g } from "../../../src/graph/vocabulary.js";
import { make, storedAs } from "../../support/nodes.js";

const x = storedAs("f32", 1, 9, 5);
const other = storedAs("f32", 1, 9, 5);
const perSample = storedAs("f32", 1, 9, 1);
const perColumn = storedAs("f32", 1, 1, 5);
const transposed = (node: Node): Node => make(permute, [node], { axes: [0, 2, 1] });
const wide = (node: Node): Node => g.broadcast(node, [1, 9, 5]);

test("a matrix and its transpose, in either order, and behind views", () => {
  assert.ok(isSymmetricProduct(transposed(x), x));
  assert.ok(isSymmetricProduct(x, transposed(x)));
  const flat = make(reshape, [x], { shape: [9, 5] });
  const again = make(reshape, [flat], { shape: [1, 9, 5] });
  assert.ok(isSymmetricProduct(transposed(x), again));
});

test("computed alike, and with weights of the steps on one side or both", () => {
  const centred = g.sub(x, wide(perColumn));
  assert.ok(isSymmetricProduct(transposed(centred), centred));
  const weighted = g.mul(x, wide(perSample));
  assert.ok(isSymmetricProduct(transposed(x), weighted));
  assert.ok(isSymmetricProduct(transposed(g.mul(wide(g.exp(perSample)), x)), weighted));
  const scaled = g.mul(wide(perColumn), weighted);
  assert.ok(isSymmetricProduct(transposed(g.mul(x, wide(perColumn))), scaled));
});

test("not of two matrices, of weights of columns on one side, of shifted rows, or of another shape", () => {
  assert.equal(isSymmetricProduct(transposed(x), other), false);
  assert.equal(isSymmetricProduct(transposed(x), g.mul(x, wide(perColumn))), false);
  assert.equal(isSymmetricProduct(transposed(x), g.mul(x, x)), false);
  assert.equal(isSymmetricProduct(transposed(x), g.exp(x)), false);
  const params = { low: [0, 1, 0], high: [0, -1, 0], interior: [0, 0, 0], value: 0 };
  assert.equal(isSymmetricProduct(transposed(x), make(pad, [x], params)), false);
  const square = storedAs("f32", 1, 5, 5);
  assert.equal(isSymmetricProduct(square, square), false, "the square of a matrix");
  assert.equal(isSymmetricProduct(x, storedAs("f32", 1, 5, 9)), false);
});

test("long products are given up", () => {
  let longer: Node = x;
  for (let i = 0; i < 40; i++) longer = g.mul(longer, x);
  assert.equal(isSymmetricProduct(transposed(longer), longer), false);
});
