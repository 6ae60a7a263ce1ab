/** Triangular matrices: factors and solutions. Batches are leading axes; numbers are f32, f64, c64 or c128. */
import { DTypeError, ShapeError } from "../../../core/errors.js";
import type { Node } from "../../node.js";
import type { BatchedInput, RoutinePrimitive } from "../../primitive.js";
import type { GraphOps } from "../../vocabulary.js";

const NUMBERS: ReadonlySet<string> = new Set(["f32", "f64", "c64", "c128"]);

export function checkNumbers(name: string, nodes: readonly Node[]): void {
  for (const { dtype } of nodes) {
    if (!NUMBERS.has(dtype)) throw new DTypeError(`${name}: takes f32, f64, c64 and c128, not ${dtype}.`);
  }
}

export function checkSquares(name: string, { shape }: Node): void {
  if (shape.length >= 2 && shape.at(-1) === shape.at(-2)) return;
  throw new ShapeError(`${name}: [${shape}] are no square matrices.`);
}

/** All inputs with the batch as their first axis. */
export const wholeBatch = (g: GraphOps, inputs: readonly BatchedInput[], size: number): Node[] =>
  inputs.map(({ node, isBatched }) => (isBatched ? node : g.broadcast(node, [size, ...node.shape])));

/** Lower L with L·Lᴴ equal to a Hermitian [.., n, n], of which the lower half is read, and the real part of the diagonal. */
export const cholesky: RoutinePrimitive = {
  name: "cholesky",
  kind: "routine",
  takesComplex: true,
  infer: ([a]) => {
    checkNumbers("cholesky", [a]);
    checkSquares("cholesky", a);
    return { shape: a.shape, dtype: a.dtype };
  },
  // Murray: Differentiation of the Cholesky decomposition; 2016. Only the lower half of a is read.
  jvp: (g, l, [t]) => {
    if (!t) return null;
    const symmetric = g.add(g.lowerPart(g.withRealDiagonal(t)), g.adjoint(g.lowerPart(t, 0)));
    const left = g.solveLower(l, symmetric, false);
    const inner = g.solveLower(l, g.adjoint(left), false);
    return g.matmul(l, g.lowerPart(inner, 0.5));
  },
  vjp: (g, l, ct) => {
    const inner = g.lowerPart(g.matmul(g.transposed(l), g.lowerPart(ct)), 0.5);
    const left = g.solveLowerTransposed(l, inner, false);
    const whole = g.transposed(g.solveLowerTransposed(g.conjugate(l), g.transposed(left), false));
    // An element below the diagonal also represents its mirror image above.
    return [g.withRealDiagonal(g.add(g.lowerPart(whole), g.lowerPart(g.adjoint(whole), 0)))];
  },
  batch: (g, { primitive, params }, [{ node: a }]) => g.move(primitive, [a], params),
};

/** X with L·X = B, for lower L [.., n, n] and B [.., n, m]. Params: isUnit, to take the diagonal for ones. */
export const solveLower: RoutinePrimitive = {
  name: "solveLower",
  kind: "routine",
  takesComplex: true,
  infer: ([l, b]) => {
    checkNumbers("solveLower", [l, b]);
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
  batch: (g, { primitive, params }, inputs, size) => g.move(primitive, wholeBatch(g, inputs, size), params),
};
