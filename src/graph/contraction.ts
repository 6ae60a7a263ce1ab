/**
 * Contractions of nodes: products summed over shared axes. Every contraction of the library (matmul, dot, einsum, …) becomes
 * the primitive `dot`, [batch, m, k] × [batch, k, n].
 */
import type { DType } from "../core/dtype.js";
import { type Shape, sizeOf } from "../core/shape.js";
import { castNode, derive, makeNode, permuteNode, reshapeNode } from "./build.js";
import type { Node } from "./node.js";
import type { ReducePrimitive } from "./primitive.js";
import { accumulatorDType, dot, matrixProduct } from "./primitives/dot.js";
import { slice } from "./primitives/movement.js";
import * as R from "./primitives/reduce.js";
import { precisionParams } from "./product-precision.js";

const NO_PARAMS = {};

/**
 * [batch, m, k] × [batch, k, n] → [batch, m, n], of operands of one dtype. f16 and bf16 are added up in f32, integers
 * wrap, booleans say whether any pair is true.
 */
export function dotNode(a: Node, b: Node): Node {
  return makeNode(dot, [a, b], a.dtype === "f32" ? precisionParams() : NO_PARAMS, a.device);
}

/** [m, k] × [k, n] → [m, n], of operands of one dtype. */
export function matrixProductNode(a: Node, b: Node): Node {
  return makeNode(matrixProduct, [a, b], a.dtype === "f32" ? precisionParams() : NO_PARAMS, a.device);
}

/** @internal for tests: axes are listed by hand */
export interface DotAxes {
  /** Axes summed over, of each operand, in pairs. */
  readonly contract: readonly [readonly number[], readonly number[]];
  /** Axes that both have and the result keeps, in pairs. */
  readonly batch: readonly [readonly number[], readonly number[]];
}

/** Contracts pairs of axes. The result has the batch axes, the other axes of a, the other axes of b. */
export function contractNodes(a: Node, b: Node, { contract, batch }: DotAxes): Node {
  const rest = (node: Node, side: 0 | 1) =>
    node.shape.flatMap((_, axis) => (contract[side].includes(axis) || batch[side].includes(axis) ? [] : [axis]));
  const [freeA, freeB] = [rest(a, 0), rest(b, 1)];
  const shapeOf = (node: Node, axes: readonly number[]): Shape => axes.map((axis) => node.shape[axis]);
  const batchShape = shapeOf(a, batch[0]);
  const [shapeA, shapeB] = [shapeOf(a, freeA), shapeOf(b, freeB)];
  const [size, m, n] = [sizeOf(batchShape), sizeOf(shapeA), sizeOf(shapeB)];
  const k = sizeOf(shapeOf(a, contract[0]));
  const left = reshapeNode(permuteNode(a, [...batch[0], ...freeA, ...contract[0]]), [size, m, k]);
  const right = reshapeNode(permuteNode(b, [...batch[1], ...contract[1], ...freeB]), [size, k, n]);
  return reshapeNode(dotNode(left, right), [...batchShape, ...shapeA, ...shapeB]);
}

/** Sums a node over axes with the rules of contractions: the dtype stays. */
export function sumNode(node: Node, axes: readonly number[]): Node {
  if (axes.length === 0) return node;
  const wide = castNode(node, accumulatorDType(node.dtype));
  return castNode(derive(summation(node.dtype), wide, { axes: [...axes].sort((i, j) => i - j) }), node.dtype);
}

/** The elements whose index along two axes is the same, along one axis at the end: every (n + 1)-th of the square. */
export function diagonalNode(node: Node, first: number, second: number): Node {
  const n = node.shape[first];
  const rest = node.shape.flatMap((_, axis) => (axis === first || axis === second ? [] : [axis]));
  const restShape = rest.map((axis) => node.shape[axis]);
  const squares = reshapeNode(permuteNode(node, [...rest, first, second]), [...restShape, n * n]);
  const zeros = restShape.map(() => 0);
  return derive(slice, squares, {
    start: [...zeros, 0],
    step: [...zeros.map(() => 1), n + 1],
    shape: [...restShape, n],
  });
}

const summation = (dtype: DType): ReducePrimitive => (dtype === "bool" ? R.any : R.sum);
