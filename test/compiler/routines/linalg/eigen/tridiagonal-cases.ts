/** Matrices in the middle of their reduction to tridiagonal form, as the kernels of a column find them, and what is to become of them. */
import assert from "node:assert/strict";
import type { NumberKind } from "../../../../../src/compiler/routines/linalg/field.js";
import { encodeValues } from "../../../../../src/core/storage.js";
import { undefinedBytes } from "../../../../support/interpreted-routine.js";
import {
  adjoint,
  assertNear,
  bytesFor,
  type C,
  decoded,
  encoded,
  hermitian,
  identity,
  type Matrix,
  minus,
  product,
  randomMatrix,
  times,
  transposed,
} from "../matrices.js";

/** Orders of matrices and numbers of columns. */
export const SIZES = [
  [9, 0],
  [9, 4],
  [35, 20],
  [35, 34],
] as const;

/** Filled up with zeros. */
const filled = (a: Matrix, rows: number, columns: number): Matrix =>
  Array.from({ length: rows }, (_, i) => Array.from({ length: columns }, (_, j): C => a[i]?.[j] ?? [0, 0]));

/** I - τ v vᴴ as a matrix. */
function reflection(tau: C, v: readonly C[]): Matrix {
  const outer = product(transposed([[...v]]), adjoint(transposed([[...v]])));
  return identity(v.length).map((row, i) => row.map((x, j) => minus(x, times(tau, outer[i]![j]!))));
}

/** With NaN in the columns before a step, which nobody may use. */
const unused = (a: Matrix, step: number): Matrix =>
  a.map((row) => row.map((x, j): C => (j < step ? [Number.NaN, Number.NaN] : x)));

const column = (a: Matrix, j: number): Matrix => a.map((row) => [row[j]!]);

/** Two matrices before a step: the buffers of `ColumnStep`, and checks of what it leaves there. */
export function columnCase(kind: NumberKind, n: number, step: number) {
  const batch = 2;
  const padded = 64 * Math.ceil(n / 64);
  const members = Array.from({ length: batch }, (_, seed) => {
    const [given] = randomMatrix(1, n, kind, 10 * seed + 1);
    // The vector before has a one at `step`, and a factor that makes its reflection unitary. Before the first step there is none.
    const v = given!.map((x, at): C => (step === 0 || at < step ? [0, 0] : at === step ? [1, 0] : x));
    const norm = v.reduce((sum, [re, im]) => sum + re * re + im * im, 0);
    return { a: hermitian(n, kind, seed), v, tau: [step === 0 ? 0 : 2 / norm, 0] as C };
  });
  const lines = (rows: readonly Matrix[]) =>
    encoded(
      rows.map((each) => filled(each, 1, padded)),
      kind,
    );
  const room = (count: number) => undefinedBytes(bytesFor(batch * count, kind));
  const real = () => undefinedBytes(bytesFor(batch * n, { ...kind, isComplex: false }));
  const earlier = encoded([[members.map(({ tau }): C => (step === 0 ? [Number.NaN, Number.NaN] : tau))]], kind);
  const [now, vectors, factors, made] = [room(padded), room(n * n), room(n), room(1)];
  const buffers = [
    encoded(
      members.map(({ a }) => filled(unused(a, step), padded, padded)),
      kind,
    ),
    lines(members.map(({ a, v }) => transposed(product(a, transposed([v]))))),
    lines(members.map(({ v }) => [v])),
    now,
    encodeValues([step], "i32", "count"),
    undefinedBytes(4),
    real(),
    real(),
    vectors,
    factors,
    earlier,
    made,
  ];
  /** Each matrix as the reflection before makes it, and the new vector; checks that this makes the column zero below its place. */
  const found = () =>
    members.map(({ a, v, tau }, at) => {
      const h = reflection(tau, v);
      const expected = product(product(adjoint(h), a), h);
      const vector = decoded(now, kind, 1, padded)[at]![0]!.slice(0, n);
      const factor = decoded(factors, kind, 1, n)[at]![0]![step]!;
      assert.deepEqual(decoded(made, kind, 1, batch)[0]![0]![at], factor);
      const left = product(adjoint(reflection(factor, vector)), column(expected, step)).slice(step + 2);
      const zeros = left.map(() => [[0, 0] as C]);
      assertNear(left, zeros, kind, `${n}, step ${step}, matrix ${at}: the column`, 100);
      const kept = decoded(vectors, kind, n, n)[at]![step]!;
      assertNear([kept], [vector], kind, `${n}, step ${step}, matrix ${at}: the vector that is kept`, 0);
      return { a, v, tau, expected, vector };
    });
  return { size: { n, batch, padded }, buffers, room, found };
}

/** Rows, or rows and columns, behind a step. */
export const behind = (a: Matrix, step: number, n: number): Matrix => a.slice(step + 1, n);
export const cornerBehind = (a: Matrix, step: number, n: number): Matrix =>
  behind(a, step, n).map((row) => row.slice(step + 1, n));
