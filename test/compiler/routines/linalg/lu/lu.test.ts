/** LU factors, interpreted, against elimination by its definition: pivots exactly, factors to rounding; no lane meets another. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { luRoutine } from "../../../../../src/compiler/routines/linalg/lu/lu.js";
import { interpretRoutine } from "../../../../support/interpreted-routine.js";
import {
  assertNear,
  bytesFor,
  decoded,
  eliminated,
  encoded,
  gpuOf,
  KINDS,
  kindsOn,
  type Matrix,
  numbersIn,
  PROFILES,
  randomMatrix,
  routineNode,
  settings,
} from "../matrices.js";

// biome-ignore format: a table
const SHAPES: readonly (readonly [number, number])[] = [[1, 1], [9, 9], [11, 4], [4, 11]];

for (const [name, profile] of [
  ...Object.entries(PROFILES),
  ["64 lanes, matrices in memory", gpuOf(64, 4096)] as const,
]) {
  test(`factors, pivots and order of two matrices; ${name}`, () => {
    for (const kind of kindsOn(name)) {
      for (const [m, n] of SHAPES) {
        const matrices = [1, 2].map((seed) => randomMatrix(m, n, kind, seed));
        // A column of zeros in the second one: its multipliers are zero.
        if (n > 3) for (const row of matrices[1]!) row[2] = [0, 0];
        const least = Math.min(m, n);
        const node = routineNode("lu", kind, [[2, m, n]]);
        const sizes = [bytesFor(2 * m * n, kind), 8 * least, 8 * m];
        const found = interpretRoutine(luRoutine(node, profile, settings), [encoded(matrices, kind)], sizes);
        const factors = decoded(found[0]!, kind, m, n);
        matrices.forEach((a, at) => {
          const expected = eliminated(a);
          const what = `${kind.type} [${m}, ${n}], matrix ${at}`;
          assert.deepEqual(numbersIn(found[1]!, "i32").slice(at * least, (at + 1) * least), expected.pivots, what);
          assert.deepEqual(numbersIn(found[2]!, "i32").slice(at * m, (at + 1) * m), expected.order, what);
          assertNear(factors[at]!, expected.lu, kind, what, 200);
        });
      }
    }
  });
}

test("of equal sizes the first is the pivot, and NaN is none where there are numbers", () => {
  const a: Matrix = [[[1, 0]], [[Number.NaN, 0]], [[-3, 0]], [[3, 0]]];
  for (const profile of Object.values(PROFILES)) {
    const node = routineNode("lu", KINDS.f64, [[1, 4, 1]]);
    const [, pivots] = interpretRoutine(luRoutine(node, profile, settings), [encoded([a], KINDS.f64)], [32, 4, 16]);
    assert.deepEqual(numbersIn(pivots!, "i32"), [2]);
  }
});

test("matrices without rows or columns: the rows are in order, and there is no pivot", () => {
  for (const [m, n] of [
    [0, 3],
    [3, 0],
  ] as const) {
    const node = routineNode("lu", KINDS.f64, [[2, m, n]]);
    const [, , order] = interpretRoutine(luRoutine(node, gpuOf(32), settings), [new Uint8Array(0)], [0, 0, 8 * m]);
    assert.deepEqual(numbersIn(order!, "i32"), m === 0 ? [] : [0, 1, 2, 0, 1, 2]);
  }
});
