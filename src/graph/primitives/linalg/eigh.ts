/**
 * Eigenvalues and eigenvectors of Hermitian matrices. Small ones are rotated until they are diagonal (Jacobi), one to a
 * workgroup; large ones are reduced to tridiagonal form first (tridiagonal.ts). Leading axes are batches.
 */
import type { Node } from "../../node.js";
import type { CompositePrimitive, RoutinePrimitive } from "../../primitive.js";
import type { GraphOps } from "../../vocabulary.js";
import { inferBundle, partsOf } from "../bundle.js";
import * as E from "../elementwise.js";
import * as R from "../reduce.js";
import { isComplexNode, rowsApplied } from "./householder.js";
import { byTransposing } from "./qr.js";
import { scaledDown } from "./scaled-down.js";
import { realOf, smallEighNodes } from "./small-eigh.js";
import { tridiagonalEigen } from "./tridiagonal.js";

/** Rows of a matrix that a workgroup rotates by itself. */
export const FEW_ROWS = 64;

/** Inputs: Hermitian [.., n, n]. Parts: the diagonal, what is beside it, reflections as rows, their factors. */
const tridiagonal: RoutinePrimitive = { name: "tridiagonal", kind: "routine", takesComplex: true, infer: inferBundle };

/** Eigenvalues [.., n], rising, and eigenvectors [.., n, n], as columns, of Hermitian matrices. */
export function eighNodes(g: GraphOps, a: Node): [Node, Node] {
  const outputs = [
    { shape: a.shape.slice(0, -1), dtype: realOf(a.dtype) },
    { shape: a.shape, dtype: a.dtype },
  ];
  return partsOf(g.move(eigh, [a], { outputs })) as [Node, Node];
}

const eigh: CompositePrimitive = {
  name: "eigh",
  kind: "composite",
  infer: inferBundle,
  expand: (g, _node, [given]) => {
    const n = given.shape.at(-1) as number;
    const lead = given.shape.slice(0, -2);
    const batch = lead.reduce((x, y) => x * y, 1);
    if (n === 0 || batch === 0) return [g.zeros([...lead, n], given, realOf(given.dtype)), g.zeros(given.shape, given)];
    const { scaled, scale } = scaledDown(g, g.reshape(given, [batch, n, n]));
    const [values, vectors] = n <= FEW_ROWS ? rotated(g, scaled) : byTridiagonal(g, scaled);
    const whole = g.mul(values, g.broadcast(g.reshape(scale, [batch, 1]), [batch, n]));
    // If the scale is NaN, so is this.
    const nothing = g.cast(g.broadcast(g.sub(scale, scale), vectors.shape), vectors.dtype);
    return [g.reshape(whole, [...lead, n]), g.reshape(g.add(vectors, nothing), given.shape)];
  },
  bundle: {
    jvp: (g, node, [t]) => (t ? tangents(g, node, t) : [null, null]),
    vjp: (g, node, cotangents) => byTransposing(g, node, cotangents, tangents),
    batch: (g, _node, [{ node: a }]) => eighNodes(g, a).map((each) => ({ node: each, isBatched: true })),
  },
};

function rotated(g: GraphOps, a: Node): [Node, Node] {
  const [values, rows] = smallEighNodes(g, a);
  return [values, g.transposed(rows)];
}

/** Through tridiagonal form: T = Qᴴ A Q, whose eigenvectors Q turns into those of A. Of matrices [B, n, n] that are scaled already. */
function byTridiagonal(g: GraphOps, a: Node): [Node, Node] {
  const [batch, n] = a.shape;
  const real = realOf(a.dtype);
  const outputs = [
    { shape: [batch, n], dtype: real },
    { shape: [batch, n], dtype: real },
    { shape: [batch, n, n], dtype: a.dtype },
    { shape: [batch, n], dtype: a.dtype },
  ];
  const [diagonal, beside, reflections, factors] = partsOf(g.move(tridiagonal, [a], { outputs }));
  const [values, rows] = tridiagonalEigen(g, diagonal, beside, n);
  return [values, rowsApplied(g, reflections, factors, g.cast(g.transposed(rows), a.dtype))];
}

/** 1 / (to - from), but 0 where the difference is lost in rounding: among equal values no direction is preferred. */
export function inverseGaps(g: GraphOps, gaps: Node, largest: Node): Node {
  const epsilon = gaps.dtype === "f64" ? 2 ** -52 : 2 ** -23;
  const n = gaps.shape.at(-1) as number;
  const isClose = g.less(g.abs(gaps), g.mul(largest, n * epsilon));
  const isLost = g.move(E.or, [isClose, g.equal(gaps, 0)], {});
  return g.where(isLost, 0, g.div(1, g.where(isLost, 1, gaps)));
}

/** With P = Vᴴ dA V: values change by its diagonal, vectors by V (F ∘ P), F = 1 / (λj - λi). */
function tangents(g: GraphOps, node: Node, t: Node): readonly [Node, Node] {
  const [values, vectors] = partsOf(node);
  const { shape } = vectors;
  const rank = shape.length;
  const turned = g.matmul(g.adjoint(vectors), g.matmul(t, vectors));
  const isDiagonal = g.equal(g.counting(shape, rank - 2, t), g.counting(shape, rank - 1, t));
  const real = isComplexNode(turned) ? g.real(turned) : turned;
  const ofValues = g.sum(g.where(isDiagonal, real, 0), [rank - 1]);
  const [along, down] = [g.unreduce(values, shape, [rank - 2]), g.unreduce(values, shape, [rank - 1])];
  const largest = g.unreduce(g.move(R.max, [g.abs(values)], { axes: [rank - 2] }), shape, [rank - 2, rank - 1]);
  const factors = g.cast(inverseGaps(g, g.sub(along, down), largest), vectors.dtype);
  return [ofValues, g.matmul(vectors, g.mul(factors, turned))];
}
