/** The triangle of reflections, interpreted: with it their product is I - V T Vᴴ, whatever the vectors and factors are. */
import { test } from "node:test";
import { compactWyRoutine } from "../../../../../src/compiler/routines/linalg/qr/compact-wy.js";
import { interpretRoutine } from "../../../../support/interpreted-routine.js";
import {
  adjoint,
  assertNear,
  bytesFor,
  decoded,
  encoded,
  identity,
  kindsOn,
  type Matrix,
  minus,
  PROFILES,
  product,
  randomMatrix,
  reflectionsOf,
  routineNode,
  settings,
  transposed,
} from "../matrices.js";

const difference = (a: Matrix, b: Matrix): Matrix => a.map((row, i) => row.map((x, j) => minus(x, b[i]![j]!)));

for (const [name, profile] of Object.entries(PROFILES)) {
  test(`products of reflections, two panels at once; ${name}`, () => {
    for (const kind of kindsOn(name)) {
      for (const [m, b] of [
        [3, 1],
        [6, 5],
        [10, 9],
      ] as const) {
        const vectors = [1, 2].map((seed) => randomMatrix(m, b, kind, seed));
        const factors = [3, 4].map((seed) => randomMatrix(1, b, kind, seed));
        const products = vectors.map((v) => product(adjoint(v), v));
        const node = routineNode("compactWy", kind, [[2, b, b], [2, b]]); // biome-ignore format: two shapes
        const inputs = [encoded(products, kind), encoded(factors, kind)];
        const [bytes] = interpretRoutine(compactWyRoutine(node, profile, settings), inputs, [
          bytesFor(2 * b * b, kind),
        ]);
        decoded(bytes!, kind, b, b).forEach((triangle, at) => {
          const v = vectors[at]!;
          const found = difference(identity(m), product(product(v, triangle), adjoint(v)));
          assertNear(found, reflectionsOf(transposed(v), factors[at]![0]!), kind, `${kind.type} ${b} of ${m}`, 20000);
        });
      }
    }
  });
}
