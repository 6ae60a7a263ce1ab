/**
 * Eigenvalues and eigenvectors of real symmetric tridiagonal matrices by divide and conquer (Cuppen 1981): the matrix is cut into
 * small ones, which are solved by rotations; then neighbours are joined, again and again. A join is a diagonal matrix plus one of
 * rank one, and a product of matrices for the vectors. All joins of a level are one batch.
 */
import type { Node } from "../../node.js";
import type { RoutinePrimitive } from "../../primitive.js";
import type { GraphOps } from "../../vocabulary.js";
import { inferBundle, partsOf } from "../bundle.js";
import * as R from "../reduce.js";
import { smallEighNodes } from "./small-eigh.js";

/** Rows of the small matrices, at most. */
const LEAF = 16;

/** Inputs: d [B, m], whose halves rise, z [B, m] of length 1, ρ [B]. Parts: eigenvalues of diag(d) + ρ z zᵀ, vectors as rows. */
const rankOne: RoutinePrimitive = { name: "rankOne", kind: "routine", infer: inferBundle };

/**
 * The `wanted` largest eigenvalues [B, wanted], rising, and their eigenvectors as rows [B, wanted, n], from the diagonal and what is beside
 * it, [B, n], the last 0.
 */
export function tridiagonalEigen(g: GraphOps, diagonal: Node, beside: Node, wanted: number): [Node, Node] {
  const [batch, n] = diagonal.shape;
  const levels = Math.max(0, Math.ceil(Math.log2(n / LEAF)));
  const leaves = 2 ** levels;
  const size = Math.ceil(n / leaves);
  const { d, e } = filledUp(g, diagonal, beside, size * leaves);
  const bound = (x: Node) => g.reshape(x, [batch, leaves, size]);
  // The element that couples two leaves, [B, leaves], is subtracted from the diagonals of both.
  const cuts = g.reshape(g.slice(bound(e), [0, 0, size - 1], [batch, leaves, 1]), [batch, leaves]);
  let values = g.reshape(g.sub(bound(d), taken(g, g.abs(cuts), size)), [batch * leaves, size]);
  let rows: Node;
  [values, rows] = smallEighNodes(g, leafMatrices(g, values, g.reshape(bound(e), [batch * leaves, size])));
  for (let count = leaves / 2, height = size; count >= 1; count /= 2, height *= 2) {
    // The cut inside each pair lies behind its first half.
    const spacing = leaves / count;
    const inner = g.slice(cuts, [0, spacing / 2 - 1], [batch, count], [1, spacing]);
    // Rows before those that are wanted are not needed of the last join.
    const skipped = count === 1 ? n - wanted : 0;
    [values, rows] = joined(g, values, rows, g.reshape(inner, [batch * count]), height, skipped);
  }
  const total = size * leaves;
  const first = leaves === 1 ? n - wanted : 0;
  return [
    g.slice(g.reshape(values, [batch, total]), [0, n - wanted], [batch, wanted]),
    g.slice(rows, [0, first, 0], [batch, wanted, n]),
  ];
}

/** More rows, without anything beside their diagonal, which is above all eigenvalues: they come last. */
function filledUp(g: GraphOps, diagonal: Node, beside: Node, total: number) {
  const [batch, n] = diagonal.shape;
  const more = total - n;
  if (more === 0) return { d: diagonal, e: beside };
  const largest = (x: Node) => g.move(R.max, [g.abs(x)], { axes: [1] });
  const above = g.add(g.mul(g.add(largest(diagonal), g.mul(largest(beside), 2)), 1.25), 1);
  const extra = g.broadcast(g.reshape(above, [batch, 1]), [batch, more]);
  return { d: g.concat([diagonal, extra], 1), e: g.pad(beside, [0, 0], [0, more]) };
}

/** The amounts that cuts subtract from the diagonals [B, leaves, size]: at the end of a leaf and the start of the next. */
function taken(g: GraphOps, cuts: Node, size: number): Node {
  const [batch, leaves] = cuts.shape;
  const shape = [batch, leaves, size];
  const place = g.counting(shape, 2, cuts);
  const whole = (x: Node) => g.broadcast(g.reshape(x, [batch, leaves, 1]), shape);
  const before = g.pad(cuts, [0, 1], [0, -1]);
  const last = g.where(g.equal(place, size - 1), whole(cuts), 0);
  return g.add(last, g.where(g.equal(place, 0), whole(before), 0));
}

/** Tridiagonal matrices [B, m, m]; the last element beside the diagonal is left out. */
function leafMatrices(g: GraphOps, diagonal: Node, beside: Node): Node {
  const [batch, m] = diagonal.shape;
  const shape = [batch, m, m];
  const [row, column] = [g.counting(shape, 1, diagonal), g.counting(shape, 2, diagonal)];
  const [down, along] = [[2], [1]].map((axes) => g.unreduce(beside, shape, axes));
  const upper = g.where(g.equal(column, g.add(row, 1)), down, 0);
  const lower = g.where(g.equal(row, g.add(column, 1)), along, upper);
  return g.where(g.equal(row, column), g.unreduce(diagonal, shape, [2]), lower);
}

/** Pairs of neighbours [2 B, h] joined: values [B, 2 h] and rows [B, 2 h - skipped, 2 h]. `cut`: what couples them, [B]. */
function joined(g: GraphOps, values: Node, rows: Node, cut: Node, height: number, skipped: number): [Node, Node] {
  const [pairs] = cut.shape;
  const m = 2 * height;
  const d = g.reshape(values, [pairs, m]);
  const each = g.reshape(rows, [pairs, 2, height, height]);
  const end = g.reshape(g.slice(each, [0, 0, 0, height - 1], [pairs, 1, height, 1]), [pairs, height]);
  const begin = g.reshape(g.slice(each, [0, 1, 0, 0], [pairs, 1, height, 1]), [pairs, height]);
  const signs = g.broadcast(g.reshape(g.where(g.less(cut, 0), -1, g.constantLike(1, cut)), [pairs, 1]), [
    pairs,
    height,
  ]);
  const z = g.mul(g.concat([end, g.mul(begin, signs)], 1), Math.SQRT1_2);
  const rho = g.mul(g.abs(cut), 2);
  const outputs = [
    { shape: [pairs, m], dtype: d.dtype },
    { shape: [pairs, m, m], dtype: d.dtype },
  ];
  const [found, all] = partsOf(g.move(rankOne, [d, z, rho], { outputs }));
  const kept = m - skipped;
  const turns = g.slice(all, [0, skipped, 0], [pairs, kept, m]);
  const halves = g.permute(g.reshape(turns, [pairs, kept, 2, height]), [0, 2, 1, 3]);
  const products = g.dot(g.reshape(halves, [pairs * 2, kept, height]), rows);
  const apart = g.reshape(products, [pairs, 2, kept, height]);
  return [found, g.reshape(g.permute(apart, [0, 2, 1, 3]), [pairs, kept, m])];
}
