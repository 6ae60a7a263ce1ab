/** The triangle of reflections, interpreted: with it their product is I - V T Vᴴ, whatever the vectors and factors are. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { NumberKind } from "../../../../../src/compiler/routines/linalg/field.js";
import { compactWyRoutine } from "../../../../../src/compiler/routines/linalg/qr/compact-wy.js";
import type { TargetProfile } from "../../../../../src/compiler/target/profile.js";
import { interpretRoutine } from "../../../../support/interpreted-routine.js";
import {
  adjoint,
  assertNear,
  bytesFor,
  decoded,
  encoded,
  gpuOf,
  identity,
  KINDS,
  kindsOn,
  type Matrix,
  minus,
  PROFILES,
  product,
  randomMatrix,
  reflectionsOf,
  routineNode,
  settings,
  softwareGpu,
  transposed,
} from "../matrices.js";

const difference = (a: Matrix, b: Matrix): Matrix => a.map((row, i) => row.map((x, j) => minus(x, b[i]![j]!)));

/** Two panels of b reflections of m rows. */
function check(m: number, b: number, kind: NumberKind, profile: TargetProfile): void {
  const vectors = [1, 2].map((seed) => randomMatrix(m, b, kind, seed));
  const factors = [3, 4].map((seed) => randomMatrix(1, b, kind, seed));
  const products = vectors.map((v) => product(adjoint(v), v));
  const routine = compactWyRoutine(nodeOf(b, kind), profile, settings);
  const inputs = [encoded(products, kind), encoded(factors, kind)];
  const [bytes] = interpretRoutine(routine, inputs, [bytesFor(2 * b * b, kind)]);
  decoded(bytes!, kind, b, b).forEach((triangle, at) => {
    const v = vectors[at]!;
    const found = difference(identity(m), product(product(v, triangle), adjoint(v)));
    assertNear(found, reflectionsOf(transposed(v), factors[at]![0]!), kind, `${kind.type} ${b} of ${m}`, 20000);
  });
}

const nodeOf = (b: number, kind: NumberKind) =>
  routineNode("compactWy", kind, [[2, b, b], [2, b]]); // biome-ignore format: two shapes

for (const [name, profile] of Object.entries(PROFILES)) {
  test(`products of reflections, two panels at once; ${name}`, () => {
    for (const kind of kindsOn(name)) for (const [m, b] of [[3, 1], [6, 5], [10, 9]] as const) check(m, b, kind, profile); // biome-ignore format: sizes
  });
}

test("a triangle that does not fit shared memory stays in its buffer", () => {
  const arrays = (b: number, kind: NumberKind) =>
    compactWyRoutine(nodeOf(b, kind), softwareGpu, settings).steps[0]!.kernel.arrays.length;
  assert.deepEqual([arrays(64, KINDS.f64), arrays(64, KINDS.c128)], [1, 0]);
  for (const kind of [KINDS.f64, KINDS.c128]) check(10, 9, kind, gpuOf(8, 512));
});
