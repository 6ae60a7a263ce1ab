/** LU factors in steps, interpreted, against elimination by its definition: pivots exactly, factors to rounding. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { steppedLu } from "../../../../../src/compiler/routines/linalg/lu/stepped-lu.js";
import { interpretRoutine } from "../../../../support/interpreted-routine.js";
import { assertNear, bytesFor, decoded, eliminated, encoded, KINDS, type Matrix, numbersIn, randomMatrix, routineNode, settings } from "../matrices.js"; // biome-ignore format: one line

/** Panels of 4 columns for so many lanes. */
const gridOf = (m: number, lanes: number) => ({ lanes, perLane: Math.ceil(m / lanes), width: 4, tileLanes: 16 });

function check(matrices: readonly Matrix[], kind: (typeof KINDS)[keyof typeof KINDS], lanes: number): void {
  const [batch, m, n] = [matrices.length, matrices[0]!.length, matrices[0]![0]!.length];
  const least = Math.min(m, n);
  const plan = steppedLu(routineNode("lu", kind, [[batch, m, n]]), batch, [m, n], gridOf(m, lanes), settings);
  const sizes = [bytesFor(batch * m * n, kind), 4 * batch * least, 4 * batch * m];
  const [factors, pivots, order] = interpretRoutine(plan, [encoded(matrices, kind)], sizes);
  matrices.forEach((a, at) => {
    const expected = eliminated(a);
    const what = `${kind.type} [${m}, ${n}], ${lanes} lanes, matrix ${at}`;
    assert.deepEqual(numbersIn(pivots!, "i32").slice(at * least, (at + 1) * least), expected.pivots, what);
    assert.deepEqual(numbersIn(order!, "i32").slice(at * m, (at + 1) * m), expected.order, what);
    assertNear(decoded(factors!, kind, m, n)[at]!, expected.lu, kind, what, 1000);
  });
}

// biome-ignore format: a table
const SHAPES: readonly (readonly [number, number])[] = [[14, 14], [8, 8], [19, 6], [6, 75], [5, 3]];

for (const kind of [KINDS.f64, KINDS.f32, KINDS.c128]) {
  test(`factors, pivots and order of two matrices, ${kind.type}${kind.isComplex ? ", complex" : ""}`, () => {
    for (const [m, n] of SHAPES) {
      const matrices = [1, 2].map((seed) => randomMatrix(m, n, kind, seed));
      // A column of zeros in the second one.
      for (const row of matrices[1]!) row[1] = [0, 0];
      check(matrices, kind, 8);
    }
  });
}

test("of equal sizes the first is the pivot, wherever exchanges have put it", () => {
  const a = randomMatrix(12, 12, KINDS.f64, 3).map((row) => row.map(([x]): [number, number] => [Math.sign(x), 0]));
  for (const lanes of [4, 16]) check([a], KINDS.f64, lanes);
  check([a], KINDS.f32, 4);
});

test("all steps run the same kernels, however many there are", () => {
  const kernels = (n: number) => {
    const node = routineNode("lu", KINDS.f32, [[1, n, n]]);
    return new Set(steppedLu(node, 1, [n, n], gridOf(n, 16), settings).steps.map(({ kernel }) => kernel)).size;
  };
  assert.deepEqual([kernels(16), kernels(64)], [4, 4]);
});
