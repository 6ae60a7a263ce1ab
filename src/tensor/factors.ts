/** The routines of linear algebra as functions of tensors; `linalg` checks their arguments and gives them their interface. */
import { luNodes, luSolve } from "../graph/primitives/linalg/lu.js";
import { cholesky, solveLower } from "../graph/primitives/linalg/triangular.js";
import { stopped } from "../graph/primitives/movement.js";
import { g } from "../graph/vocabulary.js";
import { backendOf, derive, makeNode } from "./build.js";
import { Tensor } from "./tensor.js";

/** Lower factors of Hermitian matrices of f32, f64, c64 or c128. */
export const choleskyFactor = (a: Tensor): Tensor => new Tensor(derive(cholesky, a.node, {}));

/** L·X = B for lower L, batches alike. */
export const solvedLower = (l: Tensor, b: Tensor, isUnit: boolean): Tensor =>
  new Tensor(makeNode(solveLower, [l.node, b.node], { isUnit }, backendOf(l.node)));

/** The factors in one matrix, the pivots, and the order of rows (graph/primitives/linalg/lu.ts). */
export function luFactors(a: Tensor): readonly [factors: Tensor, pivots: Tensor, order: Tensor] {
  const [factors, pivots, order] = luNodes(g, a.node).map((node) => new Tensor(node));
  return [factors, pivots, order];
}

/** The factors, without a way for derivatives to pass: `solvedWithLu` has derivatives of its own. */
export const stoppedLuFactors = (a: Tensor): ReturnType<typeof luFactors> =>
  luFactors(new Tensor(derive(stopped, a.node, {})));

/** A·X = B, or Aᵀ·X = B, by the factors of A and the order of its rows; batches alike. */
export const solvedWithLu = (
  a: Tensor,
  b: Tensor,
  [factors, order]: readonly [Tensor, Tensor],
  isTransposed = false,
): Tensor =>
  new Tensor(makeNode(luSolve, [a.node, b.node, factors.node, order.node], { isTransposed }, backendOf(a.node)));
