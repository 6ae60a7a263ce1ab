/**
 * Products summed over shared axes, on nodes. Every contraction of the library (matmul, dot, einsum, …) is brought to one
 * form, [batch, m, k] × [batch, k, n], and goes through `dotNode`: the place to put a tiled kernel.
 */
import type { DType } from "../core/dtype.js";
import { type Shape, sizeOf } from "../core/shape.js";
import type { Node } from "../graph/node.js";
import type { ElementwisePrimitive, ReducePrimitive } from "../graph/primitive.js";
import * as E from "../graph/primitives/elementwise.js";
import { permute, slice, stored } from "../graph/primitives/movement.js";
import * as R from "../graph/primitives/reduce.js";
import { backendOf, broadcastNode, castNode, derive, makeNode, reshapeNode } from "./build.js";

/** Results from which on one thread each keeps a GPU busy; fewer are shared out over the lanes of a workgroup. */
const MANY_RESULTS = 16384;
/** An operand that is computed, not loaded, is stored first when its elements are used this often. */
const OFTEN = 4;

/**
 * [batch, m, k] × [batch, k, n] → [batch, m, n], of operands of one dtype. f16 and bf16 are added up in f32, integers
 * wrap, booleans say whether any pair is true.
 */
export function dotNode(a: Node, b: Node): Node {
  const [, m] = a.shape;
  const n = b.shape[2];
  return fusedDotNode(storedForReuse(a, n), storedForReuse(b, m));
}

/** The same as one fused loop nest, where operands are computed as they are needed and never stored. */
export function fusedDotNode(a: Node, b: Node): Node {
  const [batch, m, k] = a.shape;
  const n = b.shape[2];
  const wide = accumulatorDType(a.dtype);
  const multiply = a.dtype === "bool" ? E.and : E.mul;
  if (k === 1) return multiplyNodes(multiply, a, b, [batch, m, n]);
  // Summing along the last axis lets lanes share a sum; along an inner one, neighbouring threads read neighbours of b.
  const isSumLast = batch * m * n < MANY_RESULTS;
  const left = castNode(reshapeNode(a, isSumLast ? [batch, m, 1, k] : [batch, m, k, 1]), wide);
  const right = isSumLast ? permuteNode(b, [0, 2, 1]) : b;
  const rightShape = isSumLast ? [batch, 1, n, k] : [batch, 1, k, n];
  const shape = isSumLast ? [batch, m, n, k] : [batch, m, k, n];
  const product = multiplyNodes(multiply, left, castNode(reshapeNode(right, rightShape), wide), shape);
  return castNode(derive(summation(a.dtype), product, { axes: [isSumLast ? 3 : 2] }), a.dtype);
}

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

export function permuteNode(node: Node, axes: readonly number[]): Node {
  return axes.every((axis, i) => axis === i) ? node : derive(permute, node, { axes: [...axes] });
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

/** A value that is computed again wherever it is read is put in memory first, when it is read often. */
export function storedForReuse(node: Node, times: number): Node {
  return times >= OFTEN && isComputed(node) ? derive(stored, node, {}) : node;
}

/** Whether reading an element takes more than movement and casts. */
function isComputed(node: Node): boolean {
  const stack = [node];
  const seen = new Set<Node>();
  for (let next = stack.pop(); next; next = stack.pop()) {
    const { primitive } = next;
    if (next.storage !== null || primitive.kind === "leaf" || primitive === stored || seen.has(next)) continue;
    if (primitive.kind !== "movement" && primitive !== E.cast) return true;
    seen.add(next);
    stack.push(...next.inputs);
  }
  return false;
}

function multiplyNodes(multiply: ElementwisePrimitive, a: Node, b: Node, shape: Shape): Node {
  return makeNode(multiply, [broadcastNode(a, shape), broadcastNode(b, shape)], {}, backendOf(a));
}

const accumulatorDType = (dtype: DType): DType => (dtype === "f16" || dtype === "bf16" ? "f32" : dtype);

const summation = (dtype: DType): ReducePrimitive => (dtype === "bool" ? R.any : R.sum);
