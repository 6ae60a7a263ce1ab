/**
 * Matrices [B, n, n] prepared for the QR algorithm (schur.ts): balanced, so that rows and columns have about the same size, and
 * reduced to upper Hessenberg form, with zeros below the diagonal beside the main one, by Householder reflections from both
 * sides. A scan takes a column a round: two products with its vector and one change of the whole matrix.
 */
import { GraphFunction, makePlaceholder } from "../../function.js";
import type { Node } from "../../node.js";
import type { GraphOps } from "../../vocabulary.js";
import { scanNode } from "../control/scan.js";
import * as E from "../elementwise.js";
import * as R from "../reduce.js";
import { identity, isComplexNode, rowsApplied } from "./householder.js";
import { realOf } from "./small-eigh.js";

/** Rounds of balancing: each leaves a third of the imbalance, in bits. */
const ROUNDS = 12;

/** |re| + |im|, or the absolute value. */
export const sizeOfNumber = (g: GraphOps, x: Node): Node =>
  isComplexNode(x) ? g.add(g.abs(g.real(x)), g.abs(g.imag(x))) : g.abs(x);

/**
 * D⁻¹ A D, and D's diagonal [B, n], of powers of two. All rows change at once, by the third root of a row's length over its
 * column's: by the square root, pairs of rows would change places forever. Lengths are roots of sums of squares: sums of absolute
 * values balance more than is good for Frank's matrix.
 */
export function balanced(g: GraphOps, a: Node): { readonly matrix: Node; readonly factors: Node } {
  const [batch, n] = a.shape;
  const real = realOf(a.dtype);
  const isDiagonal = g.equal(g.counting(a.shape, 1, a), g.counting(a.shape, 2, a));
  const sizes = g.where(isDiagonal, 0, sizeOfNumber(g, a));
  const [own, power, inverse] = Array.from({ length: 3 }, () =>
    makePlaceholder({ shape: [batch, n], dtype: real, device: a.device }),
  );
  const given = makePlaceholder(sizes);
  // Powers are carried from round to round, so that there are two for each row, not one for each element. Their products are exact.
  const powers = (exponents: Node) => [exponents, g.neg(exponents)].map((x) => g.move(E.exp2, [x], {}));
  const ratios = (power: Node, inverse: Node) =>
    g.mul(g.unreduce(power, a.shape, [1]), g.unreduce(inverse, a.shape, [2]));
  const squares = g.square(g.mul(given, ratios(power, inverse)));
  const [rows, columns] = [g.sum(squares, [2]), g.sum(squares, [1])];
  const isThere = g.and(g.greater(rows, 0), g.greater(columns, 0));
  const quotient = g.div(g.where(isThere, rows, 1), g.where(isThere, columns, 1));
  const change = g.move(E.round, [g.div(g.move(E.log2, [quotient], {}), 6)], {});
  const most = real === "f64" ? 200 : 30;
  const next = g.maximum(g.minimum(g.add(own, change), most), -most);
  const body = new GraphFunction([given, own, power, inverse], [next, ...powers(next)]);
  const params = { body, constants: 1, carries: 3, length: ROUNDS, isReverse: false };
  const [start, one] = [0, 1].map((value) => g.add(g.zeros([batch, n], a, real), value));
  const [, factors, inverses] = scanNode([sizes, start, one, one], params);
  return { matrix: g.mul(a, g.cast(ratios(factors, inverses), a.dtype)), factors };
}

/** H = Qᴴ A Q, and Q where it is wanted. */
export function hessenberg(g: GraphOps, a: Node, wantsVectors: boolean): { readonly h: Node; readonly q: Node | null } {
  const [batch, n] = a.shape;
  const whole = () => identity(g, a, batch, n, n);
  if (n <= 2) return { h: a, q: wantsVectors ? whole() : null };
  const own = makePlaceholder(a);
  const number = makePlaceholder({ shape: [1], dtype: "i32", device: a.device });
  const { matrix, vector, tau } = reducedColumn(g, own, number);
  const body = new GraphFunction([own, number], [matrix, vector, tau]);
  const count = n - 2;
  const params = { body, constants: 0, carries: 1, length: count, isReverse: false };
  const [h, vectors, taus] = scanNode([a, g.counting([count, 1], 0, a)], params);
  if (!wantsVectors) return { h, q: null };
  return { h, q: rowsApplied(g, g.permute(vectors, [1, 0, 2]), g.permute(taus, [1, 0]), whole()) };
}

/** A column made zero below its second row under the diagonal: the matrix, the vector [B, n] and the factor [B] of I - τ v vᴴ. */
function reducedColumn(g: GraphOps, a: Node, number: Node) {
  const [batch, n] = a.shape;
  const line = [batch, n, 1];
  const next = g.add(g.broadcast(g.reshape(number, [1, 1, 1]), line), 1);
  const row = g.counting(line, 1, a);
  const [isHead, isBelow] = [g.equal(row, next), g.greater(row, next)];
  const column = g.take(a, number, 2);
  const size = g.move(R.max, [g.where(g.or(isHead, isBelow), sizeOfNumber(g, column), 0)], { axes: [1] });
  const safe = g.where(g.greater(size, 0), size, 1);
  const whole = (x: Node) => g.unreduce(x, line, [1]);
  const scaled = g.div(column, g.cast(whole(safe), a.dtype));
  const below = g.where(isBelow, scaled, 0);
  const head = g.sum(g.where(isHead, scaled, 0), [1]);
  const { beta, tau, gap } = reflection(g, head, g.sum(squared(g, below), [1]));
  const v = g.where(isHead, 1, g.div(below, whole(gap)));
  // Hᴴ A H = A - v (τ̄ vᴴA - |τ|² (vᴴ A v) vᴴ) - τ (A v) vᴴ
  const [left, right] = [g.matmul(g.adjoint(v), a), g.matmul(a, v)];
  const inner = g.matmul(g.adjoint(v), right);
  const factor = g.reshape(tau, [batch, 1, 1]);
  const across = g.adjoint(v);
  const over = (x: Node, shape: readonly number[]) => g.broadcast(x, shape);
  const square = g.mul(g.mul(factor, g.conjugate(factor)), inner);
  const top = g.sub(g.mul(over(g.conjugate(factor), left.shape), left), g.mul(over(square, across.shape), across));
  const side = g.mul(over(factor, line), right);
  const outer = (x: Node, y: Node) => g.mul(over(x, a.shape), over(y, a.shape));
  const changed = g.sub(g.sub(a, outer(v, top)), outer(side, across));
  const isColumn = g.equal(g.counting(a.shape, 2, a), g.broadcast(g.reshape(number, [1, 1, 1]), a.shape));
  const exact = g.where(isHead, whole(g.mul(beta, g.cast(safe, a.dtype))), 0);
  const isZeroed = g.and(isColumn, over(g.or(isHead, isBelow), a.shape));
  return {
    matrix: g.where(isZeroed, over(exact, a.shape), changed),
    vector: g.reshape(v, [batch, n]),
    tau: g.reshape(tau, [batch]),
  };
}

/** |x|² */
const squared = (g: GraphOps, x: Node): Node =>
  isComplexNode(x) ? g.add(g.square(g.real(x)), g.square(g.imag(x))) : g.square(x);

/** The reflection of columns with these heads, and these sums of squares below them: LAPACK's, whose β is real. */
function reflection(g: GraphOps, head: Node, below: Node) {
  const isComplexHead = isComplexNode(head);
  const isEmpty = g.equal(below, 0);
  const isDone = isComplexHead ? g.and(isEmpty, g.equal(g.imag(head), 0)) : isEmpty;
  const length = g.sqrt(g.add(squared(g, head), below));
  const real = isComplexHead ? g.real(head) : head;
  const beta = g.cast(g.where(g.less(real, 0), length, g.neg(length)), head.dtype);
  const safe = g.where(isDone, 1, beta);
  return {
    beta: g.where(isDone, head, beta),
    tau: g.where(isDone, 0, g.div(g.sub(safe, head), safe)),
    gap: g.where(isDone, 1, g.sub(head, safe)),
  };
}
