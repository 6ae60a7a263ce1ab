/**
 * Functions of nodes that build graphs. The rules of primitives are written in them; see vocabulary.ts.
 *
 * Operands of elementwise functions have one shape and dtype; a number stands for itself everywhere.
 */
import { type DType, isComplex, isFloat, isNarrowFloat } from "../core/dtype.js";
import { type Shape, sizeOf } from "../core/shape.js";
import { broadcastNode, castNode, derive, makeNode, permuteNode, reshapeNode, scalarNode } from "./build.js";
import type { Node } from "./node.js";
import type { ElementwisePrimitive, Params, Primitive } from "./primitive.js";
import * as C from "./primitives/cumulate.js";
import { dot as dotPrimitive } from "./primitives/dot.js";
import * as E from "./primitives/elementwise.js";
import { iota as iotaPrimitive } from "./primitives/leaf.js";
import { solveLower as solveLowerPrimitive } from "./primitives/linalg/triangular.js";
import * as M from "./primitives/movement.js";
import { polygamma as polygammaPrimitive } from "./primitives/polygamma.js";
import * as R from "./primitives/reduce.js";
import { scatter as scatterPrimitive } from "./primitives/scatter.js";

export { foldWindows } from "./windows.js";
export { broadcastNode as broadcast, castNode as cast, permuteNode as permute, reshapeNode as reshape };

type Operand = Node | number;

// ------------------------------------------------------------------------------------------------ elementwise

const filled = (value: number, like: Node, dtype: DType = like.dtype): Node =>
  scalarNode(value, dtype, like.device, like.shape);

const unary = (primitive: ElementwisePrimitive) => (x: Node) => derive(primitive, x, {});

const binary = (primitive: ElementwisePrimitive) => (a: Operand, b: Operand) => {
  const like = (typeof a === "number" ? b : a) as Node;
  const inputs = [a, b].map((operand) => (typeof operand === "number" ? filled(operand, like) : operand));
  return makeNode(primitive, inputs, {}, like.device);
};

export const add = binary(E.add);
export const sub = binary(E.sub);
export const mul = binary(E.mul);
export const div = binary(E.div);
export const pow = binary(E.pow);
export const and = binary(E.and);
export const or = binary(E.or);
export const equal = binary(E.equal);
export const less = binary(E.less);
export const greater = binary(E.greater);
export const greaterEqual = binary(E.greaterEqual);
export const maximum = binary(E.maximum);
export const minimum = binary(E.minimum);
export const shiftLeft = binary(E.shiftLeft);
export const shiftRight = binary(E.shiftRight);

export const complex = binary(E.complex);
export const real = unary(E.real);
export const imag = unary(E.imag);
export const conj = unary(E.conj);
export const neg = unary(E.neg);
export const abs = unary(E.abs);
export const sign = unary(E.sign);
export const square = unary(E.square);
export const trunc = unary(E.trunc);
export const exp = unary(E.exp);
export const log = unary(E.log);
export const log1p = unary(E.log1p);
export const sqrt = unary(E.sqrt);
export const sin = unary(E.sin);
export const cos = unary(E.cos);
export const sinh = unary(E.sinh);
export const cosh = unary(E.cosh);
export const sigmoid = unary(E.sigmoid);
export const digamma = unary(E.digamma);
export const trigamma = unary(E.trigamma);

/** A derivative of digamma, from the second on. */
export function polygamma(x: Node, order: number): Node {
  return derive(polygammaPrimitive, x, { order });
}

export function where(condition: Node, a: Operand, b: Operand): Node {
  const like = (typeof a === "number" ? b : a) as Node;
  const [whenTrue, whenFalse] = [a, b].map((side) => (typeof side === "number" ? filled(side, like) : side));
  return makeNode(E.where, [condition, whenTrue, whenFalse], {}, condition.device);
}

/** One number of a node's dtype and shape. */
export const constantLike = filled;

export const zeros = (shape: Shape, like: Node, dtype: DType = like.dtype): Node =>
  scalarNode(dtype === "bool" ? false : 0, dtype, like.device, shape);

/** Whether gradients pass through values of a dtype. */
export const isDifferentiable = (dtype: DType): boolean => isFloat(dtype) || dtype === "c64" || dtype === "c128";

// ------------------------------------------------------------------------------------------------ movement

export function slice(
  x: Node,
  start: readonly number[],
  shape: Shape,
  step: readonly number[] = x.shape.map(() => 1),
): Node {
  return derive(M.slice, x, { start: [...start], step: [...step], shape: [...shape] });
}

/** A value around elements; negative amounts cut off. */
export function padWith(x: Node, low: readonly number[], high: readonly number[], value: number): Node {
  return derive(M.pad, x, { low: [...low], high: [...high], interior: x.shape.map(() => 0), value });
}

/** Zeros around and between elements; negative amounts cut off. */
export function pad(
  x: Node,
  low: readonly number[],
  high: readonly number[],
  interior: readonly number[] = x.shape.map(() => 0),
): Node {
  if ([...low, ...high, ...interior].every((amount) => amount === 0)) return x;
  return derive(M.pad, x, { low: [...low], high: [...high], interior: [...interior], value: 0 });
}

export function concat(nodes: readonly Node[], axis: number): Node {
  return nodes.length === 1 ? nodes[0] : makeNode(M.concat, nodes, { axis }, nodes[0].device);
}

/** Backwards along axes. */
export function flip(x: Node, axes: readonly number[]): Node {
  return slice(
    x,
    x.shape.map((extent, axis) => (axes.includes(axis) ? Math.max(0, extent - 1) : 0)),
    x.shape,
    x.shape.map((_, axis) => (axes.includes(axis) ? -1 : 1)),
  );
}

/** The same elements, but results computed from them are recomputed, not shared with earlier ones. */
export function recompute(x: Node): Node {
  return derive(M.recompute, x, {});
}

/** An operation by its primitive. */
export function move(primitive: Primitive, inputs: readonly Node[], params: Params): Node {
  return makeNode(primitive, inputs, params, inputs[0].device);
}

export function take(x: Node, positions: Node, axis: number): Node {
  return makeNode(M.take, [x, positions], { axis }, x.device);
}

export function takeAlongAxis(x: Node, positions: Node, axis: number): Node {
  return makeNode(M.takeAlongAxis, [x, positions], { axis }, x.device);
}

export function gather(x: Node, positions: readonly Node[], axes: readonly number[], at: number): Node {
  return makeNode(M.gather, [x, ...positions], { axes: [...axes], at }, x.device);
}

/** One axis brought to the front. */
export function axisFirst(x: Node, axis: number): Node {
  return permuteNode(x, [axis, ...x.shape.flatMap((_, i) => (i === axis ? [] : [i]))]);
}

/** The inverse of `axisFirst`. */
export function firstToAxis(x: Node, axis: number): Node {
  const rest = x.shape.flatMap((_, i) => (i === 0 ? [] : [i]));
  return permuteNode(x, [...rest.slice(0, axis), 0, ...rest.slice(axis)]);
}

/** The last two axes swapped. */
export function transposed(x: Node): Node {
  const rank = x.shape.length;
  return permuteNode(
    x,
    [...x.shape.keys()].map((axis) => (axis < rank - 2 ? axis : 2 * rank - 3 - axis)),
  );
}

/** The complex conjugate; real numbers as they are. */
export const conjugate = (x: Node): Node => (isComplex(x.dtype) ? conj(x) : x);

/** The conjugate transpose of the last two axes. */
export const adjoint = (x: Node): Node => conjugate(transposed(x));

/** 0, 1, 2 … along one axis of a shape (i32), the same along the others. */
export function counting(shape: Shape, axis: number, like: Node): Node {
  const line = makeNode(iotaPrimitive, [], { shape: [shape[axis]], dtype: "i32" }, like.device);
  return broadcastNode(
    reshapeNode(
      line,
      shape.map((extent, i) => (i === axis ? extent : 1)),
    ),
    shape,
  );
}

// ------------------------------------------------------------------------------------------------ reductions, routines

export function sum(x: Node, axes: readonly number[]): Node {
  return axes.length === 0 ? x : derive(R.sum, x, { axes: [...axes].sort((i, j) => i - j) });
}

export function any(x: Node, axes: readonly number[]): Node {
  return derive(R.any, x, { axes: [...axes] });
}

/** Sums over broadcast axes, back to the given shape: the transpose of broadcasting. */
export function sumTo(x: Node, shape: Shape): Node {
  const extra = x.shape.length - shape.length;
  const axes = x.shape.flatMap((extent, axis) =>
    axis < extra || (shape[axis - extra] === 1 && extent !== 1) ? [axis] : [],
  );
  return reshapeNode(sum(x, axes), shape);
}

/** A reduced node broadcast to the shape before the reduction. */
export function unreduce(x: Node, shape: Shape, axes: readonly number[]): Node {
  return broadcastNode(
    reshapeNode(
      x,
      shape.map((extent, axis) => (axes.includes(axis) ? 1 : extent)),
    ),
    shape,
  );
}

export function cumulate(
  x: Node,
  params: { axis: number; op: C.CumulateOp; isReverse?: boolean; isExclusive?: boolean },
): Node {
  return derive(C.cumulate, x, {
    axis: params.axis,
    op: params.op,
    isReverse: params.isReverse === true,
    isExclusive: params.isExclusive === true,
  });
}

/** `params`: those of the product that this one derives from, which say its precision. */
export function dot(a: Node, b: Node, params: Params = {}): Node {
  return makeNode(dotPrimitive, [a, b], params, a.device);
}

/** Products of matrices [.., m, k] × [.., k, n] with equal leading axes. */
export function matmul(a: Node, b: Node): Node {
  const lead = a.shape.slice(0, -2);
  const matrices = (x: Node) => reshapeNode(x, [sizeOf(lead), ...x.shape.slice(-2)]);
  const product = dot(matrices(a), matrices(b));
  return reshapeNode(product, [...lead, ...product.shape.slice(1)]);
}

/** Adds rows of updates [m, inner] to rows of x [n, inner] at positions [m]; positions outside 0 … n - 1 are skipped. */
export function scatterAdd(x: Node, positions: Node, updates: Node): Node {
  if (sizeOf(x.shape) === 0 || sizeOf(updates.shape) === 0) return x;
  if (isNarrowFloat(x.dtype)) {
    return castNode(scatterAdd(castNode(x, "f32"), positions, castNode(updates, "f32")), x.dtype);
  }
  return makeNode(scatterPrimitive, [x, positions, updates], { op: "add" }, x.device);
}

export function solveLower(l: Node, b: Node, isUnit: boolean): Node {
  return makeNode(solveLowerPrimitive, [l, b], { isUnit }, l.device);
}

/** X with Lᵀ·X = B for lower L: with rows and columns reversed, Lᵀ is lower. */
export function solveLowerTransposed(l: Node, b: Node, isUnit: boolean): Node {
  const rank = l.shape.length;
  const rows = [rank - 2];
  return flip(solveLower(flip(transposed(l), [rank - 2, rank - 1]), flip(b, rows), isUnit), rows);
}

/** The lower triangle, with the diagonal times a factor. */
export function lowerPart(x: Node, diagonal = 1): Node {
  const rank = x.shape.length;
  const [row, column] = [counting(x.shape, rank - 2, x), counting(x.shape, rank - 1, x)];
  const below = where(greater(row, column), x, 0);
  return diagonal === 0 ? below : where(equal(row, column), diagonal === 1 ? x : mul(x, diagonal), below);
}

/** The same matrices, without the imaginary parts on their diagonals. */
export function withRealDiagonal(x: Node): Node {
  if (!isComplex(x.dtype)) return x;
  const rank = x.shape.length;
  const isDiagonal = equal(counting(x.shape, rank - 2, x), counting(x.shape, rank - 1, x));
  return where(isDiagonal, castNode(real(x), x.dtype), x);
}
