/** A matrix changed by a reflection, and its product with a vector, interpreted: both behind the column of the step. */
import { test } from "node:test";
import { productKernel } from "../../../../../src/compiler/routines/linalg/eigen/tridiagonal-product.js";
import { encodeValues } from "../../../../../src/core/storage.js";
import { undefinedBytes } from "../../../../support/interpreted-routine.js";
import { interpretKernel } from "../../../../support/kernel-interpreter.js";
import {
  assertNear,
  bytesFor,
  type C,
  conj,
  decoded,
  encoded,
  hermitian,
  KINDS,
  type Matrix,
  minus,
  product,
  randomMatrix,
  settings,
  times,
  transposed,
} from "../matrices.js";

const BATCH = 2;

/** Filled up with zeros. */
const filled = (a: Matrix, rows: number, columns: number): Matrix =>
  Array.from({ length: rows }, (_, i) => Array.from({ length: columns }, (_, j): C => a[i]?.[j] ?? [0, 0]));

/** From a position on. */
const behind = (v: readonly C[], step: number): C[] => v.map((x, at) => (at > step ? x : [0, 0]));

test("A - v wᴴ - w vᴴ, and its product with the next vector", () => {
  for (const kind of [KINDS.f64, KINDS.c128]) {
    for (const [n, step] of [
      [1, 0],
      [9, 0],
      [9, 4],
      [35, 20],
    ] as const) {
      // biome-ignore format: a table
      const padded = 64 * Math.ceil(n / 64);
      const members = Array.from({ length: BATCH }, (_, seed) => {
        const [v, w, next] = [1, 2, 3].map((which) => randomMatrix(1, n, kind, 10 * seed + which)[0]!);
        return {
          a: hermitian(n, kind, seed),
          v: behind(v!, step - 1),
          w: behind(w!, step - 1),
          next: behind(next!, step),
        };
      });
      const line = (part: "v" | "w" | "next") => encoded(members.map((each) => filled([each[part]], 1, padded)), kind); // biome-ignore format: one line
      const [to, y] = [padded * padded, padded].map((count) => undefinedBytes(bytesFor(BATCH * count, kind)));
      interpretKernel(productKernel({ n, batch: BATCH, padded }, kind, settings), [
        encoded(members.map(({ a }) => filled(a, padded, padded)), kind), // biome-ignore format: one line
        to!,
        line("v"),
        line("next"),
        line("w"),
        encodeValues([step + 1], "i32", "count"),
        y!,
      ]);
      const [changed, products] = [decoded(to!, kind, padded, padded), decoded(y!, kind, 1, padded)];
      members.forEach(({ a, v, w, next }, at) => {
        const expected = a.map((row, i) =>
          row.map((x, j) => minus(minus(x, times(v[i]!, conj(w[j]!))), times(w[i]!, conj(v[j]!)))),
        );
        const rest = (x: Matrix) => x.slice(step + 1, n).map((row) => row.slice(step + 1, n));
        const what = `${n}, step ${step}, matrix ${at}`;
        assertNear(rest(changed[at]!), rest(expected), kind, what, 8);
        const made = product(expected, transposed([next])).slice(step + 1, n);
        assertNear(transposed(products[at]!).slice(step + 1, n), made, kind, `${what}, product`, 100);
      });
    }
  }
});
