/**
 * The pseudo-inverse A⁺ and least squares: x of the least length among those that make ‖A x - b‖ least. Both come from the
 * singular value decomposition; singular values up to `rtol` times the largest count as zero. `rtol` is an input, so that
 * another one takes no other program. Their derivatives are those of matrices of that rank, and need no differences of singular
 * values (Golub and Pereyra 1973).
 */
import type { Node } from "../../node.js";
import type { CompositePrimitive } from "../../primitive.js";
import type { GraphOps } from "../../vocabulary.js";
import { byTransposing } from "./qr.js";
import { svdNodes } from "./svd.js";

/** A⁺, [.., n, m]. Inputs: A, and rtol, a real scalar. */
export const pinv: CompositePrimitive = {
  name: "pinv",
  kind: "composite",
  infer: ([a]) => {
    const [m, n] = a.shape.slice(-2);
    return { shape: [...a.shape.slice(0, -2), n, m], dtype: a.dtype };
  },
  expand: (g, _node, [a, rtol]) => {
    const { u, inverses, v } = factors(g, a, rtol);
    return g.matmul(g.mul(v, along(g, inverses, v)), g.adjoint(u));
  },
  jvp: (g, node, [t]) => (t ? pinvTangent(g, node, t) : null),
  vjp: (g, node, ct) => byTransposing(g, node, [ct], (_g, each, seed) => [pinvTangent(g, each, seed)]),
  batch: (g, { primitive, params }, [{ node: a }, { node: rtol }]) => g.move(primitive, [a, rtol], params),
};

/** x of A x = b, [.., n, k]. Inputs: A [.., m, n], b [.., m, k], and rtol, a real scalar. */
export const leastSquares: CompositePrimitive = {
  name: "leastSquares",
  kind: "composite",
  infer: ([a, b]) => ({
    shape: [...a.shape.slice(0, -2), a.shape.at(-1) as number, b.shape.at(-1) as number],
    dtype: a.dtype,
  }),
  expand: (g, _node, [a, b, rtol]) => {
    const { u, inverses, v } = factors(g, a, rtol);
    const inner = g.matmul(g.adjoint(u), b);
    return g.matmul(v, g.mul(inner, g.unreduce(inverses, inner.shape, [inner.shape.length - 1])));
  },
  jvp: (g, node, tangents) => solutionTangent(g, node, tangents),
  vjp: (g, node, ct) => byTransposing(g, node, [ct], (_g, each, ...seeds) => [solutionTangent(g, each, seeds)]),
  batch: (g, { primitive, params }, [a, b, rtol], size) => {
    const both = [a, b].map(({ node, isBatched }) => (isBatched ? node : g.broadcast(node, [size, ...node.shape])));
    return g.move(primitive, [...both, rtol.node], params);
  },
};

/** U, V and the inverses of the singular values that count. */
function factors(g: GraphOps, a: Node, rtol: Node) {
  const [u, s, vh] = svdNodes(g, a, false);
  const rank = s.shape.length;
  const isEmpty = s.shape[rank - 1] === 0;
  const first = isEmpty
    ? s
    : g.slice(
        s,
        s.shape.map(() => 0),
        [...s.shape.slice(0, -1), 1],
      );
  const largest = isEmpty ? s : g.broadcast(first, s.shape);
  const counts = g.greater(s, g.mul(largest, g.broadcast(rtol, s.shape)));
  const inverses = g.where(counts, g.div(1, g.where(counts, s, 1)), g.mul(s, 0));
  return { u, v: g.adjoint(vh), inverses: g.cast(inverses, a.dtype) };
}

/** A factor for each column. */
const along = (g: GraphOps, x: Node, like: Node): Node => g.unreduce(x, like.shape, [like.shape.length - 2]);

/** -A⁺ dA A⁺ + A⁺ A⁺ᴴ dAᴴ (I - A A⁺) + (I - A⁺ A) dAᴴ A⁺ᴴ A⁺ */
function pinvTangent(g: GraphOps, node: Node, t: Node): Node {
  const [a] = node.inputs;
  const inverse = node;
  const back = g.adjoint(inverse);
  const turned = g.adjoint(t);
  const inside = g.matmul(inverse, g.matmul(t, inverse));
  const left = g.matmul(inverse, g.matmul(back, turned));
  const right = g.matmul(turned, g.matmul(back, inverse));
  const beside = g.sub(left, g.matmul(g.matmul(left, a), inverse));
  const below = g.sub(right, g.matmul(inverse, g.matmul(a, right)));
  return g.sub(g.add(beside, below), inside);
}

/** A⁺ (db - dA x) + A⁺ A⁺ᴴ dAᴴ r + (I - A⁺ A) dAᴴ A⁺ᴴ x, with the residual r = b - A x. */
function solutionTangent(g: GraphOps, node: Node, [ta, tb]: readonly (Node | null)[]): Node | null {
  const [a, b, rtol] = node.inputs;
  const inverse = g.move(pinv, [a, rtol], node.params);
  const moved = ta && g.matmul(ta, node);
  const change = moved ? g.sub(tb ?? g.zeros(b.shape, b), moved) : tb;
  if (!change) return null;
  const direct = g.matmul(inverse, change);
  if (!ta) return direct;
  const [back, turned] = [g.adjoint(inverse), g.adjoint(ta)];
  const residual = g.sub(b, g.matmul(a, node));
  const beside = g.matmul(inverse, g.matmul(back, g.matmul(turned, residual)));
  const outside = g.matmul(turned, g.matmul(back, node));
  const below = g.sub(outside, g.matmul(inverse, g.matmul(a, outside)));
  return g.add(direct, g.add(beside, below));
}
