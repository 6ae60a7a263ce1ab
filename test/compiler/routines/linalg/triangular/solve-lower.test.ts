/** Equations with lower matrices, interpreted: the solution is found again from its product with the matrix. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { NumberKind } from "../../../../../src/compiler/routines/linalg/field.js";
import { solveLowerRoutine } from "../../../../../src/compiler/routines/linalg/triangular/solve-lower.js";
import type { TargetProfile } from "../../../../../src/compiler/target/profile.js";
import { interpretRoutine } from "../../../../support/interpreted-routine.js";
import {
  assertNear,
  bytesFor,
  type C,
  decoded,
  encoded,
  gpuOf,
  KINDS,
  kindsOn,
  lowerMatrix,
  type Matrix,
  PROFILES,
  product,
  randomMatrix,
  routineNode,
  settings,
  softwareGpu,
} from "../matrices.js";

const shapeOf = (n: number, m: number): readonly (readonly number[])[] => [
  [2, n, n],
  [2, n, m],
];

function check(kind: NumberKind, n: number, m: number, isUnit: boolean, profile: TargetProfile): void {
  const matrices = [1, 2].map((seed) =>
    lowerMatrix(n, kind, seed).map((row, i) => row.map(([re, im], j): C => (i === j ? [re, im] : [re / n, im / n]))),
  );
  const solutions = [3, 4].map((seed) => randomMatrix(n, m, kind, seed));
  const effective = (a: Matrix) => a.map((row, i) => row.map((x, j): C => (isUnit && i === j ? [1, 0] : x)));
  const sides = matrices.map((a, at) => product(effective(a), solutions[at]!));
  // Above the diagonal is NaN, which nobody may use.
  const given = matrices.map((a) => a.map((row, i) => row.map((x, j): C => (j > i ? [Number.NaN, Number.NaN] : x))));
  const node = routineNode("solveLower", kind, shapeOf(n, m), { isUnit }, [2, n, m]);
  const plan = solveLowerRoutine(node, profile, settings);
  const [bytes] = interpretRoutine(plan, [encoded(given, kind), encoded(sides, kind)], [bytesFor(2 * n * m, kind)]);
  decoded(bytes!, kind, n, m).forEach((found, at) => {
    const what = `${kind.type} [${n}, ${n}] \\ [${n}, ${m}]${isUnit ? ", unit" : ""}, matrix ${at}`;
    assertNear(found, solutions[at]!, kind, what, 200);
  });
}

for (const [name, profile] of Object.entries(PROFILES)) {
  test(`two systems, of few columns and of many; ${name}`, () => {
    for (const kind of kindsOn(name)) {
      for (const m of [1, 3, 5, 18, 35]) check(kind, 7, m, m === 5, profile);
      check(kind, 1, 2, false, profile);
    }
  });
}

test("GPUs solve with small matrices a row to a lane, and software a column to a lane", () => {
  const lanes = (profile: TargetProfile) =>
    solveLowerRoutine(routineNode("solveLower", KINDS.f32, shapeOf(5, 70), {}, [2, 5, 70]), profile, settings).steps[0]!
      .kernel.lanes;
  assert.deepEqual([gpuOf(64), gpuOf(4), softwareGpu].map(lanes), [32, 4, 8]);
  for (const m of [33, 70, 128]) check(KINDS.f32, 5, m, false, gpuOf(64));
});

test("larger matrices are solved with by strips, where there is memory for one", () => {
  const arrays = (n: number) =>
    solveLowerRoutine(routineNode("solveLower", KINDS.f64, shapeOf(n, 2), {}, [2, n, 2]), gpuOf(64), settings).steps[0]!
      .kernel.arrays.length;
  assert.deepEqual([arrays(32), arrays(33)], [1, 3]);
  check(KINDS.f64, 33, 2, false, gpuOf(64));
});
