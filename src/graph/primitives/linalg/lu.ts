/**
 * LU factors with partial pivoting, and equations solved with them. Batches are leading axes; numbers are f32, f64, c64 or
 * c128.
 *
 * `lu` of [.., m, n] gives three results. First both factors in one matrix [.., m, n]: below the diagonal those of the unit
 * lower L, the rest is the upper U. Then LAPACK's pivots, i32 [.., min(m, n)]: row i was exchanged with row pivots[i], in that
 * order. Then the order of rows they lead to, i32 [.., m]: row i of L·U is row order[i] of a. Where a column has only zeros
 * left, its pivot is zero, and elimination goes on with the next column.
 */
import { ShapeError } from "../../../core/errors.js";
import { sizeOf } from "../../../core/shape.js";
import type { Node } from "../../node.js";
import type { CompositePrimitive, RoutinePrimitive } from "../../primitive.js";
import type { GraphOps } from "../../vocabulary.js";
import { inferBundle, partsOf } from "../bundle.js";
import { checkNumbers, checkSquares, wholeBatch } from "./triangular.js";

export const lu: RoutinePrimitive = {
  name: "lu",
  kind: "routine",
  takesComplex: true,
  infer: inferBundle,
  bundle: {
    jvp: (g, node, [t]) => {
      const [factors, , order] = partsOf(node);
      if (!t) return [null, null, null];
      const [l, u] = squareFactors(g, factors);
      const left = g.solveLower(l, rowsInOrder(g, t, order), true);
      const inner = solvedRight(g, u, left);
      const ofL = g.matmul(l, g.lowerPart(inner, 0));
      const ofU = g.matmul(g.sub(inner, g.lowerPart(inner, 0)), u);
      return [g.add(g.lowerPart(ofL, 0), g.sub(ofU, g.lowerPart(ofU, 0))), null, null];
    },
    vjp: (g, node, [ct]) => {
      if (!ct) return [null];
      const [factors, , order] = partsOf(node);
      const [l, u] = squareFactors(g, factors);
      const upper = (x: Node) => g.sub(x, g.lowerPart(x, 0));
      const ofL = g.lowerPart(g.matmul(g.transposed(l), g.lowerPart(ct, 0)), 0);
      const ofU = upper(g.matmul(upper(ct), g.transposed(u)));
      const left = g.solveLowerTransposed(l, g.add(ofL, ofU), true);
      const whole = g.transposed(g.solveLowerTransposed(g.transposed(u), g.transposed(left), false));
      return [rowsInOrder(g, whole, inverseOrder(g, order))];
    },
    batch: (g, _node, [{ node: a }]) => luNodes(g, a).map((node) => ({ node, isBatched: true })),
  },
};

/** The factors, the pivots and the order of rows of a. */
export function luNodes(g: GraphOps, a: Node): [Node, Node, Node] {
  checkNumbers("lu", [a]);
  if (a.shape.length < 2) throw new ShapeError(`lu: [${a.shape}] is no matrix.`);
  const lead = a.shape.slice(0, -2);
  const [m, n] = a.shape.slice(-2);
  const outputs = [
    { shape: [...a.shape], dtype: a.dtype },
    { shape: [...lead, Math.min(m, n)], dtype: "i32" },
    { shape: [...lead, m], dtype: "i32" },
  ];
  return partsOf(g.move(lu, [a], { outputs })) as [Node, Node, Node];
}

/**
 * The factors of [.., m, n], filled up to square matrices: L to [.., m, m] and U to [.., n, n], with ones on the diagonals
 * that are added. L·F·U then has the derivatives of L and U in the triangles of F.
 */
function squareFactors(g: GraphOps, factors: Node): [Node, Node] {
  const rank = factors.shape.length;
  const [m, n] = factors.shape.slice(-2);
  const least = Math.min(m, n);
  const filled = (x: Node, extent: number) => {
    const shape = [...x.shape.slice(0, -2), extent, extent];
    const cut = g.slice(
      x,
      x.shape.map(() => 0),
      shape.map((e, i) => Math.min(e, x.shape[i])),
    );
    const none = shape.map(() => 0);
    const wide = g.pad(
      cut,
      none,
      shape.map((e, i) => e - cut.shape[i]),
    );
    const [row, column] = [g.counting(shape, rank - 2, x), g.counting(shape, rank - 1, x)];
    const isAdded = g.and(g.equal(row, column), g.greaterEqual(row, least));
    return g.where(isAdded, 1, wide);
  };
  const below = g.lowerPart(factors, 0);
  const l = filled(below, m);
  return [unitDiagonal(g, l), filled(g.sub(factors, below), n)];
}

function unitDiagonal(g: GraphOps, x: Node): Node {
  const rank = x.shape.length;
  const isDiagonal = g.equal(g.counting(x.shape, rank - 2, x), g.counting(x.shape, rank - 1, x));
  return g.where(isDiagonal, 1, x);
}

/** X with X·U = B for upper U. */
const solvedRight = (g: GraphOps, u: Node, b: Node): Node =>
  g.transposed(g.solveLower(g.transposed(u), g.transposed(b), false));

/** Row order[i] of x as row i. */
export function rowsInOrder(g: GraphOps, x: Node, order: Node): Node {
  const rank = x.shape.length;
  const shape = [...order.shape, x.shape[rank - 1]];
  return g.takeAlongAxis(x, g.broadcast(g.reshape(order, [...order.shape, 1]), shape), rank - 2);
}

/** The order that undoes an order of rows, [.., m]. */
function inverseOrder(g: GraphOps, order: Node): Node {
  const m = order.shape.at(-1) as number;
  const count = sizeOf(order.shape);
  if (count === 0) return order;
  const flat = g.reshape(order, [count / m, m]);
  const positions = g.add(flat, g.mul(g.counting(flat.shape, 0, order), m));
  const places = g.reshape(g.counting(flat.shape, 1, order), [count, 1]);
  const inverse = g.scatterAdd(g.zeros([count, 1], order), g.reshape(positions, [count]), places);
  return g.reshape(inverse, order.shape);
}

/** Matrices of so many rows are solved with in one kernel. */
const FEW_ROWS = 8;

/** X with L·U·X = B, for the factors, B [.., n, k] and the order of its rows: a part of `luSolve`, which has the derivatives. */
const luSubstitution: RoutinePrimitive = {
  name: "luSubstitution",
  kind: "routine",
  takesComplex: true,
  infer: ([, { shape, dtype }]) => ({ shape, dtype }),
};

/**
 * X with A·X = B, or Aᵀ·X = B, by the factors and the order of rows of `lu`. Inputs: a, b [.., n, k], the factors and the
 * order. The solution follows from b and the factors; a is there for its derivative, so that none goes through the
 * factorisation. Params: isTransposed.
 */
export const luSolve: CompositePrimitive = {
  name: "luSolve",
  kind: "composite",
  infer: ([a, b]) => {
    checkNumbers("solve", [a, b]);
    checkSquares("solve", a);
    return { shape: b.shape, dtype: b.dtype };
  },
  expand: (g, { params }, [, b, factors, order]) => {
    const n = factors.shape.at(-1) as number;
    if (n > 0 && n <= FEW_ROWS && !params.isTransposed) return g.move(luSubstitution, [factors, b, order], {});
    const upper = g.transposed(factors);
    if (params.isTransposed) {
      const inner = g.solveLowerTransposed(factors, g.solveLower(upper, b, false), true);
      return rowsInOrder(g, inner, inverseOrder(g, order));
    }
    return g.solveLowerTransposed(upper, g.solveLower(factors, rowsInOrder(g, b, order), true), false);
  },
  jvp: (g, x, [ta, tb]) => {
    const isTransposed = x.params.isTransposed === true;
    const [, b] = x.inputs;
    const moved = ta && g.matmul(isTransposed ? g.transposed(ta) : ta, x);
    const change = moved ? g.sub(tb ?? g.zeros(b.shape, b), moved) : tb;
    return change && solvedAgain(g, x, change, isTransposed);
  },
  vjp: (g, x, ct) => {
    const isTransposed = x.params.isTransposed === true;
    const ofB = solvedAgain(g, x, ct, !isTransposed);
    const product = isTransposed ? g.matmul(x, g.transposed(ofB)) : g.matmul(ofB, g.transposed(x));
    return [g.neg(product), ofB, null, null];
  },
  batch: (g, { primitive, params }, inputs, size) => g.move(primitive, wholeBatch(g, inputs, size), params),
};

/** Another right side with the factors of a solution. */
const solvedAgain = (g: GraphOps, { inputs: [a, , factors, order] }: Node, b: Node, isTransposed: boolean): Node =>
  g.move(luSolve, [a, b, factors, order], { isTransposed });
