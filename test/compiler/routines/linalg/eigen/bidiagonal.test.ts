/** Bidiagonal form, interpreted: the reflections turn the matrix into the diagonal and what is beside it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { bidiagonalRoutine } from "../../../../../src/compiler/routines/linalg/eigen/bidiagonal.js";
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
  identity,
  KINDS,
  kindsOn,
  type Matrix,
  numbersIn,
  PROFILES,
  product,
  randomMatrix,
  reflectionsOf,
  routineNode,
  settings,
} from "../matrices.js";

function check(kind: NumberKind, matrices: readonly Matrix[], profile: TargetProfile): void {
  const [batch, n] = [matrices.length, matrices[0]!.length];
  const plan = bidiagonalRoutine(routineNode("bidiagonal", kind, [[batch, n, n]]), profile, settings);
  const line = bytesFor(batch * n, { ...kind, isComplex: false });
  const sizes = [line, line, bytesFor(batch * 2 * n * n, kind), bytesFor(batch * 2 * n, kind)];
  const found = interpretRoutine(plan, [encoded(matrices, kind)], sizes);
  const vectors = decoded(found[2]!, kind, n, n);
  const factors = decoded(found[3]!, kind, 1, n);
  matrices.forEach((a, at) => {
    const own = (bytes: Uint8Array) => numbersIn(bytes, kind.type).slice(at * n, (at + 1) * n);
    const [diagonal, beside] = [own(found[0]!), own(found[1]!)];
    const what = `${kind.type} ${n}, matrix ${at}`;
    assert.ok(Math.abs(beside[n - 1]!) === 0, what);
    const made = a.map((row, i) => row.map((_, j): C => [i === j ? diagonal[i]! : j - i === 1 ? beside[i]! : 0, 0]));
    const [p, q] = [0, 1].map((side) => reflectionsOf(vectors[2 * at + side]!, factors[2 * at + side]![0]!));
    for (const each of [p!, q!]) assertNear(product(adjoint(each), each), identity(n), kind, `${what}, Qᴴ Q`, 100);
    assertNear(product(product(adjoint(q!), a), p!), made, kind, `${what}, Qᴴ A P`, 200);
  });
}

for (const [name, profile] of Object.entries(PROFILES)) {
  test(`two matrices of each size; ${name}`, () => {
    for (const kind of kindsOn(name)) check(kind, [randomMatrix(9, 9, kind, 1), randomMatrix(9, 9, kind, 2)], profile);
    for (const n of [1, 2]) check(KINDS.c128, [randomMatrix(n, n, KINDS.c128, 3)], profile);
  });
}

test("more rows than a chunk has, and than a workgroup's lanes take at once", () => {
  for (const profile of [PROFILES["a CPU"]!, gpuOf(8)]) {
    check(KINDS.f64, [randomMatrix(34, 34, KINDS.f64, 4)], profile);
  }
});

test("matrices that are diagonal, bidiagonal or zero already, and one with equal rows", () => {
  for (const profile of [PROFILES["a CPU"]!, gpuOf(32)]) {
    const banded = randomMatrix(5, 5, KINDS.f64, 5).map((row, i) =>
      row.map((x, j): C => (j === i || j === i + 1 ? x : [0, 0])),
    );
    const equal = identity(5).map((): C[] => [1, 2, 3, 4, 5].map((x) => [x, 0]));
    const zero = identity(5).map((row) => row.map((): C => [0, 0]));
    check(KINDS.f64, [identity(5), banded, equal, zero], profile);
  }
});
