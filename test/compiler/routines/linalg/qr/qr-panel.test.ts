/** The reflections of a panel, interpreted: they make it a triangle, and their compact form is their product. */
import { test } from "node:test";
import { MatrixKernel } from "../../../../../src/compiler/routines/linalg/matrix-kernel.js";
import { qrPanelKernel } from "../../../../../src/compiler/routines/linalg/qr/qr-panel.js";
import { encodeValues } from "../../../../../src/core/storage.js";
import { undefinedBytes } from "../../../../support/interpreted-routine.js";
import { interpretKernel } from "../../../../support/kernel-interpreter.js";
import { adjoint, assertNear, bytesFor, type C, decoded, encoded, identity, KINDS, type Matrix, minus, product, randomMatrix, routineNode, settings } from "../matrices.js"; // biome-ignore format: one line

const less = (a: Matrix, b: Matrix): Matrix => a.map((row, i) => row.map((x, j) => minus(x, b[i]![j]!)));

test("Q = I - V T Vᴴ is orthonormal, and Qᴴ times the panel is R, with zeros below; first and second panel", () => {
  const width = 4;
  for (const kind of [KINDS.f64, KINDS.c128]) {
    for (const [m, n, lanes, step] of [
      [9, 8, 8, 0],
      [19, 11, 8, 0],
      [19, 11, 16, 1],
      [6, 6, 8, 1],
    ] as const) {
      // biome-ignore format: a table
      const a = randomMatrix(m, n, kind, 4);
      const panels = Math.ceil(Math.min(m, n) / width);
      const shape = { m, n, panels, grid: { lanes, perLane: Math.ceil(m / lanes), width, tileLanes: 16 } };
      const kernel = new MatrixKernel("panel", 1, lanes, routineNode("steppedQr", kind, [[1, m, n]]), settings);
      const sizes = [panels * m * width, panels * width * width, Math.min(m, n) * n];
      const [vectors, triangles, r] = sizes.map((count) => undefinedBytes(bytesFor(count, kind)));
      const number = encodeValues([step], "i32", "step");
      interpretKernel(qrPanelKernel(kernel, shape), [encoded([a], kind), vectors!, triangles!, r!, number]);
      const first = step * width;
      const v = decoded(vectors!, kind, m, width)[step]!.slice(first);
      const t = decoded(triangles!, kind, width, width)[step]!;
      const q = less(identity(m - first), product(product(v, t), adjoint(v)));
      assertNear(product(adjoint(q), q), identity(m - first), kind, `[${m}, ${n}]: orthonormal`, 100);
      const columns = a.slice(first).map((row) => row.slice(first, first + width));
      const high = Math.min(m, n) - first;
      const found = decoded(r!, kind, Math.min(m, n), n)[0]!.slice(first).map((row) => row.slice(first, first + width)); // biome-ignore format: one line
      const zeros = columns.slice(high).map((row) => row.map((): C => [0, 0]));
      assertNear(product(adjoint(q), columns), [...found, ...zeros], kind, `[${m}, ${n}]: triangle`, 100);
    }
  }
});
