/** Eigenvalues by Jacobi's method, interpreted: vectors are orthonormal and belong to their values, which rise. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { smallEighRoutine } from "../../../../../src/compiler/routines/linalg/eigen/small-eigh.js";
import type { NumberKind } from "../../../../../src/compiler/routines/linalg/field.js";
import type { TargetProfile } from "../../../../../src/compiler/target/profile.js";
import { interpretRoutine } from "../../../../support/interpreted-routine.js";
import {
  adjoint,
  assertNear,
  bytesFor,
  type C,
  decoded,
  diagonal,
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
  routineNode,
  settings,
  transposed,
} from "../matrices.js";

/** The values of each matrix. */
function check(kind: NumberKind, matrices: readonly Matrix[], profile: TargetProfile): number[][] {
  const n = matrices[0]!.length;
  const node = routineNode("smallEigh", kind, [[matrices.length, n, n]]);
  const count = matrices.length * n;
  const sizes = [bytesFor(count, { ...kind, isComplex: false }), bytesFor(count * n, kind)];
  const plan = smallEighRoutine(node, profile, settings);
  const [values, vectors] = interpretRoutine(plan, [encoded(matrices, kind)], sizes);
  const rows = decoded(vectors!, kind, n, n);
  return matrices.map((a, at) => {
    const own = numbersIn(values!, kind.type).slice(at * n, (at + 1) * n);
    const columns = transposed(rows[at]!);
    const what = `${kind.type} ${n}, matrix ${at}`;
    assert.deepEqual(own, [...own].sort((x, y) => x - y), what); // biome-ignore format: one line
    assertNear(product(adjoint(columns), columns), identity(n), kind, `${what}, Vᴴ V`, 200);
    assertNear(product(a, columns), product(columns, diagonal(own)), kind, `${what}, A V`, 200);
    return own;
  });
}

// Memory for both matrices of 8 rows of f64, for one of them, for none.
const NARROW = { "64 lanes, vectors in memory": gpuOf(64, 1400), "64 lanes, all in memory": gpuOf(64, 1200) };

for (const [name, profile] of Object.entries({ ...PROFILES, ...NARROW })) {
  test(`two matrices of each size; ${name}`, () => {
    for (const kind of kindsOn(name)) {
      for (const n of [1, 2, 5, 8]) check(kind, [hermitian(n, kind, 1), hermitian(n, kind, 2)], profile);
    }
  });
}

test("more rows than lanes have blocks for", () => {
  check(KINDS.f32, [hermitian(13, KINDS.f32, 3)], gpuOf(8));
});

test("equal values, zeros, and matrices that are diagonal already", () => {
  for (const profile of [PROFILES["a CPU"]!, gpuOf(8), gpuOf(32)]) {
    const ones: Matrix = identity(5).map((row) => row.map(() => [1, 0]));
    const matrices = [identity(5), diagonal([3, -1, 0, 3, 2]), diagonal([0, 0, 0, 0, 0]), ones];
    const [equal, given, none, joined] = check(KINDS.f64, matrices, profile);
    assert.deepEqual([equal, given, none], [[1, 1, 1, 1, 1], [-1, 0, 2, 3, 3], [0, 0, 0, 0, 0]]); // biome-ignore format: one line
    assert.ok(Math.abs(joined![4]! - 5) < 1e-14);
  }
});

test("what is lost in rounding is not rotated: the vectors are exactly those of the diagonal", () => {
  const a: Matrix = diagonal([1, 2, 3, 4, 5, 6]).map((row, i) =>
    row.map((x, j): C => (i === j ? x : [1e-19 / (1 + Math.abs(i - j)), 0])),
  );
  for (const profile of [PROFILES["a CPU"]!, gpuOf(8), gpuOf(32)]) {
    const plan = smallEighRoutine(routineNode("smallEigh", KINDS.f64, [[1, 6, 6]]), profile, settings);
    const [, vectors] = interpretRoutine(plan, [encoded([a], KINDS.f64)], [48, 288]);
    assert.deepEqual(decoded(vectors!, KINDS.f64, 6, 6)[0], identity(6));
  }
});

test("arrays that do not fit shared memory are temporaries", () => {
  const temporaries = (profile: TargetProfile) =>
    smallEighRoutine(routineNode("smallEigh", KINDS.f64, [[2, 8, 8]]), profile, settings).temporaries.length;
  assert.deepEqual([gpuOf(64), ...Object.values(NARROW)].map(temporaries), [0, 1, 2]);
});
