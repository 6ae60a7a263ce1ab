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
  // Murray: Differentiation of the Cholesky decomposition; 2016. Only the lower half of a is read.
  jvp: (g, l, [t]) => {
    if (!t) return null;
    const below = g.lowerPart(t, 0);
    const symmetric = g.add(g.lowerPart(t), g.transposed(below));
    const left = g.solveLower(l, symmetric, false);
    const inner = g.solveLower(l, g.transposed(left), false);
    return g.matmul(l, g.lowerPart(inner, 0.5));
  },
  vjp: (g, l, ct) => {
    const inner = g.lowerPart(g.matmul(g.transposed(l), g.lowerPart(ct)), 0.5);
    const left = g.solveLowerTransposed(l, inner, false);
    const whole = g.transposed(g.solveLowerTransposed(l, g.transposed(left), false));
    // An element below the diagonal also represents its mirror image above.
    return [g.add(g.lowerPart(whole), g.lowerPart(g.transposed(whole), 0))];
  },
  batch: (g, { primitive, params }, [{ node: a }]) => g.move(primitive, [a], params),
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
  jvp: (g, x, [tl, tb]) => {
    const [l, b] = x.inputs;
    const isUnit = x.params.isUnit === true;
    const moved = tl && g.matmul(g.lowerPart(tl, isUnit ? 0 : 1), x);
    const change = moved ? g.sub(tb ?? g.zeros(b.shape, b), moved) : tb;
    return change && g.solveLower(l, change, isUnit);
  },
  vjp: (g, x, ct) => {
    const isUnit = x.params.isUnit === true;
    const ofB = g.solveLowerTransposed(x.inputs[0], ct, isUnit);
    return [g.neg(g.lowerPart(g.matmul(ofB, g.transposed(x)), isUnit ? 0 : 1)), ofB];
  },
  batch: (g, { primitive, params }, inputs, size) => {
    const both = inputs.map(({ node, isBatched }) => (isBatched ? node : g.broadcast(node, [size, ...node.shape])));
    return g.move(primitive, both, params);
  },
};
