/** Decompositions of matrices of f32, f64, c64 or c128 as functions of tensors; `linalg` gives them their interface. */
import { realDType } from "../core/dtype.js";
import { hasWhileLoop as loops } from "../graph/loop-mask.js";
import { computeTogether, isUnderWay, type Node } from "../graph/node.js";
import { eigNodes, eigvalsNodes } from "../graph/primitives/linalg/eig.js";
import { eighNodes } from "../graph/primitives/linalg/eigh.js";
import { leastSquares, pinv } from "../graph/primitives/linalg/pinv.js";
import { polarNodes } from "../graph/primitives/linalg/polar.js";
import { qrNodes } from "../graph/primitives/linalg/qr.js";
import { schurNodes } from "../graph/primitives/linalg/schur.js";
import { svdNodes } from "../graph/primitives/linalg/svd.js";
import { g } from "../graph/vocabulary.js";
import { backendOf, makeNode, scalarNode } from "./build.js";
import { Tensor } from "./tensor.js";

/** The results of one factorisation or loop: who reads one of them after another gets them from one computation. */
export function computedTogether<T extends object>(results: T): T {
  const nodes = Object.values(results).flatMap((each) => (each instanceof Tensor ? [each.node] : []));
  if (!nodes.some(({ isAbstract, trace }) => isAbstract || isUnderWay(trace))) computeTogether(nodes);
  return results;
}

/** Whether it takes a while loop to compute tensors: nobody knows beforehand how many rounds that goes. */
export const hasWhileLoop = (tensors: readonly Tensor[]): boolean => loops(tensors.map(({ node }) => node));

/** Eigenvalues, rising, and eigenvectors, as columns, of Hermitian matrices. */
export function hermitianEigen(a: Tensor): [Tensor, Tensor] {
  const [values, vectors] = eighNodes(g, a.node);
  return [new Tensor(values), new Tensor(vectors)];
}

/** Complex eigenvalues and eigenvectors, as columns, of general matrices. */
export function generalEigen(a: Tensor): [Tensor, Tensor] {
  const [values, vectors] = eigNodes(g, a.node);
  return [new Tensor(values), new Tensor(vectors)];
}

/** The eigenvalues alone. */
export const generalEigenvalues = (a: Tensor): Tensor => new Tensor(eigvalsNodes(g, a.node));

/** T and Z of a = Z T Zᴴ: complex, upper triangular and unitary. They have no derivatives. */
export function schurFactors(a: Tensor): [Tensor, Tensor] {
  const [t, z] = schurNodes(g, a.node);
  return [new Tensor(t), new Tensor(z)];
}

/** U, s and Vᴴ. */
export function singularFactors(a: Tensor, isFull: boolean): [Tensor, Tensor, Tensor] {
  const [u, s, v] = svdNodes(g, a.node, isFull);
  return [new Tensor(u), new Tensor(s), new Tensor(v)];
}

/** U and P of a = U P, for matrices that are not wide. */
export function polarFactors(a: Tensor): [Tensor, Tensor] {
  const [u, p] = polarNodes(g, a.node);
  return [new Tensor(u), new Tensor(p)];
}

/** Q with so many columns, and R with as many rows. */
export function orthogonalFactors(a: Tensor, columns: number): [Tensor, Tensor] {
  const [q, r] = qrNodes(g, a.node, columns);
  return [new Tensor(q), new Tensor(r)];
}

/** Pseudo-inverses; singular values up to `rtol` times the largest count as zero. */
export const pseudoInverse = (a: Tensor, rtol: number): Tensor =>
  new Tensor(makeNode(pinv, [a.node, shareNode(a, rtol)], {}, backendOf(a.node)));

/** x of least length that makes ‖a x - b‖ least; batches alike. */
export const leastSquaresSolution = (a: Tensor, b: Tensor, rtol: number): Tensor =>
  new Tensor(makeNode(leastSquares, [a.node, b.node, shareNode(a, rtol)], {}, backendOf(a.node)));

const shareNode = ({ node }: Tensor, rtol: number): Node => scalarNode(rtol, realDType(node.dtype), node.device);
