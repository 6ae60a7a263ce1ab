/** Reflections applied to strips, interpreted, against products by definition: to the rest of a matrix, and to Q. */
import { test } from "node:test";
import { MatrixKernel } from "../../../../../src/compiler/routines/linalg/matrix-kernel.js";
import { blockReflectionKernel, stripsOf } from "../../../../../src/compiler/routines/linalg/qr/block-reflection.js";
import { encodeValues } from "../../../../../src/core/storage.js";
import { undefinedBytes } from "../../../../support/interpreted-routine.js";
import { interpretKernel } from "../../../../support/kernel-interpreter.js";
import { adjoint, assertNear, bytesFor, decoded, encoded, identity, KINDS, type Matrix, minus, product, randomMatrix, routineNode, settings } from "../matrices.js"; // biome-ignore format: one line

const [width, panels] = [4, 2];
const less = (a: Matrix, b: Matrix): Matrix => a.map((row, i) => row.map((x, j) => minus(x, b[i]![j]!)));
const part = (a: Matrix, row: number, column: number): Matrix => a.slice(row).map((line) => line.slice(column));

for (const kind of [KINDS.f64, KINDS.c128]) {
  const how = kind.isComplex ? "complex" : "real";
  /** Random vectors and triangles: the kernels need not know that they are reflections. */
  const run = (m: number, columns: number, what: "rest" | "basis", count: number, lanes: number) => {
    const a = randomMatrix(m, columns, kind, 1);
    const v = [1, 2].map((seed) => randomMatrix(m, width, kind, 20 + seed));
    const t = [1, 2].map((seed) => randomMatrix(width, width, kind, 30 + seed));
    const node = routineNode("steppedQr", kind, [[1, m, columns]]);
    const kernel = new MatrixKernel(what, stripsOf(columns), lanes, node, settings);
    const shape = { m, n: columns, panels, grid: { lanes, perLane: Math.ceil(m / lanes), width, tileLanes: lanes } };
    const high = Math.min(m, columns);
    const [to, r, next] = [bytesFor(m * columns, kind), bytesFor(high * columns, kind), 4].map(undefinedBytes);
    const numbers = [encodeValues([count], "i32", "step"), next!];
    const given = [encoded([a], kind), encoded(v, kind), encoded(t, kind), to!];
    const made = blockReflectionKernel(kernel, shape, columns, what);
    interpretKernel(made, what === "rest" ? [...given, r!, ...numbers] : [...given, ...numbers]);
    return { a, v, t, to: decoded(to!, kind, m, columns)[0]!, r: decoded(r!, kind, high, columns)[0]! };
  };

  test(`the rest of a matrix: rows of the panel are rows of R, ${how}`, () => {
    for (const [m, columns, count, lanes] of [
      [13, 26, 0, 16],
      [22, 22, 1, 8],
    ] as const) {
      // biome-ignore format: a table
      const { a, v, t, to, r } = run(m, columns, "rest", count, lanes);
      const [first, next] = [count * width, (count + 1) * width];
      const own = part(v[count]!, first, 0);
      const given = part(a, first, next);
      const expected = less(given, product(own, product(adjoint(t[count]!), product(adjoint(own), given))));
      assertNear(part(r, first, next).slice(0, width), expected.slice(0, width), kind, "R", 5000);
      assertNear(part(to, next, next), expected.slice(width), kind, "rest", 5000);
    }
  });

  test(`columns of Q: the identity at first, then what was written before, ${how}`, () => {
    for (const [m, columns, lanes] of [
      [13, 7, 16],
      [19, 19, 8],
    ] as const) {
      // biome-ignore format: a table
      for (const count of [0, 1]) {
        const { a, v, t, to } = run(m, columns, "basis", count, lanes);
        const step = panels - 1 - count;
        const [first, next] = [step * width, (step + 1) * width];
        const whole = identity(m).map((row) => row.slice(0, columns));
        const known = whole.map((row, i) => row.map((x, j) => (count > 0 && i >= next && j >= next ? a[i]![j]! : x)));
        const own = part(v[step]!, first, 0);
        const given = part(known, first, first);
        const expected = less(given, product(own, product(t[step]!, product(adjoint(own), given))));
        assertNear(part(to, first, first), expected, kind, `[${m}, ${columns}], step ${step}`, 5000);
      }
    }
  });
}
