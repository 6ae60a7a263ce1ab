/** Solutions in steps, interpreted on grids of several sizes: they are found again from their product with the matrix. */
import { test } from "node:test";
import { steppedSolve } from "../../../../src/compiler/routines/linalg/stepped-solve.js";
import { interpretRoutine } from "../../../support/interpreted-routine.js";
import { assertNear, bytesFor, type C, decoded, encoded, KINDS, lowerMatrix, product, randomMatrix, routineNode, settings } from "./matrices.js"; // biome-ignore format: one line

/** Small multipliers: solutions with unit diagonals would grow without bounds. */
const gentle = (n: number, kind: (typeof KINDS)[keyof typeof KINDS], seed: number) =>
  lowerMatrix(n, kind, seed).map((row, i) => row.map(([re, im], j): C => (i === j ? [re, im] : [re / n, im / n])));

for (const [side, block] of [
  [4, 16],
  [8, 16],
] as const) {
  // biome-ignore format: one line
  for (const kind of [KINDS.f64, KINDS.c128]) {
    for (const isUnit of [false, true]) {
      const how = `${kind.isComplex ? "complex" : "real"}${isUnit ? ", unit diagonal" : ""}`;
      test(`a grid of ${side} × ${side} lanes, blocks of ${block}, ${how}`, () => {
        for (const [batch, n, m] of [[2, 21, 18], [1, 37, 5], [1, 32, 16]] as const) { // biome-ignore format: one line
          const matrices = Array.from({ length: batch }, (_, seed) => gentle(n, kind, seed));
          const solutions = matrices.map((_, seed) => randomMatrix(n, m, kind, seed + 10));
          const sides = matrices.map((a, at) => {
            const effective = a.map((row, i) => row.map((x, j): C => (isUnit && i === j ? [1, 0] : x)));
            return product(effective, solutions[at]!);
          });
          const given = matrices.map((a) => a.map((row, i) => row.map((x, j): C => (j > i ? [Number.NaN, 0] : x))));
          const node = routineNode("solveLower", kind, [[batch, n, n], [batch, n, m]], { isUnit }, [batch, n, m]); // biome-ignore format: one line
          const plan = steppedSolve(node, batch, [n, m], { side, block }, settings);
          const inputs = [encoded(given, kind), encoded(sides, kind)];
          const [bytes] = interpretRoutine(plan, inputs, [bytesFor(batch * n * m, kind)]);
          decoded(bytes!, kind, n, m).forEach((found, at) => {
            assertNear(found, solutions[at]!, kind, `[${batch}, ${n}, ${m}], matrix ${at}`, 500);
          });
        }
      });
    }
  }
}
