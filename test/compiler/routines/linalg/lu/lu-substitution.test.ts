/** Equations with small LU factors, interpreted: the solution of the factored matrix, for every kind of number. */
import { test } from "node:test";
import { luSubstitutionRoutine } from "../../../../../src/compiler/routines/linalg/lu/lu-substitution.js";
import { encodeValues } from "../../../../../src/core/storage.js";
import { interpretRoutine } from "../../../../support/interpreted-routine.js";
import {
  assertNear,
  bytesFor,
  type C,
  decoded,
  eliminated,
  encoded,
  KINDS,
  PROFILES,
  product,
  randomMatrix,
  routineNode,
  settings,
} from "../matrices.js";

test("A times the solution is the right side, in the order of rows of A", () => {
  for (const kind of Object.values(KINDS)) {
    // biome-ignore format: a table
    for (const [n, m] of [[1, 1], [2, 3], [5, 1], [8, 8], [8, 5]] as const) {
      // Large numbers below the diagonal: rows are exchanged, and the matrix is far from singular.
      const matrices = [1, 2].map((seed) =>
        randomMatrix(n, n, kind, seed).map((row, i) =>
          row.map(([re, im], j): C => [re + (i === (j + 1) % n ? 4 : 0), im]),
        ),
      );
      const sides = [3, 4].map((seed) => randomMatrix(n, m, kind, seed));
      const found = matrices.map(eliminated);
      const order = encodeValues(found.flatMap((each) => each.order), "i32", "order"); // biome-ignore format: one line
      const node = routineNode("luSubstitution", kind, [[2, n, n], [2, n, m], "counter"], {}, [2, n, m]); // biome-ignore format: one line
      const given = [encoded(found.map(({ lu }) => lu), kind), encoded(sides, kind), order]; // biome-ignore format: one line
      const plan = luSubstitutionRoutine(node, PROFILES["a CPU"]!, settings);
      const [x] = interpretRoutine(plan, given, [bytesFor(2 * n * m, kind)]);
      decoded(x!, kind, n, m).forEach((each, at) => {
        assertNear(product(matrices[at]!, each), sides[at]!, kind, `${kind.type} ${n}, ${m}: matrix ${at}`, 400);
      });
    }
  }
});
