/** The QR decomposition: checked by multiplying back, with derivatives, batches, and matrices without elements. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Node } from "../../../../src/graph/node.js";
import { byTransposing, qrNodes } from "../../../../src/graph/primitives/linalg/qr.js";
import { g } from "../../../../src/graph/vocabulary.js";
import { checkBatches, checkDerivatives, given, input, numbers, valuesOf } from "../../../support/node-rules.js";
import { assertNear, assertOrthonormal, rowsOf, times } from "./plain-matrices.js";

const qr = (columns: number) => (a: Node) => qrNodes(g, a, columns);

test("Q·R is the matrix, Q has orthonormal columns, R is triangular", () => {
  for (const [m, n, columns] of [
    [4, 4, 4],
    [5, 3, 3],
    [5, 3, 5],
    [3, 5, 3],
    [1, 1, 1],
  ] as const) {
    const a = input([m, n]);
    const [q, r] = valuesOf(qr(columns), [a]);
    assertOrthonormal(rowsOf(q!, columns));
    assertNear(times(rowsOf(q!, columns), rowsOf(r!, n)), rowsOf(a.values, n));
    rowsOf(r!, n).forEach((row, i) => {
      assert.ok(row.every((x, j) => j >= i || x === 0));
    });
  }
});

test("matrices whose squares leave the range of floats", () => {
  for (const size of [1e-300, 1e300]) {
    const [q, r] = valuesOf(qr(2), [input([3, 2], [3 * size, size, 4 * size, -size, 0, size])]);
    assertOrthonormal(rowsOf(q!, 2));
    assert.ok(Math.abs(Math.abs(r![0]! / size) - 5) < 1e-14);
  }
});

test("a matrix without elements has the identity for Q", () => {
  const [q, r] = valuesOf(qr(3), [input([3, 0])]);
  assert.deepEqual(q, [1, 0, 0, 0, 1, 0, 0, 0, 1]);
  assert.deepEqual(r, []);
});

test("derivatives, also of the columns that complete a basis as far as they are determined", () => {
  checkDerivatives(qr(3), [input([3, 3])]);
  checkDerivatives(qr(2), [input([4, 2])]);
  // One column completes the basis: it is determined up to its sign.
  checkDerivatives(qr(3), [input([3, 2])]);
});

test("batches", () => checkBatches(qr(3), [input([4, 3])]));

test("a linear rule turned around is its transpose", () => {
  const [a, ct] = [given(input([2, 3])), given(input([2, 3], [1, 2, 3, 4, 5, 6]))];
  const node = g.mul(a, 2);
  const [found] = byTransposing(g, node, [ct], (_g, _node, t) => [g.mul(t, 7)]);
  assert.deepEqual(numbers(found!), [7, 14, 21, 28, 35, 42]);
});
