/** Real matrices as lists of rows, by loops: the tests of decompositions multiply back with them. */
import assert from "node:assert/strict";

export type Rows = readonly (readonly number[])[];

/** Elements in row-major order, as rows of `columns`. */
export const rowsOf = (values: readonly number[], columns: number): number[][] =>
  Array.from({ length: columns === 0 ? 0 : values.length / columns }, (_, i) =>
    values.slice(i * columns, (i + 1) * columns),
  );

export const times = (a: Rows, b: Rows): number[][] =>
  a.map((row) => (b[0] ?? []).map((_, j) => row.reduce((sum, x, k) => sum + x * b[k]![j]!, 0)));

export const turned = (a: Rows): number[][] => (a[0] ?? []).map((_, j) => a.map((row) => row[j]!));

export const diagonalOf = (values: readonly number[]): number[][] =>
  values.map((x, i) => values.map((_, j) => (i === j ? x : 0)));

export function assertNear(got: Rows, want: Rows, tolerance = 1e-12): void {
  assert.equal(got.length, want.length);
  got.forEach((row, i) => {
    assert.equal(row.length, want[i]!.length);
    row.forEach((x, j) => {
      assert.ok(Math.abs(x - want[i]![j]!) <= tolerance, `[${i}, ${j}] is ${x}, not ${want[i]![j]}`);
    });
  });
}

/** Columns of length 1 that are orthogonal to one another. */
export const assertOrthonormal = (columns: Rows, tolerance = 1e-12): void =>
  assertNear(times(turned(columns), columns), diagonalOf((columns[0] ?? []).map(() => 1)), tolerance);
