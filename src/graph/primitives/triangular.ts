/** Triangular matrices: factors and solutions, computed one column or row after another. Batches are leading axes. */
import { DTypeError, ShapeError } from "../../core/errors.js";
import type { Node } from "../node.js";
import type { RoutinePrimitive } from "../primitive.js";

function checkFloats(name: string, nodes: readonly Node[]): void {
  for (const { dtype } of nodes) {
    if (dtype !== "f32" && dtype !== "f64") throw new DTypeError(`${name}: takes f32 and f64, not ${dtype}.`);
  }
}

/** Lower L with L·Lᵀ equal to a symmetric [.., n, n], of which the lower half is read. */
export const cholesky: RoutinePrimitive = {
  name: "cholesky",
  kind: "routine",
  infer: ([a]) => {
    checkFloats("cholesky", [a]);
    if (a.shape.length < 2 || a.shape.at(-1) !== a.shape.at(-2)) {
      throw new ShapeError(`cholesky: [${a.shape}] are no square matrices.`);
    }
    return { shape: a.shape, dtype: a.dtype };
  },
};

/** X with L·X = B, for lower L [.., n, n] and B [.., n, m]. Params: isUnit, to take the diagonal for ones. */
export const solveLower: RoutinePrimitive = {
  name: "solveLower",
  kind: "routine",
  infer: ([l, b]) => {
    checkFloats("solveLower", [l, b]);
    const rank = l.shape.length;
    const fits =
      rank >= 2 &&
      b.shape.length === rank &&
      l.shape.slice(0, -1).every((n, i) => n === b.shape[i]) &&
      l.dtype === b.dtype;
    if (!fits || l.shape[rank - 1] !== l.shape[rank - 2]) {
      throw new ShapeError(`solveLower: matrices of [${l.shape}] and right sides of [${b.shape}].`);
    }
    return { shape: b.shape, dtype: b.dtype };
  },
};
