/** Tridiagonal form, interpreted: the reflections turn the matrix into the diagonal and what is beside it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { tridiagonalRoutine } from "../../../../../src/compiler/routines/linalg/eigen/tridiagonal.js";
import type { NumberKind } from "../../../../../src/compiler/routines/linalg/field.js";
import type { TargetProfile } from "../../../../../src/compiler/target/profile.js";
import { interpretRoutine } from "../../../../support/interpreted-routine.js";
import {
  adjoint,
  assertNear,
  bytesFor,
  type C,
  decoded,
  encoded,
  gpuOf,
  hermitian,
  identity,
  KINDS,
  kindsOn,
  type Matrix,
  numbersIn,
  PROFILES,
  product,
  reflectionsOf,
  routineNode,
  settings,
} from "../matrices.js";

function check(kind: NumberKind, matrices: readonly Matrix[], profile: TargetProfile): void {
  const [batch, n] = [matrices.length, matrices[0]!.length];
  const plan = tridiagonalRoutine(routineNode("tridiagonal", kind, [[batch, n, n]]), profile, settings);
  const line = bytesFor(batch * n, { ...kind, isComplex: false });
  const sizes = [line, line, bytesFor(batch * n * n, kind), bytesFor(batch * n, kind)];
  const found = interpretRoutine(plan, [encoded(matrices, kind)], sizes);
  const vectors = decoded(found[2]!, kind, n, n);
  const factors = decoded(found[3]!, kind, 1, n);
  matrices.forEach((a, at) => {
    const own = (bytes: Uint8Array) => numbersIn(bytes, kind.type).slice(at * n, (at + 1) * n);
    const [diagonal, beside] = [own(found[0]!), own(found[1]!)];
    const what = `${kind.type} ${n}, matrix ${at}`;
    assert.ok(Math.abs(beside[n - 1]!) === 0, what);
    const made = a.map((row, i) =>
      row.map((_, j): C => [i === j ? diagonal[i]! : Math.abs(i - j) === 1 ? beside[Math.min(i, j)]! : 0, 0]),
    );
    const q = reflectionsOf(vectors[at]!, factors[at]![0]!);
    assertNear(product(adjoint(q), q), identity(n), kind, `${what}, Qᴴ Q`, 100);
    assertNear(product(product(adjoint(q), a), q), made, kind, `${what}, Qᴴ A Q`, 200);
  });
}

for (const [name, profile] of Object.entries(PROFILES)) {
  test(`two matrices of each size; ${name}`, () => {
    for (const kind of kindsOn(name)) check(kind, [hermitian(9, kind, 1), hermitian(9, kind, 2)], profile);
    for (const n of [1, 2]) check(KINDS.c128, [hermitian(n, KINDS.c128, 3)], profile);
  });
}

test("more rows than lanes take at once", () => {
  check(KINDS.f64, [hermitian(18, KINDS.f64, 4)], gpuOf(32));
});

test("one kernel does the last columns, behind those of a kernel each", () => {
  for (const kind of [KINDS.f64, KINDS.c128]) {
    const plan = tridiagonalRoutine(routineNode("tridiagonal", kind, [[2, 35, 35]]), gpuOf(64), settings);
    assert.equal(plan.steps.length, 1 + 3 + 1);
    check(kind, [hermitian(35, kind, 6), hermitian(35, kind, 7)], gpuOf(64));
  }
});

test("matrices that are diagonal, or tridiagonal, already", () => {
  for (const profile of [PROFILES["a CPU"]!, gpuOf(32)]) {
    const banded = hermitian(5, KINDS.f64, 5).map((row, i) => row.map((x, j): C => (Math.abs(i - j) > 1 ? [0, 0] : x)));
    check(KINDS.f64, [identity(5), banded], profile);
  }
});
