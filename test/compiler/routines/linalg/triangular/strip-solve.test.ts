/** Solutions by strips, interpreted on workgroups of several sizes: they are found again from their product with the matrix. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  stripLanes,
  stripRows,
  stripSolve,
} from "../../../../../src/compiler/routines/linalg/triangular/strip-solve.js";
import { cpuProfile } from "../../../../../src/compiler/target/profile.js";
import { interpretRoutine } from "../../../../support/interpreted-routine.js";
import { assertNear, bytesFor, type C, decoded, encoded, gpuOf, KINDS, lowerMatrix, product, randomMatrix, routineNode, settings, softwareGpu } from "../matrices.js"; // biome-ignore format: one line

/** Small multipliers: solutions with unit diagonals would grow without bounds. */
const gentle = (n: number, kind: (typeof KINDS)[keyof typeof KINDS], seed: number) =>
  lowerMatrix(n, kind, seed).map((row, i) => row.map(([re, im], j): C => (i === j ? [re, im] : [re / n, im / n])));

for (const lanes of [16, 64]) {
  for (const kind of [KINDS.f64, KINDS.c128]) {
    for (const isUnit of [false, true]) {
      const how = `${kind.isComplex ? "complex" : "real"}${isUnit ? ", unit diagonal" : ""}`;
      test(`${lanes} lanes, ${how}`, () => {
        for (const [batch, n, m] of [
          [2, 21, 18],
          [1, 37, 5],
          [1, 32, 16],
        ] as const) {
          // biome-ignore format: one line
          const matrices = Array.from({ length: batch }, (_, seed) => gentle(n, kind, seed));
          const solutions = matrices.map((_, seed) => randomMatrix(n, m, kind, seed + 10));
          const sides = matrices.map((a, at) => {
            const effective = a.map((row, i) => row.map((x, j): C => (isUnit && i === j ? [1, 0] : x)));
            return product(effective, solutions[at]!);
          });
          const given = matrices.map((a) => a.map((row, i) => row.map((x, j): C => (j > i ? [Number.NaN, 0] : x))));
          const node = routineNode("solveLower", kind, [[batch, n, n], [batch, n, m]], { isUnit }, [batch, n, m]); // biome-ignore format: one line
          const plan = stripSolve(node, batch, [n, m], lanes, settings);
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

test("a strip fits shared memory, and one twice as high would not, or is not wanted", () => {
  for (const kind of Object.values(KINDS)) {
    for (const bytes of [16384, 32768, 49152, 1 << 17]) {
      const { tiles } = gpuOf(256, bytes);
      const rows = stripRows(kind, tiles);
      const needed = (n: number) => {
        const node = routineNode("solveLower", kind, [[n, n], [n, 16]], {}, [n, 16]); // biome-ignore format: one line
        const { arrays } = stripSolve(node, 1, [n, 16], stripLanes(tiles), settings).steps[0]!.kernel;
        return arrays.reduce((sum, { size, type }) => sum + size * (type === "f64" ? 8 : 4), 0);
      };
      if (rows > 0) assert.ok(needed(rows) <= bytes, `${kind.type}, ${bytes}: ${rows}`);
      assert.ok(rows === 512 || needed(Math.max(64, 2 * rows)) > bytes, `${kind.type}, ${bytes}: ${rows}`);
    }
    assert.deepEqual([cpuProfile, softwareGpu, gpuOf(8)].map(({ tiles }) => stripRows(kind, tiles)), [0, 0, 0]); // biome-ignore format: one line
  }
});
