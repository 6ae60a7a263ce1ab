/** Solutions with small matrices, a row to a lane, interpreted: they are found again from their product with the matrix. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { hasRowSolve, rowSolve } from "../../../../../src/compiler/routines/linalg/triangular/row-solve.js";
import { cpuProfile } from "../../../../../src/compiler/target/profile.js";
import { interpretRoutine } from "../../../../support/interpreted-routine.js";
import { assertNear, bytesFor, type C, decoded, encoded, gpuOf, KINDS, lowerMatrix, product, randomMatrix, routineNode, settings, softwareGpu } from "../matrices.js"; // biome-ignore format: one line

for (const kind of Object.values(KINDS)) {
  test(`${kind.type}${kind.isComplex ? ", complex" : ""}: one right side and many, with the diagonal and with ones`, () => {
    // biome-ignore format: a table
    const shapes = [[2, 7, 1, false], [2, 32, 5, false], [1, 12, 4, true], [2, 5, 11, true]] as const;
    for (const [batch, n, m, isUnit] of shapes) {
      const matrices = Array.from({ length: batch }, (_, seed) =>
        lowerMatrix(n, kind, seed).map((row, i) =>
          row.map(([re, im], j): C => (i === j ? [re, im] : [re / n, im / n])),
        ),
      );
      const solutions = matrices.map((_, seed) => randomMatrix(n, m, kind, seed + 10));
      const sides = matrices.map((a, at) => {
        const effective = a.map((row, i) => row.map((x, j): C => (isUnit && i === j ? [1, 0] : x)));
        return product(effective, solutions[at]!);
      });
      const given = matrices.map((a) => a.map((row, i) => row.map((x, j): C => (j > i ? [Number.NaN, 0] : x))));
      const shape = [batch, n, m];
      const node = routineNode("solveLower", kind, [[batch, n, n], shape], { isUnit }, shape);
      const plan = rowSolve(node, batch, [n, m], settings);
      const inputs = [encoded(given, kind), encoded(sides, kind)];
      const [bytes] = interpretRoutine(plan, inputs, [bytesFor(batch * n * m, kind)]);
      decoded(bytes!, kind, n, m).forEach((found, at) => {
        assertNear(found, solutions[at]!, kind, `[${shape}], matrix ${at}`, 500);
      });
    }
  });
}

test("nothing to solve is no work, and only GPUs of 32 lanes take it", () => {
  for (const [n, m] of [
    [0, 3],
    [3, 0],
  ] as const) {
    // biome-ignore format: a table
    const node = routineNode("solveLower", KINDS.f32, [[2, n, n], [2, n, m]], {}, [2, n, m]); // biome-ignore format: one line
    assert.equal(rowSolve(node, 2, [n, m], settings).steps[0]!.kernel.rows, 0);
  }
  const known = [cpuProfile, softwareGpu, gpuOf(8), gpuOf(32)].map(({ tiles }) => hasRowSolve(tiles));
  assert.deepEqual(known, [false, false, false, true]);
});
