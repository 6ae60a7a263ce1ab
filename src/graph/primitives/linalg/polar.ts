/**
 * The polar decomposition a = U P of matrices [.., m, n] with m ≥ n: orthonormal columns U, positive semi-definite P. Both come
 * from the singular value decomposition. Their derivatives need sums of singular values, never differences (Higham 2008,
 * Functions of Matrices, chapter 8), so they hold among equal ones, too. Leading axes are batches.
 */
import type { Node } from "../../node.js";
import type { CompositePrimitive } from "../../primitive.js";
import type { GraphOps } from "../../vocabulary.js";
import { inferBundle, partsOf } from "../bundle.js";
import { byTransposing } from "./qr.js";
import { svdNodes } from "./svd.js";

/** U [.., m, n] and P [.., n, n] of [.., m, n], m ≥ n. */
export function polarNodes(g: GraphOps, a: Node): [Node, Node] {
  const n = a.shape.at(-1) as number;
  const outputs = [
    { shape: a.shape, dtype: a.dtype },
    { shape: [...a.shape.slice(0, -2), n, n], dtype: a.dtype },
  ];
  return partsOf(g.move(polar, [a], { outputs })) as [Node, Node];
}

const polar: CompositePrimitive = {
  name: "polar",
  kind: "composite",
  infer: inferBundle,
  expand: (g, _node, [a]) => {
    const [u, s, vh] = svdNodes(g, a, false);
    return [g.matmul(u, vh), g.matmul(g.adjoint(vh), g.mul(vh, ofRows(g, s, vh)))];
  },
  bundle: {
    jvp: (g, node, [t]) => (t ? tangents(g, node, t) : [null, null]),
    vjp: (g, node, cotangents) => byTransposing(g, node, cotangents, tangents),
    batch: (g, _node, [{ node: a }]) => polarNodes(g, a).map((each) => ({ node: each, isBatched: true })),
  },
};

/** A real factor for each row, [.., k], as large as the matrices `like` [.., k, n]. */
const ofRows = (g: GraphOps, x: Node, like: Node): Node =>
  g.cast(g.unreduce(x, like.shape, [like.shape.length - 1]), like.dtype);

/**
 * dU = U X + (I - U Uᴴ) dA P⁻¹ and dP = Uᴴ dA - X P, where X P + P X = Uᴴ dA - dAᴴ U: among the right singular vectors a division
 * by the sum of two singular values. Where it is zero the decomposition has no derivative, and zero is taken.
 */
function tangents(g: GraphOps, node: Node, t: Node): readonly [Node, Node] {
  const [u, p] = partsOf(node);
  const [, s, vh] = svdNodes(g, node.inputs[0], false);
  const v = g.adjoint(vh);
  const rank = p.shape.length;
  const inverse = (x: Node) => {
    const isZero = g.equal(x, 0);
    return g.where(isZero, 0, g.div(1, g.where(isZero, 1, x)));
  };
  const inner = g.matmul(g.adjoint(u), t);
  const sums = g.add(g.unreduce(s, p.shape, [rank - 2]), g.unreduce(s, p.shape, [rank - 1]));
  const turned = g.matmul(vh, g.matmul(g.sub(inner, g.adjoint(inner)), v));
  const turn = g.matmul(v, g.matmul(g.mul(turned, g.cast(inverse(sums), t.dtype)), vh));
  const stretch = g.sub(inner, g.matmul(turn, p));
  const ofP = g.mul(g.add(stretch, g.adjoint(stretch)), 0.5);
  const within = g.matmul(u, turn);
  const [m, n] = t.shape.slice(-2);
  if (m === n) return [within, ofP];
  const outside = g.sub(t, g.matmul(u, inner));
  return [g.add(within, g.matmul(g.matmul(outside, v), g.mul(vh, ofRows(g, inverse(s), vh)))), ofP];
}
