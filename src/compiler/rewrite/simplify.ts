/**
 * What is the same everywhere is computed once, here. Its reductions need no loop: the sum of a constant is the constant
 * times the count, the sum of a tensor that was repeated along an axis is a multiple of the tensor. Gradients are full of
 * both.
 */
import { castScalar, roundTo } from "../../core/cast.js";
import { DTYPES, type DType, isFloat, type Scalar } from "../../core/dtype.js";
import { derive, makeNode, meet, scalarNode } from "../../graph/build.js";
import type { Node } from "../../graph/node.js";
import type { ReduceOp } from "../../graph/primitive.js";
import { cast, mul } from "../../graph/primitives/elementwise.js";
import { constant } from "../../graph/primitives/leaf.js";
import { expand } from "../../graph/primitives/movement.js";
import { identityOf } from "../../graph/reduction.js";

const sizeOf = (shape: readonly number[]): number => shape.reduce((product, extent) => product * extent, 1);

/** A node that computes the same as `node` does of `x`, or null where there is nothing better. */
export function simpler(node: Node, x: Node | undefined): Node | null {
  const { primitive, params, dtype, shape, device } = node;
  if (!x || DTYPES[dtype].kind === "complex" || DTYPES[x.dtype].kind === "complex") return null;
  if (primitive === cast && x.primitive === constant) {
    return scalarNode(castScalar(heldValue(x), x.dtype, dtype), dtype, device, shape);
  }
  if (primitive.kind !== "reduce") return null;
  const axes = params.axes as readonly number[];
  if (x.primitive === constant) {
    const count = sizeOf(axes.map((axis) => x.shape[axis]));
    return scalarNode(combined(primitive.op, heldValue(x), count, dtype), dtype, device, shape);
  }
  return x.primitive === expand ? ofRepeated(node, primitive.op, x) : null;
}

/** A constant as its dtype holds it. */
const heldValue = ({ params, dtype }: Node): Scalar => castScalar(params.value as Scalar, dtype, dtype);

/** `count` equal values combined. */
function combined(op: ReduceOp, value: Scalar, count: number, dtype: DType): Scalar {
  if (count === 0) return identityOf(op, dtype);
  if (op !== "sum" && op !== "product") return value;
  if (isFloat(dtype)) return roundTo(dtype, op === "sum" ? Number(value) * count + 0 : Number(value) ** count);
  const { bits, kind } = DTYPES[dtype];
  const wrap = (x: bigint) => (kind === "int" ? BigInt.asIntN(bits, x) : BigInt.asUintN(bits, x));
  const base = BigInt(value as number | bigint);
  const whole = wrap(op === "sum" ? base * BigInt(count) : power(base, count, bits));
  return bits === 64 ? whole : Number(whole);
}

/** The last `bits` of a power. */
function power(base: bigint, exponent: number, bits: number): bigint {
  let result = 1n;
  let square = BigInt.asUintN(bits, base);
  for (let left = BigInt(exponent); left > 0n; left >>= 1n) {
    if (left & 1n) result = BigInt.asUintN(bits, result * square);
    square = BigInt.asUintN(bits, square * square);
  }
  return result;
}

/** Axes along which the input was repeated are reduced without repeating it. */
function ofRepeated(node: Node, op: ReduceOp, x: Node): Node | null {
  const [source] = x.inputs;
  const axes = node.params.axes as readonly number[];
  const repeated = axes.filter((axis) => source.shape[axis] === 1 && x.shape[axis] !== 1);
  const count = sizeOf(repeated.map((axis) => x.shape[axis]));
  // Half floats cannot hold the count; a product would have to be a power.
  const isTooNarrow = op === "sum" && isFloat(node.dtype) && DTYPES[node.dtype].bytes < 4;
  if (repeated.length === 0 || count === 0 || isTooNarrow || op === "product") return null;
  const once = x.shape.map((extent, axis) => (repeated.includes(axis) ? 1 : extent));
  const isAsBefore = once.every((extent, axis) => extent === source.shape[axis]);
  const reduced = derive(node.primitive, isAsBefore ? source : derive(expand, source, { shape: once }), { axes });
  if (op !== "sum") return reduced;
  return makeNode(
    mul,
    meet("sum", [reduced, DTYPES[node.dtype].bits === 64 && !isFloat(node.dtype) ? BigInt(count) : count], node.dtype),
    {},
    node.device,
  );
}
