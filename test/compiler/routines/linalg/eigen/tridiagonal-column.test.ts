/** The column of a step on a CPU, interpreted: its reflection, and w of the reflection before. */
import { test } from "node:test";
import { columnKernel } from "../../../../../src/compiler/routines/linalg/eigen/tridiagonal-column.js";
import { interpretKernel } from "../../../../support/kernel-interpreter.js";
import { assertNear, conj, decoded, KINDS, minus, settings, times } from "../matrices.js";
import { columnCase, cornerBehind, SIZES } from "./tridiagonal-cases.js";

test("the reflection of a column, and w with which A - v wᴴ - w vᴴ is Hᴴ A H", () => {
  for (const kind of [KINDS.f64, KINDS.c128]) {
    for (const [n, step] of SIZES) {
      const { size, buffers, room, found } = columnCase(kind, n, step);
      const w = room(size.padded);
      interpretKernel(columnKernel(size, kind, settings), [...buffers, w]);
      found().forEach(({ a, v, expected }, at) => {
        const [own] = decoded(w, kind, 1, size.padded)[at]!;
        const changed = a.map((row, i) =>
          row.map((x, j) => minus(minus(x, times(v[i]!, conj(own![j]!))), times(own![i]!, conj(v[j]!)))),
        );
        const what = `${n}, step ${step}, matrix ${at}`;
        assertNear(cornerBehind(changed, step, n), cornerBehind(expected, step, n), kind, what, 100);
      });
    }
  }
});
