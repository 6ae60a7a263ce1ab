/**
 * Products that are symmetric by construction: XᵀX, X Xᵀ, XᵀWX with a weight for each sample. Covariances, the equations of least squares
 * and of Newton's method, and kernels of samples are such. Half of the result is computed and stored on both sides of the diagonal.
 */
import { atomsOf, type IndexExpr, IndexSpace, unravel } from "../../core/index-expr.js";
import type { Node } from "../../graph/node.js";
import { mul } from "../../graph/primitives/elementwise.js";
import { forEachRead, indexKey } from "../../graph/reads.js";
import type { Value } from "../ir/ir.js";
import type { KernelBuilder } from "../ir/kernel-builder.js";
import type { Lowering } from "../lower/lowering.js";

/** Nodes that are looked at for the factors of an element; longer products are taken for ones that are not symmetric. */
const MOST_VISITS = 64;

/**
 * Whether a product of [batch, m, k] and [batch, k, m] is symmetric: an element of the left operand at (i, step) and one of the right operand
 * at (step, i) have the same factors, beside those that depend on the step alone. Equal operands must be one node.
 */
export function isSymmetricProduct(a: Node, b: Node): boolean {
  const [batch, m, k] = a.shape;
  if (b.shape[2] !== m || a.dtype === "bool") return false;
  const space = new IndexSpace();
  const [atBatch, place, step] = [
    space.variable("batch", batch),
    space.variable("place", m),
    space.variable("step", k),
  ];
  const [left, right] = [
    factorsOf(space, a, [atBatch, place, step], place),
    factorsOf(space, b, [atBatch, step, place], place),
  ];
  return left !== null && right !== null && areSame(left, right);
}

interface Factor {
  readonly node: Node;
  readonly key: string;
}

/** Whether two lists hold the same factors, in any order. */
function areSame(left: readonly Factor[], right: readonly Factor[]): boolean {
  const rest = [...right];
  for (const { node, key } of left) {
    const at = rest.findIndex((other) => other.node === node && other.key === key);
    if (at < 0) return false;
    rest.splice(at, 1);
  }
  return rest.length === 0;
}

/** The factors of an element that depend on the place; null where they are too many. */
function factorsOf(space: IndexSpace, operand: Node, index: readonly IndexExpr[], place: IndexExpr): Factor[] | null {
  const found: Factor[] = [];
  const along = atomsOf(place);
  const waiting = [{ node: operand, at: index }];
  for (let visits = 0; waiting.length > 0; visits++) {
    if (visits > MOST_VISITS) return null;
    const { node, at } = waiting.pop() as (typeof waiting)[number];
    const reads = node.storage === null ? readsOf(space, node, at) : null;
    if (reads !== null) waiting.push(...reads);
    else if (at.some((part) => [...atomsOf(part)].some((atom) => along.has(atom)))) {
      found.push({ node, key: indexKey(at) });
    }
  }
  return found;
}

/** The factors of an element of a product of two, or the one element that a movement takes; null where it is something else. */
function readsOf(space: IndexSpace, node: Node, at: readonly IndexExpr[]) {
  const isProduct = node.primitive === mul;
  if (!isProduct && node.primitive.kind !== "movement") return null;
  const reads: { readonly node: Node; readonly at: readonly IndexExpr[] }[] = [];
  let isOpen = false;
  forEachRead(space, node, at, (input, index, isBounded) => {
    isOpen ||= isBounded;
    reads.push({ node: input, at: index });
  });
  return isOpen || reads.length !== (isProduct ? 2 : 1) ? null : reads;
}

/** The number of tiles on and above the diagonal of `extent` by `extent` of them. */
export const halfOfTiles = (extent: number): number => (extent * (extent + 1)) / 2;

/**
 * The row and the column of one of the tiles on and above the diagonal of a square of them. The first row and the last have together one
 * more than a row, and so have the second and the last but one.
 */
export function aboveDiagonal(
  lowering: Lowering,
  k: KernelBuilder,
  at: IndexExpr,
  extent: number,
): readonly [row: IndexExpr, column: IndexExpr] {
  const folded = Math.ceil(extent / 2);
  const [from, along] = unravel(lowering.space, at, [folded, extent + 1]).map((part) => lowering.indexValue(part));
  const row = k.convert("i32", from);
  const column = k.binary("add", row, k.convert("i32", along));
  const isUpper = k.compare("lt", column, k.constant("i32", extent));
  const mirrored = (value: Value) => k.binary("sub", k.constant("i32", extent - 1), value);
  const lowerColumn = k.binary("sub", k.constant("i32", 2 * extent - 1), column);
  return [
    lowering.index(k.select(isUpper, row, mirrored(row)), extent),
    lowering.index(k.select(isUpper, column, lowerColumn), extent),
  ];
}
