/**
 * Products of matrices and tensors, as functions and as methods of `Tensor`, with NumPy's rules. All of them end in
 * `dotNode`.
 */

import { checkOptions, inOperation, type OptionKinds } from "../../core/arguments.js";
import { checkCount } from "../../core/arity.js";
import { type DType, isComplex } from "../../core/dtype.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { broadcastShapes, formatShape, normalizeAxes, sameShape, sizeOf } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { contractNodes, dotNode, matrixProductNode } from "../../graph/contraction.js";
import type { Node } from "../../graph/node.js";
import { type MatmulPrecision, withPrecision } from "../../graph/product-precision.js";
import { broadcastNode, castNode, checkOneDevice, commonDType, reshapeNode } from "../build.js";
import type { MeetingOf } from "../result-dtypes.js";
import type { Tensor } from "../tensor.js";
import { checkTensor } from "../tensor-checks.js";

/** Axes of the left and of the right operand, in pairs. */
export type AxisPairs = readonly [number | readonly number[], number | readonly number[]];

/** Options of `matmul`. */
export interface MatmulOptions {
  /** The precision of products of f32: "highest", "high" or "fast"; that of `setMatmulPrecision` unless told. */
  readonly precision?: MatmulPrecision;
}

/** Options of `dot`. */
export interface DotOptions<T extends DType = DType> extends MatmulOptions {
  /** Axes to sum over: [of the left, of the right]. Left out: the last of the left, the last but one of the right. */
  readonly axes?: AxisPairs;
  /** Axes that run in step and stay: [of the left, of the right]. They come first in the result. */
  readonly batchAxes?: AxisPairs;
  /** The dtype that operands are cast to first, and that sums are made in: i32 for products of i8. */
  readonly dtype?: T;
}

const MATMUL: OptionKinds<MatmulOptions> = { precision: "text" };
const DOT: OptionKinds<DotOptions> = { axes: "any", batchAxes: "any", dtype: "dtype", precision: "text" };

export class ContractionMethods<D extends DType> {
  /** Matrix product over the last two axes; leading axes broadcast, vectors are rows on the left and columns on the right. */
  matmul<E extends DType>(this: Tensor, other: Tensor<E>, options?: MatmulOptions): Tensor<MeetingOf<D, E>> {
    return matmul(this as Tensor<D>, other, options);
  }

  /** NumPy's dot, or any pairing of axes: `a.dot(b, { axes: [[1, 2], [0, 1]], batchAxes: [0, 3] })`. */
  dot<E extends DType, T extends DType = MeetingOf<D, E>>(
    this: Tensor,
    other: Tensor<E>,
    options?: DotOptions<T>,
  ): Tensor<T> {
    return dot(this as Tensor<D>, other, options);
  }

  /** Sums over the last `axes` axes of this and the first of the other, or over the pairs given. */
  tensordot<E extends DType>(this: Tensor, other: Tensor<E>, axes?: number | AxisPairs): Tensor<MeetingOf<D, E>> {
    return tensordot(this as Tensor<D>, other, axes);
  }

  /** Sums over the last axis of both. */
  inner<E extends DType>(this: Tensor, other: Tensor<E>): Tensor<MeetingOf<D, E>> {
    return inner(this as Tensor<D>, other);
  }

  /** Every element of this times every element of the other, both flattened. */
  outer<E extends DType>(this: Tensor, other: Tensor<E>): Tensor<MeetingOf<D, E>> {
    return outer(this as Tensor<D>, other);
  }

  /** The sum of all products of corresponding elements; those of this are conjugated when they are complex. */
  vdot<E extends DType>(this: Tensor, other: Tensor<E>): Tensor<MeetingOf<D, E>> {
    return vdot(this as Tensor<D>, other);
  }

  /** Kronecker product: blocks of the other, scaled by the elements of this. */
  kron<E extends DType>(this: Tensor, other: Tensor<E>): Tensor<MeetingOf<D, E>> {
    return kron(this as Tensor<D>, other);
  }
}

function checkFactors(operation: string, a: Tensor, b: Tensor): void {
  checkTensor(operation, "the left operand", a);
  checkTensor(operation, "the right operand", b);
}

/** Two operands on one device and of one dtype. */
function operands(operation: string, a: Tensor, b: Tensor, dtype?: DType): [Node, Node] {
  checkFactors(operation, a, b);
  checkOneDevice(operation, [a.node, b.node]);
  const common = dtype ?? commonDType(operation, [a.node, b.node]);
  return [castNode(a.node, common), castNode(b.node, common)];
}

type Product<L extends DType, R extends DType> = Tensor<MeetingOf<L, R>>;

/** The matrix product; as the method of the same name. */
export function matmul<L extends DType, R extends DType>(
  left: Tensor<L>,
  right: Tensor<R>,
  options?: MatmulOptions,
): Product<L, R> {
  checkCount("matmul", 3, arguments);
  if (options === undefined) return product(left, right);
  checkOptions("matmul", options, MATMUL);
  return withPrecision("matmul", options.precision, () => product(left, right));
}

/** Two matrices that fit, of one dtype and on one device. */
function isMatrixProduct(a: Node, b: Node): boolean {
  const { shape, dtype, device } = a;
  if (shape.length !== 2 || b.shape.length !== 2 || shape[1] !== b.shape[0]) return false;
  return dtype === b.dtype && device === b.device && !a.isWeak && !b.isWeak;
}

function product<L extends DType, R extends DType>(left: Tensor<L>, right: Tensor<R>): Product<L, R> {
  checkFactors("matmul", left, right);
  // Most products are of two matrices that need no preparation, and many are small.
  if (isMatrixProduct(left.node, right.node)) return left.tensorOf(matrixProductNode(left.node, right.node));
  if (left.rank === 0 || right.rank === 0) {
    throw new ShapeError("matmul: a scalar is no matrix; use mul to scale.");
  }
  const [x, y] = operands("matmul", left, right);
  if (isMatrixProduct(x, y)) return left.tensorOf(matrixProductNode(x, y));
  const a = reshapeNode(x, left.rank === 1 ? [1, ...x.shape] : x.shape);
  const b = reshapeNode(y, right.rank === 1 ? [...y.shape, 1] : y.shape);
  const [m, k] = a.shape.slice(-2);
  const [rows, n] = b.shape.slice(-2);
  if (k !== rows) throw mismatch("matmul", left, right, `the left has ${k} columns, the right ${rows} rows`);
  const batch = broadcastShapes("matmul", a.shape.slice(0, -2), b.shape.slice(0, -2));
  const size = sizeOf(batch);
  // One right-hand matrix for all: the batch is more rows of the left.
  const isOneMatrix = b.shape.slice(0, -2).every((extent) => extent === 1);
  const made = isOneMatrix
    ? dotNode(reshapeNode(broadcastNode(a, [...batch, m, k]), [1, size * m, k]), reshapeNode(b, [1, k, n]))
    : dotNode(
        reshapeNode(broadcastNode(a, [...batch, m, k]), [size, m, k]),
        reshapeNode(broadcastNode(b, [...batch, k, n]), [size, k, n]),
      );
  const shape = [...batch, ...(left.rank === 1 ? [] : [m]), ...(right.rank === 1 ? [] : [n])];
  return left.tensorOf(reshapeNode(made, shape));
}

/** NumPy's dot, or any pairing of axes; as the method of the same name. */
export function dot<L extends DType, R extends DType, T extends DType = MeetingOf<L, R>>(
  left: Tensor<L>,
  right: Tensor<R>,
  options: DotOptions<T> = {},
): Tensor<T> {
  checkCount("dot", 3, arguments);
  checkOptions<DotOptions>("dot", options, DOT);
  const [a, b] = operands("dot", left, right, options.dtype);
  return withPrecision("dot", options.precision, () => {
    if (!options.axes && !options.batchAxes) {
      if (left.rank === 0 || right.rank === 0) return scaled("dot", left, a, b);
      return contracted("dot", left, right, a, b, [-1, right.rank === 1 ? 0 : -2], [[], []]);
    }
    return contracted("dot", left, right, a, b, options.axes ?? [[], []], options.batchAxes ?? [[], []]);
  });
}

/** Sums over pairs of axes; as the method of the same name. */
export function tensordot<L extends DType, R extends DType>(
  left: Tensor<L>,
  right: Tensor<R>,
  axes: number | AxisPairs = 2,
): Product<L, R> {
  checkCount("tensordot", 3, arguments);
  const [a, b] = operands("tensordot", left, right);
  if (typeof axes !== "number") return contracted("tensordot", left, right, a, b, axes, [[], []]);
  if (!Number.isInteger(axes) || axes < 0 || axes > Math.min(left.rank, right.rank)) {
    throw new ArgumentError(
      `tensordot: ${axes} axes of ${formatShape(left.shape)} and ${formatShape(right.shape)}; ` +
        `give 0 to ${Math.min(left.rank, right.rank)}, or pairs of axes.`,
    );
  }
  const last = Array.from({ length: axes }, (_, i) => left.rank - axes + i);
  return contracted("tensordot", left, right, a, b, [last, last.map((_, i) => i)], [[], []]);
}

/** Sums over the last axis of both; as the method of the same name. */
export function inner<L extends DType, R extends DType>(left: Tensor<L>, right: Tensor<R>): Product<L, R> {
  checkCount("inner", 2, arguments);
  const [a, b] = operands("inner", left, right);
  if (left.rank === 0 || right.rank === 0) return scaled("inner", left, a, b);
  return contracted("inner", left, right, a, b, [-1, -1], [[], []]);
}

/** All products of two elements; as the method of the same name. */
export function outer<L extends DType, R extends DType>(left: Tensor<L>, right: Tensor<R>): Product<L, R> {
  checkCount("outer", 2, arguments);
  const [a, b] = operands("outer", left, right);
  return left.tensorOf(contractNodes(flat(a), flat(b), { contract: [[], []], batch: [[], []] }));
}

/** The sum of products of corresponding elements; as the method of the same name. */
export function vdot<L extends DType, R extends DType>(left: Tensor<L>, right: Tensor<R>): Product<L, R> {
  checkCount("vdot", 2, arguments);
  checkFactors("vdot", left, right);
  const [a, b] = operands("vdot", isComplex(left.dtype) ? left.conj() : left, right);
  if (left.size !== right.size)
    throw mismatch("vdot", left, right, `they have ${left.size} and ${right.size} elements`);
  return left.tensorOf(contractNodes(flat(a), flat(b), { contract: [[0], [0]], batch: [[], []] }));
}

/** The Kronecker product; as the method of the same name. */
export function kron<L extends DType, R extends DType>(left: Tensor<L>, right: Tensor<R>): Product<L, R> {
  checkCount("kron", 2, arguments);
  const [a, b] = operands("kron", left, right).map((node): Tensor => left.tensorOf(node));
  const rank = Math.max(a.rank, b.rank);
  const full = (x: Tensor) => [...new Array(rank - x.rank).fill(1), ...x.shape];
  const [shapeA, shapeB] = [full(a), full(b)];
  const product = (x: Tensor, y: Tensor) => (x.dtype === "bool" ? x.logicalAnd(y) : x.mul(y));
  return product(
    a.reshape(shapeA.flatMap((extent) => [extent, 1])),
    b.reshape(shapeB.flatMap((extent) => [1, extent])),
  ).reshape(shapeA.map((extent, axis) => extent * shapeB[axis])) as Product<L, R>;
}

/** A product with a scalar. */
function scaled<T extends DType>(operation: string, like: Tensor, a: Node, b: Node): Tensor<T> {
  return inOperation(operation, () => like.tensorOf(a).mul(like.tensorOf(b))) as Tensor<T>;
}

const flat = (node: Node): Node => reshapeNode(node, [sizeOf(node.shape)]);

function checkPairs(operation: string, what: string, pairs: AxisPairs): void {
  if (Array.isArray(pairs) && pairs.length === 2) return;
  throw new ArgumentError(
    `${operation}: ${what} ${shown(pairs)}; give [axes of the left, axes of the right], as in [[1, 2], [0, 1]].`,
  );
}

function contracted<T extends DType>(
  operation: string,
  left: Tensor,
  right: Tensor,
  a: Node,
  b: Node,
  axes: AxisPairs,
  batchAxes: AxisPairs,
): Tensor<T> {
  checkPairs(operation, "axes", axes);
  checkPairs(operation, "batchAxes", batchAxes);
  const side = (pairs: AxisPairs, which: 0 | 1) =>
    normalizeAxes(pairs[which], which === 0 ? left.rank : right.rank, operation);
  const contract = [side(axes, 0), side(axes, 1)] as const;
  const batch = [side(batchAxes, 0), side(batchAxes, 1)] as const;
  for (const [what, [ofLeft, ofRight]] of [["axes", contract] as const, ["batchAxes", batch] as const]) {
    if (ofLeft.length !== ofRight.length) {
      throw new ArgumentError(
        `${operation}: ${what} name ${ofLeft.length} axes of the left operand and ${ofRight.length} of the right; ` +
          "they go in pairs.",
      );
    }
    const [sizes, others] = [ofLeft.map((axis) => left.shape[axis]), ofRight.map((axis) => right.shape[axis])];
    if (!sameShape(sizes, others)) {
      throw mismatch(
        operation,
        left,
        right,
        `along the ${what} ${formatShape(ofLeft)} and ${formatShape(ofRight)} the sizes are ` +
          `${formatShape(sizes)} and ${formatShape(others)}`,
      );
    }
  }
  for (const which of [0, 1] as const) {
    const both = contract[which].find((axis) => batch[which].includes(axis));
    if (both !== undefined) {
      throw new ArgumentError(
        `${operation}: axis ${both} of the ${which === 0 ? "left" : "right"} operand is summed over and a batch axis; ` +
          "it can be one of them.",
      );
    }
  }
  return left.tensorOf(contractNodes(a, b, { contract, batch }));
}

function mismatch(operation: string, left: Tensor, right: Tensor, why: string): ShapeError {
  return new ShapeError(
    `${operation}: ${formatShape(left.shape)} and ${formatShape(right.shape)} do not fit: ${why}; they must be equal.`,
  );
}
