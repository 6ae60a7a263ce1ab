/** Cholesky factors, interpreted: a factor is found again from its product; no lane meets another without a barrier. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { choleskyRoutine } from "../../../../../src/compiler/routines/linalg/cholesky/cholesky.js";
import type { NumberKind } from "../../../../../src/compiler/routines/linalg/field.js";
import { interpretRoutine } from "../../../../support/interpreted-routine.js";
import {
  adjoint,
  assertNear,
  bytesFor,
  decoded,
  encoded,
  gpuOf,
  KINDS,
  kindsOn,
  lowerMatrix,
  type Matrix,
  PROFILES,
  product,
  routineNode,
  settings,
} from "../matrices.js";

/** Above the diagonal is NaN, which nobody may use. */
const hidden = (a: Matrix): Matrix => a.map((row, i) => row.map((x, j) => (j > i ? [Number.NaN, Number.NaN] : x)));

function check(kind: NumberKind, n: number, profile: Parameters<typeof choleskyRoutine>[1]): void {
  const factors = [1, 2].map((seed) => lowerMatrix(n, kind, seed));
  const given = factors.map((l) => hidden(product(l, adjoint(l))));
  const plan = choleskyRoutine(routineNode("cholesky", kind, [[2, n, n]]), profile, settings);
  const [bytes] = interpretRoutine(plan, [encoded(given, kind)], [bytesFor(2 * n * n, kind)]);
  decoded(bytes!, kind, n, n).forEach((found, at) => {
    assertNear(found, factors[at]!, kind, `${kind.type} ${n}, matrix ${at}`, 400);
  });
}

for (const [name, profile] of Object.entries(PROFILES)) {
  test(`two factors; ${name}`, () => {
    for (const kind of kindsOn(name)) for (const n of [1, 2, 9]) check(kind, n, profile);
  });
}

test("a matrix that one workgroup cannot hold is factored in steps", () => {
  const [small, large] = [32, 33].map((n) =>
    choleskyRoutine(routineNode("cholesky", KINDS.f64, [[1, n, n]]), gpuOf(64), settings),
  );
  assert.equal(small!.steps.length, 1);
  assert.ok(large!.steps.length > 1);
  check(KINDS.f64, 33, gpuOf(64));
});

test("a matrix that is not positive has NaN on the diagonal; of no rows there is nothing to do", () => {
  for (const profile of Object.values(PROFILES)) {
    const run = (a: Matrix, n: number) => {
      const plan = choleskyRoutine(routineNode("cholesky", KINDS.f64, [[1, n, n]]), profile, settings);
      return interpretRoutine(plan, [encoded([a], KINDS.f64)], [8 * n * n])[0]!;
    };
    const indefinite: Matrix = [[[1, 0], [2, 0]], [[2, 0], [1, 0]]]; // biome-ignore format: a matrix
    const [found] = decoded(run(indefinite, 2), KINDS.f64, 2, 2);
    assert.deepEqual([found![0]![0]![0], found![1]![0]![0]], [1, 2]);
    assert.ok(Number.isNaN(found![1]![1]![0]));
    const singular: Matrix = [[[1, 0], [2, 0]], [[2, 0], [4, 0]]]; // biome-ignore format: a matrix
    const [none] = decoded(run(singular, 2), KINDS.f64, 2, 2);
    assert.deepEqual(
      none!.map((row) => row.map(([re]) => re)),
      [[1, 0], [2, Number.NaN]], // biome-ignore format: a matrix
    );
    assert.equal(run([], 0).length, 0);
  }
});
