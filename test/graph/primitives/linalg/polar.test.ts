/** The polar decomposition by multiplying back, and its derivatives where singular values are equal. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Node } from "../../../../src/graph/node.js";
import { polarNodes } from "../../../../src/graph/primitives/linalg/polar.js";
import { g } from "../../../../src/graph/vocabulary.js";
import { checkBatches, checkDerivatives, input, valuesOf } from "../../../support/node-rules.js";
import { assertNear, assertOrthonormal, rowsOf, times } from "./plain-matrices.js";

const polar = (a: Node) => polarNodes(g, a);

test("u·p is the matrix, u has orthonormal columns, p is its own transpose", () => {
  for (const [m, n] of [
    [1, 1],
    [3, 3],
    [5, 2],
  ] as const) {
    // biome-ignore format: one line
    const a = input([m, n]);
    const [u, p] = valuesOf(polar, [a]);
    assertOrthonormal(rowsOf(u!, n), 1e-12);
    assertNear(times(rowsOf(u!, n), rowsOf(p!, n)), rowsOf(a.values, n), 1e-12);
    assertNear(
      rowsOf(p!, n),
      rowsOf(p!, n)[0]!.map((_, j) => rowsOf(p!, n).map((row) => row[j]!)),
      1e-12,
    );
  }
  assert.deepEqual(valuesOf(polar, [input([2, 0])]), [[], []]);
});

test("both factors have their derivatives, also among equal singular values", () => {
  const equal = [
    input([2, 2], [1, 0, 0, 1]),
    input([3, 3], [0, -2, 0, 2, 0, 0, 0, 0, 5]),
    input([4, 2], [1, 1, 1, -1, 1, 1, 1, -1]),
  ];
  for (const a of [...equal, input([3, 3]), input([4, 2])]) {
    for (const which of [0, 1]) checkDerivatives((x) => polar(x)[which]!, [a]);
  }
});

test("batches are as one after the other", () => {
  for (const which of [0, 1]) checkBatches((x) => polar(x)[which]!, [input([3, 2])]);
});
