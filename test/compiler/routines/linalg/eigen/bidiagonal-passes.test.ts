/** A matrix brought up to date, and its products with a vector on the left and on the right, interpreted. */
import { test } from "node:test";
import {
  type BidiagonalSize,
  BLOCK,
  changeKernel,
  chunkRows,
  productKernel,
} from "../../../../../src/compiler/routines/linalg/eigen/bidiagonal-passes.js";
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
  KINDS,
  type Matrix,
  minus,
  PROFILES,
  plus,
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
const from = (v: readonly C[], first: number): C[] => v.map((x, at) => (at >= first ? x : [0, 0]));

// biome-ignore format: a table
const STEPS = [[2, 0], [9, 0], [9, 4], [35, 20]] as const;

for (const [name, profile] of Object.entries(PROFILES)) {
  test(`A - v ŷ - ẑ uᴴ with its products with the next v, and τ (A u - v (ŷ u)); ${name}`, () => {
    for (const kind of [KINDS.f64, KINDS.c128]) {
      for (const [n, step] of STEPS) {
        const padded = BLOCK * Math.ceil(n / BLOCK);
        const chunk = chunkRows(profile);
        const size: BidiagonalSize = { n, batch: BATCH, padded, chunk, chunks: Math.ceil(n / chunk) };
        const members = Array.from({ length: BATCH }, (_, seed) => {
          const line = (which: number, first: number) => from(randomMatrix(1, n, kind, 10 * seed + which)[0]!, first);
          return {
            a: randomMatrix(n, n, kind, seed),
            y: line(1, step),
            u: line(2, step),
            z: line(3, step),
            before: line(4, step),
            now: line(5, step),
            next: line(6, step + 1),
            inner: line(7, 0).slice(0, 1),
            factors: randomMatrix(2, n, kind, 10 * seed + 8),
          };
        });
        type Part = "y" | "u" | "z" | "before" | "now" | "next";
        const line = (part: Part) => encoded(members.map((each) => filled([each[part]], 1, padded)), kind); // biome-ignore format: one line
        const a = encoded(members.map((each) => filled(each.a, padded, padded)), kind); // biome-ignore format: one line
        const sums = undefinedBytes(bytesFor(BATCH * size.chunks * padded, kind));
        const count = encodeValues([step + 1], "i32", "count");
        const lines = (["y", "u", "z", "before", "now"] as const).map(line);
        interpretKernel(changeKernel(size, kind, profile, settings), [a, ...lines, count, sums]);
        const z = undefinedBytes(bytesFor(BATCH * padded, kind));
        const [inner, factors] = (["inner", "factors"] as const).map(
          (part) =>
          encoded(members.map((each) => (part === "inner" ? [each.inner] : each.factors)), kind), // biome-ignore format: one line
        );
        const given = [a, line("next"), line("now"), inner!, count, factors!, z];
        interpretKernel(productKernel(size, kind, profile, settings), given);
        const [changed, parts] = [decoded(a, kind, padded, padded), decoded(sums, kind, size.chunks, padded)];
        const products = decoded(z, kind, 1, padded);
        members.forEach(({ a: matrix, y, u, z: beside, before, now, next, inner: [less], factors: [taus] }, at) => {
          const what = `${n}, step ${step}, matrix ${at}`;
          const expected = matrix.map((row, i) =>
            row.map((x, j) => minus(minus(x, times(before[i]!, y[j]!)), times(beside[i]!, conj(u[j]!)))),
          );
          const rest = (x: Matrix, first: number) => x.slice(first, n).map((row) => row.slice(step + 1, n));
          assertNear(rest(changed[at]!, step), rest(expected, step), kind, what, 8);
          const chunks = parts[at]!.slice(Math.floor(step / chunk));
          const total = chunks.reduce((sum, row) => sum.map((x, j) => plus(x, row[j]!)));
          const left = product([now.map(conj)], expected);
          assertNear([total.slice(step + 1, n)], [left[0]!.slice(step + 1)], kind, `${what}, vᴴ A`, 100);
          const right = product(expected, transposed([next])).map(([x], i) => [
            times(taus![step]!, minus(x!, times(now[i]!, less!))),
          ]);
          assertNear(transposed(products[at]!).slice(step + 1, n), right.slice(step + 1), kind, `${what}, A u`, 100);
        });
      }
    }
  });
}
