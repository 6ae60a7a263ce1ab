/** Nodes of reductions: the axes as users name them, the dtype of the sums, and errors for empty axes. */
import { checkOptions, type OptionKinds } from "../core/arguments.js";
import { checkOrdered, DTYPES, type DType } from "../core/dtype.js";
import { ShapeError } from "../core/errors.js";
import { formatShape, normalizeAxes, reducedShape } from "../core/shape.js";
import type { Node } from "../graph/node.js";
import type { ReducePrimitive } from "../graph/primitive.js";
import * as R from "../graph/primitives/reduce.js";
import { castNode, derive, reshapeNode } from "./build.js";

export interface ReduceOptions {
  /** One axis, several, or all when left out. Negative axes count from the end. */
  readonly axis?: number | readonly number[];
  /** Keep reduced axes with extent 1. */
  readonly keepDims?: boolean;
}

export const REDUCE: OptionKinds<ReduceOptions> = { axis: "numbers", keepDims: "flag" };

/** The axes that are reduced, in order. */
export function reducedAxes({ shape }: Node, operation: string, { axis }: ReduceOptions): number[] {
  return normalizeAxes(axis, shape.length, operation).sort((a, b) => a - b);
}

export function reduceNode(node: Node, primitive: ReducePrimitive, operation: string, options: ReduceOptions): Node {
  checkOptions(operation, options, REDUCE);
  const { shape, dtype } = node;
  const axes = reducedAxes(node, operation, options);
  const isOrder = primitive.op === "max" || primitive.op === "min";
  if (isOrder) checkOrdered(dtype, operation);
  if (isOrder && axes.some((axis) => shape[axis] === 0)) {
    throw new ShapeError(
      `${operation}: no elements along an axis of ${formatShape(shape)}, so there is none to choose.`,
    );
  }
  if (isOrder && dtype === "bool") {
    return reduceNode(node, primitive.op === "max" ? R.any : R.all, operation, options);
  }
  // Sums of booleans count, and narrow integers are added in i32 or u32; i32 stays i32, where NumPy widens to 64 bits.
  const wide = isOrder || primitive.op === "all" || primitive.op === "any" ? dtype : sumDType(dtype);
  const input = castNode(node, wide);
  const reduced = axes.length === 0 ? input : derive(primitive, input, { axes });
  return options.keepDims ? reshapeNode(reduced, reducedShape(shape, axes, true)) : reduced;
}

/** The dtype that sums and products are made in. */
export function sumDType(dtype: DType): DType {
  const { kind, bits } = DTYPES[dtype];
  if (kind === "bool" || (kind === "int" && bits < 32)) return "i32";
  return kind === "uint" && bits < 32 ? "u32" : dtype;
}

/**
 * Along the first axis, the first element below `limit`; the smallest of all if there is none. Elements below it must rise
 * along the axis. Rounds after the first such element need not be computed.
 */
export function firstBelow(node: Node, limit: number): Node {
  return derive(R.min, node, { axes: [0], endsBelow: limit });
}
