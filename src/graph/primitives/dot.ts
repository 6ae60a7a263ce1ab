/**
 * The product of matrices, and of batches of them: [batch, m, k] × [batch, k, n] → [batch, m, n]. Every contraction of the
 * library comes to this. f16 and bf16 are added up in f32, integers wrap, booleans say whether any pair is true.
 *
 * Params: precision, how exactly f32 is multiplied (graph/product-precision.ts); left out where that is f32's own arithmetic.
 *
 * The compiler has tiled kernels for large products; the others become the sum of products that `expand` writes.
 */
import { type DType, isNarrowFloat } from "../../core/dtype.js";
import { DTypeError, ShapeError } from "../../core/errors.js";
import { broadcastNode, castNode, derive, makeNode, permuteNode, reshapeNode } from "../build.js";
import type { Node } from "../node.js";
import type { CompositePrimitive, ContractionPrimitive, ElementwisePrimitive } from "../primitive.js";
import type { GraphOps } from "../vocabulary.js";
import * as E from "./elementwise.js";
import * as R from "./reduce.js";

/** From this many results on, one thread per result keeps a GPU busy; fewer results get the lanes of a workgroup each. */
const MANY_RESULTS = 16384;

export const dot: ContractionPrimitive = {
  name: "dot",
  kind: "contraction",
  infer: ([a, b]) => {
    const [batch, m, k] = a.shape;
    const fits = a.shape.length === 3 && b.shape.length === 3 && b.shape[0] === batch && b.shape[1] === k;
    if (!fits) throw new ShapeError(`dot: matrices of [${a.shape}] and [${b.shape}].`);
    if (a.dtype !== b.dtype) throw new DTypeError(`dot: operands of ${a.dtype} and ${b.dtype}.`);
    return { shape: [batch, m, b.shape[2]], dtype: a.dtype };
  },
  jvp: (g, { inputs: [a, b], params }, [ta, tb]) => {
    const fromA = ta && g.dot(ta, b, params);
    const fromB = tb && g.dot(a, tb, params);
    return fromA && fromB ? g.add(fromA, fromB) : (fromA ?? fromB);
  },
  vjp: (g, { inputs: [a, b], params }, ct) => [g.dot(ct, g.transposed(b), params), g.dot(g.transposed(a), ct, params)],
  batch: (g, { inputs: [, before], params }, [a, b], size) => {
    const [batch, , n] = before.shape;
    const [, m] = a.node.shape.slice(-3, -1);
    // Rows of all members against one matrix are one tall product.
    if (!b.isBatched && batch === 1) {
      const k = a.node.shape[3];
      return g.reshape(g.dot(g.reshape(a.node, [1, size * m, k]), b.node, params), [size, 1, m, n]);
    }
    // One matrix against the columns of all members is one wide product.
    if (!a.isBatched && batch === 1) {
      const k = b.node.shape[2];
      const columns = g.reshape(g.permute(b.node, [1, 2, 0, 3]), [1, k, size * n]);
      const wide = g.reshape(g.dot(a.node, columns, params), [1, m, size, n]);
      return g.permute(wide, [2, 0, 1, 3]);
    }
    const [left, right] = [a, b].map(({ node, isBatched }) => {
      const whole = isBatched ? node : g.broadcast(node, [size, ...node.shape]);
      return g.reshape(whole, [size * batch, ...whole.shape.slice(2)]);
    });
    return g.reshape(g.dot(left, right, params), [size, batch, m, n]);
  },
  expand: (_g, _node, [a, b]) => sumOfProducts(a, b),
};

/** A matrix as a batch of one. */
const alone = (g: GraphOps, matrix: Node): Node => g.reshape(matrix, [1, ...matrix.shape]);

/**
 * The product of two matrices, [m, k] × [k, n] → [m, n]: `dot` of batches of one. Most products are such, and small ones in
 * long loops spend more time in making nodes than in multiplying, so it is one node until it is compiled.
 */
export const matrixProduct: CompositePrimitive = {
  name: "matmul",
  kind: "composite",
  infer: ([a, b]) => {
    const fits = a.shape.length === 2 && b.shape.length === 2 && b.shape[0] === a.shape[1];
    if (!fits) throw new ShapeError(`matmul: matrices of [${a.shape}] and [${b.shape}].`);
    if (a.dtype !== b.dtype) throw new DTypeError(`matmul: operands of ${a.dtype} and ${b.dtype}.`);
    return { shape: [a.shape[0], b.shape[1]], dtype: a.dtype };
  },
  jvp: (g, { inputs: [a, b], params, shape }, [ta, tb]) => {
    const product = (x: Node, y: Node) => g.dot(alone(g, x), alone(g, y), params);
    const fromA = ta && product(ta, b);
    const fromB = tb && product(a, tb);
    const both = fromA && fromB ? g.add(fromA, fromB) : (fromA ?? fromB);
    return both && g.reshape(both, shape);
  },
  vjp: (g, { inputs: [a, b], params }, ct) => {
    const [x, y, change] = [alone(g, a), alone(g, b), alone(g, ct)];
    return [
      g.reshape(g.dot(change, g.transposed(y), params), a.shape),
      g.reshape(g.dot(g.transposed(x), change, params), b.shape),
    ];
  },
  batch: (g, { inputs, params, shape }, batched, size) => {
    const [a, b] = inputs.map((input) => alone(g, input));
    const given = batched.map(({ node, isBatched }, i) => ({
      node: isBatched ? g.reshape(node, [size, 1, ...inputs[i].shape]) : alone(g, node),
      isBatched,
    }));
    const members = (dot.batch as NonNullable<typeof dot.batch>)(g, g.dot(a, b, params), given, size);
    return g.reshape(members, [size, ...shape]);
  },
  expand: (g, { params, shape }, [a, b]) => g.reshape(g.dot(alone(g, a), alone(g, b), params), shape),
};

export const accumulatorDType = (dtype: DType): DType => (isNarrowFloat(dtype) ? "f32" : dtype);

/** The product as one fused loop nest, whose operands are computed as they are needed. */
function sumOfProducts(a: Node, b: Node): Node {
  const [batch, m, k] = a.shape;
  const n = b.shape[2];
  const wide = accumulatorDType(a.dtype);
  const multiply = a.dtype === "bool" ? E.and : E.mul;
  if (k === 1) return multiplied(multiply, a, b, [batch, m, n]);
  // Summing along the last axis lets lanes share a sum; along an inner one, neighbouring threads read neighbours of b.
  const isSumLast = batch * m * n < MANY_RESULTS;
  const left = castNode(reshapeNode(a, isSumLast ? [batch, m, 1, k] : [batch, m, k, 1]), wide);
  const right = isSumLast ? permuteNode(b, [0, 2, 1]) : b;
  const rightShape = isSumLast ? [batch, 1, n, k] : [batch, 1, k, n];
  const shape = isSumLast ? [batch, m, n, k] : [batch, m, k, n];
  const product = multiplied(multiply, left, castNode(reshapeNode(right, rightShape), wide), shape);
  const summation = a.dtype === "bool" ? R.any : R.sum;
  return castNode(derive(summation, product, { axes: [isSumLast ? 3 : 2] }), a.dtype);
}

function multiplied(multiply: ElementwisePrimitive, a: Node, b: Node, shape: readonly number[]): Node {
  return makeNode(multiply, [broadcastNode(a, shape), broadcastNode(b, shape)], {}, a.device);
}
