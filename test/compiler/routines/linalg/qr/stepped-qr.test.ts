/** QR decompositions in steps, interpreted: Q is orthonormal, R a triangle, and their product the matrix. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { steppedQr, steppedQrRoutine } from "../../../../../src/compiler/routines/linalg/qr/stepped-qr.js";
import { cpuProfile } from "../../../../../src/compiler/target/profile.js";
import { interpretRoutine } from "../../../../support/interpreted-routine.js";
import { adjoint, assertNear, bytesFor, type C, decoded, encoded, identity, KINDS, type Matrix, product, randomMatrix, routineNode, settings } from "../matrices.js"; // biome-ignore format: one line

type Kind = (typeof KINDS)[keyof typeof KINDS];

function nodeOf(kind: Kind, [batch, m, n]: readonly [number, number, number], columns: number) {
  const shaped = (...shape: readonly number[]) => ({ shape: kind.isComplex ? [...shape, 2] : shape, dtype: kind.type });
  const outputs = [shaped(batch, m, columns), shaped(batch, Math.min(m, n), n)];
  return routineNode("steppedQr", kind, [[batch, m, n]], { columns, outputs });
}

function check(matrices: readonly Matrix[], kind: Kind, columns: number): void {
  const [batch, m, n] = [matrices.length, matrices[0]!.length, matrices[0]![0]!.length];
  const high = Math.min(m, n);
  const grid = { lanes: 8, perLane: Math.ceil(m / 8), width: 4, tileLanes: 16 };
  const plan = steppedQr(nodeOf(kind, [batch, m, n], columns), batch, [m, n], grid, settings);
  const sizes = [bytesFor(batch * m * columns, kind), bytesFor(batch * high * n, kind)];
  const [first, second] = interpretRoutine(plan, [encoded(matrices, kind)], sizes);
  matrices.forEach((a, at) => {
    const [q, r] = [decoded(first!, kind, m, columns)[at]!, decoded(second!, kind, high, n)[at]!];
    const what = `[${m}, ${n}], ${columns} columns, matrix ${at}`;
    assertNear(product(q.map((row) => row.slice(0, high)), r), a, kind, `${what}: product`, 200); // biome-ignore format: one line
    assertNear(product(adjoint(q), q), identity(columns), kind, `${what}: orthonormal`, 200);
    r.forEach((row, i) => {
      assert.ok(row.slice(0, i).every(([re, im]) => re === 0 && im === 0), `${what}: below the diagonal`); // biome-ignore format: one line
    });
  });
}

for (const kind of [KINDS.f64, KINDS.c128]) {
  test(`tall, square and wide matrices, reduced and complete, ${kind.isComplex ? "complex" : "real"}`, () => {
    // m, n, columns of Q
    for (const [m, n, columns] of [
      [13, 13, 13],
      [21, 10, 10],
      [14, 6, 14],
      [6, 22, 6],
    ] as const) {
      // biome-ignore format: a table
      check([1, 2].map((seed) => randomMatrix(m, n, kind, seed)), kind, columns); // biome-ignore format: one line
    }
  });
}

test("matrices without full rank, and zeros", () => {
  const a = randomMatrix(14, 4, KINDS.f64, 3);
  const repeated = a.map((row) => [...row, ...row, ...row]);
  check([repeated, repeated.map((row) => row.map((): C => [0, 0]))], KINDS.f64, 12);
});

test("four kernels do all steps; devices without panels are told", () => {
  const node = nodeOf(KINDS.f32, [1, 40, 40], 40);
  const grid = { lanes: 8, perLane: 5, width: 4, tileLanes: 16 };
  const names = new Set(steppedQr(node, 1, [40, 40], grid, settings).steps.map(({ kernel }) => kernel.name));
  assert.equal(names.size, 4);
  assert.throws(() => steppedQrRoutine(node, cpuProfile, settings), /there are no panels for matrices of \[40,40\]/);
});
