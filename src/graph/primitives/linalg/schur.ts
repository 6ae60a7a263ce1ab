/**
 * The Schur form of general matrices, A = Z T Zᴴ with a unitary Z and an upper triangular T, by the QR algorithm: Hessenberg form
 * first (hessenberg.ts), then kernels that each take some steps, until every matrix of the batch is done. Real matrices stay real
 * until they are triangular but for blocks of two rows, which then become complex.
 */
import { complexDType } from "../../../core/dtype.js";
import { UnsupportedError } from "../../../core/errors.js";
import { GraphFunction, makePlaceholder } from "../../function.js";
import type { Node } from "../../node.js";
import type { CompositePrimitive, RoutinePrimitive } from "../../primitive.js";
import type { GraphOps } from "../../vocabulary.js";
import { inferBundle, outputOf, partsOf } from "../bundle.js";
import { whileNode } from "../control/while.js";
import { hessenberg } from "./hessenberg.js";
import { isComplexNode } from "./householder.js";
import { scaledDown } from "./scaled-down.js";

/** Steps of the QR algorithm; see compiler/routines/linalg/eigen/francis.ts. */
const francis: RoutinePrimitive = { name: "francis", kind: "routine", infer: inferBundle };

/** Rows are filled up to a multiple of this, for the kernels. */
export const MULTIPLE = 8;
/** Calls of the kernel, at most: it gives up by itself long before. */
const MOST_CALLS = 10_000_000;

/** T and Z [.., n, n] of A = Z T Zᴴ, for A with an axis of rows or more: complex, without derivatives. */
export function schurNodes(g: GraphOps, a: Node): [Node, Node] {
  const output = { shape: [...a.shape], dtype: complexDType(a.dtype) };
  return partsOf(g.move(schur, [a], { outputs: [output, output] })) as [Node, Node];
}

/** A matrix that is not finite has NaN for T. */
const schur: CompositePrimitive = {
  name: "schur",
  kind: "composite",
  hasWhileLoop: true,
  infer: inferBundle,
  expand: (g, _node, [given]) => {
    const n = given.shape.at(-1) as number;
    const batch = given.shape.slice(0, -2).reduce((x, y) => x * y, 1);
    const { scaled, scale } = scaledDown(g, g.reshape(given, [batch, n, n]));
    // NaN would never converge: zeros take its place, and the scale brings it back.
    const form = schurForm(g, g.where(g.greater(g.broadcast(scale, scaled.shape), 0), scaled, 0), true);
    const whole = g.where(g.unreduce(form.hasFailed, scale.shape, [1, 2]), Number.NaN, scale);
    const t = g.mul(form.t, g.cast(g.broadcast(whole, scaled.shape), form.t.dtype));
    return [t, form.z as Node].map((x) => g.reshape(x, given.shape));
  },
  bundle: {
    jvp: () => {
      throw new UnsupportedError("schur: it has no derivative; what is computed from it has one of its own.");
    },
    vjp: () => {
      throw new UnsupportedError("schur: it has no derivative; what is computed from it has one of its own.");
    },
    batch: (g, _node, [{ node: a }]) => schurNodes(g, a).map((each) => ({ node: each, isBatched: true })),
  },
};

/** A Schur form of [B, n, n]. */
export interface SchurForm {
  /** Upper triangular, complex. */
  readonly t: Node;
  /** Its diagonal [B, n]: the eigenvalues. Those of real matrices are real, or conjugate to a neighbour. */
  readonly values: Node;
  /** The unitary matrix, if it is wanted. */
  readonly z: Node | null;
  /** Whether a neighbour before is conjugate, [B, n]; of real matrices. */
  readonly isSecond: Node | null;
  /** Whether the algorithm gave up, [B]. */
  readonly hasFailed: Node;
}

/** The Schur form of [B, n, n]. */
export function schurForm(g: GraphOps, a: Node, wantsVectors: boolean): SchurForm {
  const [batch, n] = a.shape;
  const { h, q } = hessenberg(g, a, wantsVectors);
  const isReal = !isComplexNode(a);
  const padded = MULTIPLE * Math.ceil((n + (isReal ? 1 : 0)) / MULTIPLE);
  const filled = (x: Node) => g.pad(x, [0, 0, 0], [0, padded - n, padded - n]);
  const planes = (x: Node) => (isReal ? [x] : [g.real(x), g.imag(x)]);
  // The last row of the active block, sweeps, its first row, the place of the bulge: n - 1, 0, 0, -1.
  const which = g.counting([batch, 4], 1, a);
  const begin = g.where(g.equal(which, 3), -1, g.zeros([batch, 4], a, "i32"));
  const start = g.where(g.equal(which, 0), n - 1, begin);
  const carries = [...planes(filled(h)), ...(q ? planes(filled(g.transposed(q))) : []), start];
  const own = carries.map(makePlaceholder);
  const lastRow = (x: Node) => g.reshape(g.slice(x, [0, 0], [batch, 1]), [batch]);
  const goesOn = g.any(g.greaterEqual(lastRow(own[own.length - 1]), 0), [0]);
  const params = { n, isComplex: !isReal, hasVectors: wantsVectors, outputs: own.map(outputOf) };
  const results = partsOf(g.move(francis, own, params));
  const done = whileNode(carries, {
    test: new GraphFunction(own, [goesOn]),
    body: new GraphFunction(own, results),
    constants: 0,
    maxRounds: MOST_CALLS,
  });
  const cut = (at: number) => g.slice(done[at], [0, 0, 0], [batch, n, n]);
  const whole = (at: number) => (isReal ? cut(at) : g.complex(cut(at), cut(at + 1)));
  const z = wantsVectors ? g.transposed(whole(isReal ? 1 : 2)) : null;
  const hasFailed = g.less(lastRow(done[done.length - 1]), -1);
  if (isReal) return { ...withoutBlocks(g, whole(0), z), hasFailed };
  return { t: whole(0), values: diagonalOf(g, whole(0)), z, isSecond: null, hasFailed };
}

function diagonalOf(g: GraphOps, x: Node): Node {
  const isDiagonal = g.equal(g.counting(x.shape, 1, x), g.counting(x.shape, 2, x));
  return g.sum(g.where(isDiagonal, x, 0), [2]);
}

/** Elements one row below the diagonal, or (by -1) one above: [B, n], the last 0. */
function besideDiagonal(g: GraphOps, x: Node, by: 1 | -1): Node {
  const [row, column] = [g.counting(x.shape, 1, x), g.counting(x.shape, 2, x)];
  const isBeside = by === 1 ? g.equal(row, g.add(column, 1)) : g.equal(column, g.add(row, 1));
  return g.sum(g.where(isBeside, x, 0), [by === 1 ? 1 : 2]);
}

/** Each number's neighbour after it (1), or before it (-1), along the last axis of [B, n]; 0 where there is none. */
const neighbour = (g: GraphOps, x: Node, by: 1 | -1): Node => g.pad(x, [0, -by], [0, by]);

/**
 * A real matrix with blocks of two rows on the diagonal made triangular: each block [[a, b], [c, d]] by the unitary matrix whose first
 * column is an eigenvector, (λ - d, c).
 */
function withoutBlocks(g: GraphOps, t: Node, z: Node | null): Omit<SchurForm, "hasFailed"> {
  const complex = complexDType(t.dtype);
  const [a, b, c] = [diagonalOf(g, t), besideDiagonal(g, t, -1), besideDiagonal(g, t, 1)];
  const d = neighbour(g, a, 1);
  const isBlock = g.greater(g.abs(c), 0);
  const half = g.mul(g.sub(a, d), 0.5);
  const size = g.where(isBlock, g.maximum(g.abs(half), g.maximum(g.abs(b), g.abs(c))), 1);
  const [p, upper, lower] = [half, b, c].map((x) => g.div(x, size));
  const square = g.add(g.square(p), g.mul(upper, lower));
  const isPair = g.less(square, 0);
  const root = g.sqrt(g.abs(square));
  // (λ - d) / size, of the eigenvalue that is farther from d, or has the positive imaginary part.
  const far = g.where(isPair, p, g.add(p, g.where(g.less(p, 0), g.neg(root), root)));
  const turn = g.where(isPair, root, 0);
  const isFlat = g.equal(far, 0);
  const near = g.where(isPair, p, g.where(isFlat, 0, g.neg(g.div(g.mul(upper, lower), g.where(isFlat, 1, far)))));
  const value = (x: Node, im: Node) => g.complex(g.add(d, g.mul(size, x)), g.mul(size, im));
  const wasBlock = g.greater(neighbour(g, g.cast(isBlock, t.dtype), -1), 0);
  const second = neighbour(g, value(near, g.neg(turn)), -1);
  const values = g.where(isBlock, value(far, turn), g.where(wasBlock, second, g.cast(a, complex)));
  const isSecond = g.and(wasBlock, g.greater(neighbour(g, g.cast(isPair, t.dtype), -1), 0));
  if (!z) return { t: g.cast(t, complex), values, z, isSecond };
  const length = g.sqrt(g.add(g.add(g.square(far), g.square(turn)), g.square(lower)));
  const safe = g.where(isBlock, length, 1);
  const [re, im, below] = [far, turn, lower].map((x) => g.where(isBlock, g.div(x, safe), 0));
  const turns = turnsOf(g, t, { head: g.complex(re, im), below: g.cast(below, complex), isBlock, wasBlock });
  const [wideT, wideZ] = [g.cast(t, complex), g.cast(z, complex)];
  return { t: g.matmul(g.adjoint(turns), g.matmul(wideT, turns)), values, z: g.matmul(wideZ, turns), isSecond };
}

interface Turns {
  readonly head: Node;
  readonly below: Node;
  readonly isBlock: Node;
  readonly wasBlock: Node;
}

/** The unitary matrix [B, n, n] of blocks [[h, -b], [b, h̄]], with ones where there are none. */
function turnsOf(g: GraphOps, t: Node, { head, below, isBlock, wasBlock }: Turns): Node {
  const { shape } = t;
  const along = (x: Node) => g.unreduce(x, shape, [1]);
  const [row, column] = [g.counting(shape, 1, t), g.counting(shape, 2, t)];
  const last = g.conj(neighbour(g, head, -1));
  const diagonal = g.where(isBlock, head, g.where(wasBlock, last, 1));
  const under = g.where(g.equal(row, g.add(column, 1)), along(below), 0);
  const over = g.where(g.equal(column, g.add(row, 1)), along(g.neg(neighbour(g, below, -1))), under);
  return g.where(g.equal(row, column), along(diagonal), over);
}
