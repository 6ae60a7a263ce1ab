/** The last columns of a tridiagonal form, interpreted: the rest behind a reflection, H A H, becomes tridiagonal. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { endKernel } from "../../../../../src/compiler/routines/linalg/eigen/tridiagonal-end.js";
import { undefinedBytes } from "../../../../support/interpreted-routine.js";
import { interpretKernel } from "../../../../support/kernel-interpreter.js";
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
  type Matrix,
  minus,
  numbersIn,
  product,
  randomMatrix,
  reflectionsOf,
  settings,
  softwareGpu,
  transposed,
} from "../matrices.js";
import { tridiagonalOf } from "./small-problems.js";

const [N, PADDED, ROWS] = [19, 64, 16];
const START = N - ROWS;

const filled = (a: Matrix, columns: number): Matrix =>
  Array.from({ length: a.length === 1 ? 1 : columns }, (_, i) =>
    Array.from({ length: columns }, (__, j): C => a[i]?.[j] ?? [0, 0]),
  );

for (const [name, profile] of Object.entries({ software: softwareGpu, "16 lanes": gpuOf(16), "64 lanes": gpuOf(64) })) {
  test(`the rest, changed by the reflection before, becomes tridiagonal; ${name}`, () => {
    for (const kind of [KINDS.f64, KINDS.c128, KINDS.f32]) {
      const a = hermitian(N, kind, 1);
      const v = randomMatrix(1, N, kind, 2)[0]!.map((x, at): C => (at < START ? [0, 0] : x));
      const tau = 2 / v.reduce((sum, [re, im]) => sum + re * re + im * im, 0);
      const h = identity(N).map((row, i) =>
        row.map((x, j) => minus(x, product([[[tau, 0]]], product([[v[i]!]], adjoint([[v[j]!]])))[0]![0]!)),
      );
      const rest = product(product(h, a), h)
        .slice(START)
        .map((row) => row.slice(START));
      const y = transposed(product(a, transposed([v])));
      const results = [
        ...[0, 1].map(() => undefinedBytes(bytesFor(N, { ...kind, isComplex: false }))),
        undefinedBytes(bytesFor(N * N, kind)),
        undefinedBytes(bytesFor(N, kind)),
      ];
      interpretKernel(endKernel({ n: N, batch: 1, padded: PADDED }, ROWS, kind, profile, settings), [
        encoded([filled(a, PADDED)], kind),
        encoded([filled(y, PADDED)], kind),
        encoded([filled([v], PADDED)], kind),
        encoded([[[[tau, 0]]]], kind),
        ...results,
      ]);
      const [diagonal, beside] = results.map((bytes) => numbersIn(bytes, kind.type).slice(START, N));
      const vectors = decoded(results[2]!, kind, N, N)[0]!.slice(START);
      for (const row of vectors) assert.deepEqual(row.slice(0, START), new Array(START).fill([0, 0]));
      const factors = decoded(results[3]!, kind, 1, N)[0]![0]!.slice(START);
      const q = reflectionsOf(vectors.map((row) => row.slice(START)), factors); // biome-ignore format: one line
      assertNear(product(adjoint(q), q), identity(ROWS), kind, "Qᴴ Q", 100);
      const made = tridiagonalOf(diagonal!, beside!);
      assertNear(product(product(adjoint(q), rest), q), made, kind, "Qᴴ R Q", 400);
      assert.equal(beside![ROWS - 1], 0);
    }
  });
}

test("whole matrices, whose last rows no lane shares with others", () => {
  for (const [kind, n] of [
    [KINDS.f64, 21],
    [KINDS.c128, 13],
    [KINDS.f32, 2],
    [KINDS.f32, 1],
  ] as const) {
    // biome-ignore format: one line
    const matrices = [hermitian(n, kind, 3), hermitian(n, kind, 4)];
    const results = [
      ...[0, 1].map(() => undefinedBytes(bytesFor(2 * n, { ...kind, isComplex: false }))),
      undefinedBytes(bytesFor(2 * n * n, kind)),
      undefinedBytes(bytesFor(2 * n, kind)),
    ];
    const size = { n, batch: 2, padded: PADDED };
    interpretKernel(endKernel(size, n, kind, gpuOf(64), settings), [encoded(matrices, kind), ...results]);
    const [diagonal, beside] = results.map((bytes) => numbersIn(bytes, kind.type));
    matrices.forEach((a, at) => {
      const factors = decoded(results[3]!, kind, 1, n)[at]![0]!;
      const q = reflectionsOf(decoded(results[2]!, kind, n, n)[at]!, factors);
      const own = (all: readonly number[]) => all.slice(at * n, (at + 1) * n);
      assertNear(product(product(adjoint(q), a), q), tridiagonalOf(own(diagonal!), own(beside!)), kind, `${n}`, 400);
    });
  }
});
