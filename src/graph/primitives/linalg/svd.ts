/**
 * The singular value decomposition a = U diag(s) Vᴴ. Small matrices are rotated until their rows are orthogonal (Jacobi), one to
 * a workgroup; large ones are made bidiagonal first, and solved by divide and conquer. Leading axes are batches.
 *
 * The rotated rows are the right singular vectors times the singular values. A row of zeros has no direction, so the vectors
 * come from a QR decomposition of the rows, which keeps the directions there are and completes the basis.
 */
import { GraphFunction, makePlaceholder } from "../../function.js";
import type { Node } from "../../node.js";
import type { CompositePrimitive, RoutinePrimitive } from "../../primitive.js";
import type { GraphOps } from "../../vocabulary.js";
import { inferBundle, partsOf } from "../bundle.js";
import { choiceNode } from "../control/choice.js";
import * as R from "../reduce.js";
import { FEW_ROWS, inverseGaps } from "./eigh.js";
import { identity, isComplexNode, rowsApplied } from "./householder.js";
import { asOneBatch, byTransposing, qrNodes } from "./qr.js";
import { scaledDown } from "./scaled-down.js";
import { realOf } from "./small-eigh.js";
import { tridiagonalEigen } from "./tridiagonal.js";

/** Inputs: [.., r, c]. Parts: lengths [.., r], falling; rotated rows Y [.., r, c]; rotations W [.., r, r]. */
const jacobiSvd: RoutinePrimitive = { name: "jacobiSvd", kind: "routine", takesComplex: true, infer: inferBundle };

/**
 * Inputs: [.., n, n]. Parts: the diagonal, what is beside it, reflections of the rows and of the columns, as rows [.., 2, n, n], and their
 * factors [.., 2, n].
 */
const bidiagonal: RoutinePrimitive = { name: "bidiagonal", kind: "routine", takesComplex: true, infer: inferBundle };

/** U [.., m, p], s [.., k] and Vᴴ [.., q, n] of [.., m, n], k = min(m, n); p and q are k, or m and n where `isFull`. */
export function svdNodes(g: GraphOps, a: Node, isFull: boolean): [Node, Node, Node] {
  const [m, n] = a.shape.slice(-2);
  const lead = a.shape.slice(0, -2);
  const k = Math.min(m, n);
  const outputs = [
    { shape: [...lead, m, isFull ? m : k], dtype: a.dtype },
    { shape: [...lead, k], dtype: realOf(a.dtype) },
    { shape: [...lead, isFull ? n : k, n], dtype: a.dtype },
  ];
  return partsOf(g.move(svd, [a], { isFull, outputs })) as [Node, Node, Node];
}

/** Params: isFull. */
const svd: CompositePrimitive = {
  name: "svd",
  kind: "composite",
  infer: inferBundle,
  expand: (g, node, [given]) => {
    const isFull = node.params.isFull === true;
    return asOneBatch(g, given, (like) => {
      const [batch, m, n] = like.shape;
      if (m * n * batch === 0) {
        const [p, q] = isFull ? [m, n] : [0, 0];
        const values = g.zeros([batch, Math.min(m, n)], like, realOf(like.dtype));
        return [identity(g, like, batch, m, p), values, identity(g, like, batch, q, n)];
      }
      const { scaled, scale } = scaledDown(g, like);
      const isTall = m >= n;
      const [u, s, v] = tallSvd(g, isTall ? scaled : g.adjoint(scaled), isFull);
      const values = g.mul(s, g.broadcast(g.reshape(scale, [batch, 1]), s.shape));
      // If the scale is NaN, so are the vectors: rotations that end at once would leave an identity.
      const orNaN = (x: Node) => g.add(x, g.cast(g.broadcast(g.sub(scale, scale), x.shape), x.dtype));
      const [left, right] = isTall ? [u, v] : [v, u];
      return [orNaN(left), values, g.adjoint(orNaN(right))];
    });
  },
  bundle: {
    jvp: (g, node, [t]) => (t ? tangents(g, node, t) : [null, null, null]),
    vjp: (g, node, cotangents) => byTransposing(g, node, cotangents, tangents),
    batch: (g, node, [{ node: a }]) =>
      svdNodes(g, a, node.params.isFull === true).map((each) => ({ node: each, isBatched: true })),
  },
};

/** Rows over columns beyond which a QR decomposition comes first, so that rotations work on its triangle. */
const TALL = 1.5;

/** U, s and V (not its adjoint) of [B, m, n] with m ≥ n. */
function tallSvd(g: GraphOps, a: Node, isFull: boolean): [Node, Node, Node] {
  const [batch, m, n] = a.shape;
  if (m > TALL * n || (m > n && n > FEW_ROWS)) {
    const [q, r] = qrNodes(g, a, isFull ? m : n);
    const [u, s, v] = squareSvd(g, g.slice(r, [0, 0, 0], [batch, n, n]));
    const first = g.matmul(g.slice(q, [0, 0, 0], [batch, m, n]), u);
    if (!isFull) return [first, s, v];
    return [g.concat([first, g.slice(q, [0, 0, n], [batch, m, m - n])], 2), s, v];
  }
  const [u, s, v] = squareSvd(g, a, isFull ? m : n);
  return [u, s, v];
}

function squareSvd(g: GraphOps, a: Node, columns = a.shape[2]): [Node, Node, Node] {
  const [batch, m, n] = a.shape;
  if (n > FEW_ROWS) return byBidiagonal(g, a);
  const turned = g.adjoint(a);
  const outputs = [
    { shape: [batch, n], dtype: realOf(a.dtype) },
    { shape: [batch, n, m], dtype: a.dtype },
    { shape: [batch, n, n], dtype: a.dtype },
  ];
  const [lengths, rows, turns] = partsOf(g.move(jacobiSvd, [turned], { outputs }));
  // Y = W aᴴ, so a = Yᴴ W: the columns of Yᴴ are U diag(s), and those of Wᴴ are V.
  const u = directions(g, g.adjoint(rows), columns);
  return [u, lengths, g.adjoint(turns)];
}

/**
 * Of a large square matrix, through bidiagonal form, B = Qᴴ A P. The eigenvalues of [[0, Bᵀ], [B, 0]], which is tridiagonal with its
 * rows in turn, are the singular values and their negatives, with eigenvectors (v, u) / √2. Both sides go together, as a batch.
 */
function byBidiagonal(g: GraphOps, a: Node): [Node, Node, Node] {
  const [batch, n] = a.shape;
  const real = realOf(a.dtype);
  const outputs = [
    { shape: [batch, n], dtype: real },
    { shape: [batch, n], dtype: real },
    { shape: [batch, 2, n, n], dtype: a.dtype },
    { shape: [batch, 2, n], dtype: a.dtype },
  ];
  const [diagonal, beside, reflections, factors] = partsOf(g.move(bidiagonal, [a], { outputs }));
  const column = (x: Node) => g.reshape(x, [batch, n, 1]);
  const coupling = g.reshape(g.concat([column(diagonal), column(beside)], 2), [batch, 2 * n]);
  const [values, rows] = tridiagonalEigen(g, g.zeros([batch, 2 * n], coupling), coupling, n);
  // [.., which, n of v and u by turns], rising, to the columns of v and of u, falling.
  const turned = g.flip(g.permute(g.reshape(rows, [batch, n, n, 2]), [0, 3, 2, 1]), [3]);
  const sides = (x: Node) => g.reshape(x, [2 * batch, ...x.shape.slice(2)]);
  const vectors = orthogonalSides(g, g.mul(turned, Math.SQRT2));
  const both = rowsApplied(g, sides(reflections), sides(factors), g.cast(sides(vectors), a.dtype));
  const whole = g.reshape(both, [batch, 2, n, n]);
  const side = (which: number) => g.reshape(g.slice(whole, [0, which, 0, 0], [batch, 1, n, n]), [batch, n, n]);
  return [side(1), g.maximum(g.flip(values, [1]), 0), side(0)];
}

/**
 * Singular vectors of bidiagonal matrices made orthonormal: V and U, [B, 2, n, n], whose columns (v, u) are orthogonal together. Where
 * s is small, rounding adds to v some of the other v', and takes as much of u' from u: VᵀV = I + E and UᵀU = I - E, with E of ε / s.
 * While E is small, V (I - E / 2) and U (I + E / 2) are orthonormal but for E². Else, as in singular matrices, whose v and u are
 * of any length, it takes a QR decomposition, of the vectors of large values first. Either changes u s vᵀ by no more than rounding does.
 */
function orthogonalSides(g: GraphOps, both: Node): Node {
  const [batch, , n] = both.shape;
  const pairs = [2 * batch, n, n];
  const ofV = g.reshape(g.slice(both, [0, 0, 0, 0], [batch, 1, n, n]), [batch, n, n]);
  const slant = g.sub(g.matmul(g.transposed(ofV), ofV), identity(g, ofV, batch, n, n));
  const squares = g.sum(g.mul(slant, slant), [1, 2]);
  const isNear = g.less(g.move(R.max, [squares], { axes: [0] }), both.dtype === "f64" ? 2 ** -52 : 2 ** -23);
  const [x, e] = [both, slant].map(makePlaceholder);
  const halves = g.reshape(g.mul(e, 0.5), [batch, 1, n, n]);
  const turns = g.reshape(g.concat([halves, g.neg(halves)], 1), pairs);
  const columns = g.reshape(x, pairs);
  const branches = [directions(g, columns, n), g.sub(columns, g.matmul(columns, turns))].map(
    (made) => new GraphFunction([x, e], [g.reshape(made, both.shape)]),
  );
  return choiceNode(g.cast(isNear, "i32"), [both, slant], branches)[0];
}

/** The directions of nearly orthogonal columns [B, m, n], of falling lengths, and a basis of what they leave. */
function directions(g: GraphOps, x: Node, columns: number): Node {
  const [batch, m, n] = x.shape;
  const [q, r] = qrNodes(g, x, columns);
  const shape = [batch, columns, n];
  const isDiagonal = g.equal(g.counting(shape, 1, x), g.counting(shape, 2, x));
  // The diagonal of R is real, of either sign.
  const real = isComplexNode(r) ? g.real(r) : r;
  const diagonal = g.sum(g.where(isDiagonal, real, 0), [2]);
  const signs = g.where(g.less(diagonal, 0), -1, g.constantLike(1, diagonal));
  return g.mul(q, g.cast(g.unreduce(signs, [batch, m, columns], [1]), x.dtype));
}

/** Townsend, Differentiating the Singular Value Decomposition, 2016; the gauge of complex vectors as in JAX. */
function tangents(g: GraphOps, node: Node, t: Node): readonly [Node, Node, Node] {
  const [uWhole, s, vhWhole] = partsOf(node);
  const [m, n] = t.shape.slice(-2);
  const lead = t.shape.slice(0, -2);
  const rank = t.shape.length;
  const zeros = t.shape.map(() => 0);
  const k = Math.min(m, n);
  const square = [...lead, k, k];
  const u = g.slice(uWhole, zeros, [...lead, m, k]);
  const vh = g.slice(vhWhole, zeros, [...lead, k, n]);
  const v = g.adjoint(vh);
  const inner = g.matmul(g.adjoint(u), g.matmul(t, v));
  const isDiagonal = g.equal(g.counting(square, rank - 2, t), g.counting(square, rank - 1, t));
  const real = isComplexNode(t) ? g.real(inner) : inner;
  const ofS = g.sum(g.where(isDiagonal, real, 0), [rank - 1]);
  const [along, down] = [g.unreduce(s, square, [rank - 2]), g.unreduce(s, square, [rank - 1])];
  const first = g.slice(s, zeros.slice(0, -1), [...lead, Math.min(1, k)]);
  const largest = g.broadcast(g.reshape(first, [...lead, 1, Math.min(1, k)]), square);
  // 1 / (sj² - si²), as a product so that small differences stay exact.
  const sums = g.add(along, down);
  const isNone = g.equal(sums, 0);
  const gaps = inverseGaps(g, g.sub(along, down), largest);
  const factors = g.cast(g.where(isNone, 0, g.div(gaps, g.where(isNone, 1, sums))), t.dtype);
  const typed = (x: Node) => g.cast(x, t.dtype);
  const [right, left] = [g.mul(inner, typed(along)), g.mul(inner, typed(down))];
  const symmetric = (x: Node) => g.add(x, g.adjoint(x));
  const inverse = (x: Node) => {
    const isZero = g.equal(x, 0);
    return g.where(isZero, 0, g.div(1, g.where(isZero, 1, x)));
  };
  const phases = isComplexNode(t)
    ? g.where(isDiagonal, g.mul(g.mul(g.sub(inner, g.adjoint(inner)), 0.5), typed(inverse(down))), 0)
    : null;
  const turnU = g.mul(factors, symmetric(right));
  const ofU = g.matmul(u, phases ? g.add(turnU, phases) : turnU);
  const ofV = g.matmul(v, g.mul(factors, symmetric(left)));
  const outside = (basis: Node, x: Node) => {
    const rest = g.sub(x, g.matmul(basis, g.matmul(g.adjoint(basis), x)));
    return g.mul(rest, typed(inverse(g.unreduce(s, rest.shape, [rank - 2]))));
  };
  const wholeU = m > k ? g.add(ofU, outside(u, g.matmul(t, v))) : ofU;
  const wholeV = n > k ? g.add(ofV, outside(v, g.matmul(g.adjoint(t), u))) : ofV;
  const completed = (basis: Node, change: Node, whole: Node): Node => {
    const extra = (whole.shape.at(-1) as number) - k;
    if (extra === 0) return change;
    const others = g.slice(whole, [...zeros.slice(0, -1), k], [...whole.shape.slice(0, -1), extra]);
    return g.concat([change, g.neg(g.matmul(basis, g.matmul(g.adjoint(change), others)))], rank - 1);
  };
  const fullV = completed(v, wholeV, g.adjoint(vhWhole));
  return [completed(u, wholeU, uWhole), ofS, g.adjoint(fullV)];
}
