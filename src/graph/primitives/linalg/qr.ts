/**
 * The QR decomposition: a = Q R with orthonormal columns of Q and upper triangular R. Householder reflections compute it
 * (householder.ts). Leading axes are batches.
 */
import { sizeOf } from "../../../core/shape.js";
import { makePlaceholder } from "../../function.js";
import type { Node } from "../../node.js";
import type { CompositePrimitive, RoutinePrimitive } from "../../primitive.js";
import type { GraphOps } from "../../vocabulary.js";
import { inferBundle, partsOf } from "../bundle.js";
import { transposed } from "../custom.js";
import { identity, isComplexNode, orthogonal, triangularized, upperPart } from "./householder.js";
import { scaledDown } from "./scaled-down.js";

/** Q and R of [.., m, n]. `columns`: those of Q, and the rows of R: min(m, n), or m. */
export function qrNodes(g: GraphOps, a: Node, columns: number): [Node, Node] {
  const [m, n] = a.shape.slice(-2);
  const lead = a.shape.slice(0, -2);
  const outputs = [
    { shape: [...lead, m, columns], dtype: a.dtype },
    { shape: [...lead, columns, n], dtype: a.dtype },
  ];
  return partsOf(g.move(qr, [a], { columns, outputs })) as [Node, Node];
}

/** Params: columns. Derivatives are those of matrices with at least as many rows as columns. */
export const qr: CompositePrimitive = {
  name: "qr",
  kind: "composite",
  infer: inferBundle,
  expand: (g, node, [given]) => {
    const columns = node.params.columns as number;
    return asOneBatch(g, given, (like) => {
      const [batch, m, n] = like.shape;
      if (m * n * batch === 0) return [identity(g, like, batch, m, columns), g.zeros([batch, columns, n], like)];
      const { scaled, scale } = scaledDown(g, like);
      const { stages, r } = triangularized(g, scaled);
      return [orthogonal(g, stages, like, columns), sizedUp(g, r, scale, columns)];
    });
  },
  bundle: {
    jvp: (g, node, [t]) => (t ? tangents(g, node, t) : [null, null]),
    vjp: (g, node, cotangents) => byTransposing(g, node, cotangents, tangents),
    batch: (g, node, [{ node: a }]) =>
      qrNodes(g, a, node.params.columns as number).map((each) => ({ node: each, isBatched: true })),
  },
};

/** Results of [batch, m, n], with the leading axes of the given matrices in place of the batch. */
export function asOneBatch(g: GraphOps, given: Node, of: (whole: Node) => readonly Node[]): Node[] {
  const lead = given.shape.slice(0, -2);
  const whole = g.reshape(given, [sizeOf(lead), ...given.shape.slice(-2)]);
  return of(whole).map((x) => g.reshape(x, [...lead, ...x.shape.slice(1)]));
}

/** R of a matrix that was scaled down, with as many rows as Q has columns. */
function sizedUp(g: GraphOps, r: Node, scale: Node, columns: number): Node {
  const sized = g.mul(r, g.cast(g.broadcast(scale, r.shape), r.dtype));
  return g.pad(sized, [0, 0, 0], [0, columns - r.shape[1], 0]);
}

/** Inputs: matrices [B, m, n]. Params: columns. Parts: Q [B, m, columns], R [B, min(m, n), n], by one routine of a GPU. */
const steppedQr: RoutinePrimitive = { name: "steppedQr", kind: "routine", takesComplex: true, infer: inferBundle };

/** The parts of a `qr` node of matrices that are not empty, by that routine. */
export const qrInSteps = (g: GraphOps, node: Node, given: Node): Node[] =>
  asOneBatch(g, given, (whole) => {
    const [batch, m, n] = whole.shape;
    const columns = node.params.columns as number;
    const { scaled, scale } = scaledDown(g, whole);
    const outputs = [
      { shape: [batch, m, columns], dtype: given.dtype },
      { shape: [batch, Math.min(m, n), n], dtype: given.dtype },
    ];
    const [q, r] = partsOf(g.move(steppedQr, [scaled], { columns, outputs }));
    return [q, sizedUp(g, r, scale, columns)];
  });

/** The cotangents of the inputs: tangents, which are linear, turned around. */
export function byTransposing(
  g: GraphOps,
  node: Node,
  cotangents: readonly (Node | null)[],
  rule: (g: GraphOps, node: Node, ...tangents: Node[]) => readonly (Node | null)[],
): readonly (Node | null)[] {
  const seeds = node.inputs.map(makePlaceholder);
  return transposed(g, "jvp", seeds, rule(g, node, ...seeds), cotangents);
}

/**
 * With dA R⁻¹ = M: Q's change is Q (Ω - Qᴴ M) + M, where Ω is the antisymmetric matrix with the lower part of Qᴴ M. Columns of
 * Q that complete a basis change so that they stay orthogonal to the first ones.
 */
function tangents(g: GraphOps, node: Node, t: Node): readonly [Node, Node] {
  const [q, r] = partsOf(node);
  const [m, n] = node.inputs[0].shape.slice(-2);
  const lead = node.inputs[0].shape.slice(0, -2);
  const zeros = lead.map(() => 0);
  const columns = node.params.columns as number;
  const first = columns === n ? q : g.slice(q, [...zeros, 0, 0], [...lead, m, n]);
  const square = columns === n ? r : g.slice(r, [...zeros, 0, 0], [...lead, n, n]);
  // M R = dA, so Rᵀ Mᵀ = dAᵀ with a lower Rᵀ.
  const moved = g.transposed(g.solveLower(g.transposed(square), g.transposed(t), false));
  const inside = g.matmul(g.adjoint(first), moved);
  const below = g.lowerPart(inside, 0);
  const turning = g.sub(below, g.adjoint(below));
  const whole = isComplexNode(q) ? g.add(turning, imaginaryDiagonal(g, inside)) : turning;
  const ofR = upperPart(g, g.matmul(g.sub(inside, whole), square));
  const ofQ = g.add(g.matmul(first, g.sub(whole, inside)), moved);
  if (columns === n) return [ofQ, ofR];
  const others = g.slice(q, [...zeros, 0, n], [...lead, m, columns - n]);
  const ofOthers = g.neg(g.matmul(first, g.matmul(g.adjoint(ofQ), others)));
  const low = [...zeros, 0, 0];
  return [g.concat([ofQ, ofOthers], q.shape.length - 1), g.pad(ofR, low, [...zeros, columns - n, 0])];
}

/** The diagonal of R is real, so Ω takes the imaginary part of Qᴴ M's diagonal. */
function imaginaryDiagonal(g: GraphOps, x: Node): Node {
  const rank = x.shape.length;
  const isDiagonal = g.equal(g.counting(x.shape, rank - 2, x), g.counting(x.shape, rank - 1, x));
  const imaginary = g.mul(g.sub(x, g.conj(x)), 0.5);
  return g.where(isDiagonal, imaginary, 0);
}
