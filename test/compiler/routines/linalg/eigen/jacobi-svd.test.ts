/** Singular values by one-sided rotations, interpreted: rows Y = W X are orthogonal, with falling lengths, and W is unitary. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { jacobiSvdRoutine } from "../../../../../src/compiler/routines/linalg/eigen/jacobi-svd.js";
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
  identity,
  KINDS,
  kindsOn,
  type Matrix,
  numbersIn,
  PROFILES,
  product,
  randomMatrix,
  routineNode,
  settings,
} from "../matrices.js";

/** The lengths of each matrix. */
function check(kind: NumberKind, matrices: readonly Matrix[], profile: TargetProfile): number[][] {
  const [r, c] = [matrices[0]!.length, matrices[0]![0]!.length];
  const batch = matrices.length;
  const node = routineNode("jacobiSvd", kind, [[batch, r, c]]);
  const sizes = [
    bytesFor(batch * r, { ...kind, isComplex: false }),
    bytesFor(batch * r * c, kind),
    bytesFor(batch * r * r, kind),
  ];
  const found = interpretRoutine(jacobiSvdRoutine(node, profile, settings), [encoded(matrices, kind)], sizes);
  const [rows, turns] = [decoded(found[1]!, kind, r, c), decoded(found[2]!, kind, r, r)];
  return matrices.map((x, at) => {
    const own = numbersIn(found[0]!, kind.type).slice(at * r, (at + 1) * r);
    const what = `${kind.type} [${r}, ${c}], matrix ${at}`;
    assert.deepEqual(own, [...own].sort((a, b) => b - a), what); // biome-ignore format: one line
    const [y, w] = [rows[at]!, turns[at]!];
    assertNear(product(w, adjoint(w)), identity(r), kind, `${what}, W Wᴴ`, 200);
    assertNear(y, product(w, x), kind, `${what}, Y`, 200);
    const squares = diagonal(own.map((length) => length ** 2));
    assertNear(product(y, adjoint(y)), squares, kind, `${what}, Y Yᴴ`, 400);
    return own;
  });
}

// Memory for one of the two matrices of [6, 5] of f64, and for neither.
const NARROW = { "32 lanes, one matrix in memory": gpuOf(32, 1700), "32 lanes, all in memory": gpuOf(32, 1400) };

for (const [name, profile] of Object.entries({ ...PROFILES, ...NARROW })) {
  test(`two matrices of each shape; ${name}`, () => {
    for (const kind of kindsOn(name)) {
      // biome-ignore format: a table
      for (const [r, c] of [[1, 3], [2, 2], [4, 3], [5, 8], [3, 11]] as const) {
        check(kind, [randomMatrix(r, c, kind, 1), randomMatrix(r, c, kind, 2)], profile);
      }
    }
  });
}

test("more pairs than lanes, which then take turns", () => {
  check(KINDS.f64, [randomMatrix(7, 4, KINDS.f64, 3)], gpuOf(8));
  check(KINDS.f64, [randomMatrix(19, 3, KINDS.f64, 3)], gpuOf(32));
});

test("rows that are multiples of one another leave lengths of zero; known values come out", () => {
  for (const profile of [PROFILES["a CPU"]!, gpuOf(32)]) {
    const [base] = randomMatrix(1, 6, KINDS.f64, 5);
    const multiples = [1, -2, 0, 0.5].map((by) => base!.map(([re]): C => [by * re, 0]));
    const [lengths] = check(KINDS.f64, [multiples], profile);
    const norm = Math.sqrt(base!.reduce((sum, [re]) => sum + re * re, 0) * 5.25);
    assert.ok(Math.abs(lengths![0]! - norm) < 1e-14 && lengths![1]! < 1e-15);
    const [known] = check(KINDS.f64, [diagonal([1, 3, 2])], profile);
    assert.deepEqual(known, [3, 2, 1]);
  }
});

test("arrays that do not fit shared memory are temporaries", () => {
  const temporaries = (profile: TargetProfile) =>
    jacobiSvdRoutine(routineNode("jacobiSvd", KINDS.f64, [[1, 6, 5]]), profile, settings).temporaries.length;
  assert.deepEqual([gpuOf(32), ...Object.values(NARROW)].map(temporaries), [0, 1, 2]);
});
