/** Panels of reflections, interpreted: their product is unitary and makes the panel upper triangular. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { NumberKind } from "../../../../../src/compiler/routines/linalg/field.js";
import { householderRoutine } from "../../../../../src/compiler/routines/linalg/qr/householder.js";
import type { TargetProfile } from "../../../../../src/compiler/target/profile.js";
import { encodeValues } from "../../../../../src/core/storage.js";
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
  PROFILES,
  product,
  randomMatrix,
  reflectionsOf,
  routineNode,
  settings,
  transposed,
} from "../matrices.js";

/** Rows and columns of the matrix, columns of a panel, and its number. */
type Panel = readonly [m: number, n: number, width: number, number: number];

// biome-ignore format: a table
const PANELS: readonly Panel[] = [
  [1, 1, 1, 0], [9, 5, 5, 0], [12, 8, 4, 1], [9, 7, 4, 1], [5, 9, 4, 1], [40, 3, 3, 0], [6, 2, 9, 0],
];

function panelOf(a: Matrix, [, n, width, number]: Panel): Matrix {
  const first = width * number;
  return a.map((row, i) =>
    Array.from({ length: width }, (_, j): C => (i < first || first + j >= n ? [0, 0] : row[first + j]!)),
  );
}

function check(kind: NumberKind, panel: Panel, profile: TargetProfile, change = (a: Matrix) => a) {
  const [m, n, width, number] = panel;
  const first = width * number;
  const matrices = [1, 2].map((seed) => change(randomMatrix(m, n, kind, seed)));
  const node = routineNode("householder", kind, [[2, m, n], "counter"], { width });
  const plan = householderRoutine(node, profile, settings);
  const inputs = [encoded(matrices, kind), encodeValues([number], "i32", "counter")];
  const sizes = [2 * m * width, 2 * width, 2 * width * width].map((count) => bytesFor(count, kind));
  const found = interpretRoutine(plan, inputs, sizes);
  const vectors = decoded(found[0]!, kind, m, width);
  const factors = decoded(found[1]!, kind, 1, width);
  const triangles = decoded(found[2]!, kind, width, width);
  matrices.forEach((a, at) => {
    const what = `${kind.type} [${panel}], matrix ${at}`;
    const q = reflectionsOf(transposed(vectors[at]!), factors[at]![0]!);
    assertNear(product(adjoint(q), q), identity(m), kind, `${what}, Qᴴ Q`, 100);
    const expected = Array.from({ length: m }, (_, i) =>
      Array.from({ length: width }, (_, j): C => (i < first ? [0, 0] : (triangles[at]![i - first]?.[j] ?? [0, 0]))),
    );
    assertNear(product(adjoint(q), panelOf(a, panel)), expected, kind, `${what}, Qᴴ A`, 200);
    triangles[at]!.forEach((row, i) => {
      row.forEach((x, j) => {
        if (i > j || i >= m - first) assert.deepEqual(x.map(Math.abs), [0, 0], `${what}: R at ${i}, ${j}`);
      });
    });
    vectors[at]!.forEach((row, i) => {
      row.forEach((x, j) => {
        if (i < first + j) assert.deepEqual(x.map(Math.abs), [0, 0], `${what}: V at ${i}, ${j}`);
        else if (i === first + j) assert.deepEqual(x, [1, 0], `${what}: V at ${i}, ${j}`);
      });
    });
  });
}

for (const [name, profile] of [...Object.entries(PROFILES), ["32 lanes, panels in memory", gpuOf(32, 256)] as const]) {
  test(`two matrices; ${name}`, () => {
    for (const kind of kindsOn(name)) for (const panel of PANELS) check(kind, panel, profile);
  });
}

test("columns of zeros, and those that are triangular already, need no reflection", () => {
  for (const profile of Object.values(PROFILES)) {
    check(KINDS.f64, [7, 4, 4, 0], profile, (a) => a.map((row) => row.map((x, j): C => (j === 1 ? [0, 0] : x))));
    check(KINDS.c128, [5, 5, 5, 0], profile, (a) => a.map((row, i) => row.map((x, j): C => (i > j ? [0, 0] : x))));
  }
});
