/**
 * The elements of its inputs that an element of a node depends on, as index expressions. The scheduler, the lowering and the
 * printers of programs use it before anything is computed.
 */
import { type IndexExpr, type IndexSpace, keyOf, unravel } from "../core/index-expr.js";
import { productOf } from "../core/shape.js";
import type { Node } from "./node.js";
import type { Reading, ReduceOp } from "./primitive.js";

/** A reduction at one index. */
export interface Reduction {
  readonly node: Node;
  readonly op: ReduceOp;
  readonly key: string;
  readonly extent: number;
  /** Index into the reduced input, for a position among the reduced elements. */
  at(position: IndexExpr): readonly IndexExpr[];
}

export const indexKey = (index: readonly IndexExpr[]): string => index.map(keyOf).join(";");

/** The index of a reading; an index that is itself an element of an input becomes an unknown within its range. */
export function symbolicIndex(space: IndexSpace, reading: Reading, node: Node): IndexExpr[] {
  const { shape } = node.inputs[reading.input];
  return reading.index.map((part, axis) => ("terms" in part ? part : space.computed(0, Math.max(0, shape[axis] - 1))));
}

/** A reduction for an index of its result. */
export function reductionAt(space: IndexSpace, node: Node, op: ReduceOp, index: readonly IndexExpr[]): Reduction {
  const axes = node.params.axes as readonly number[];
  const { shape } = node.inputs[0];
  const extents = axes.map((axis) => shape[axis]);
  return {
    node,
    op,
    key: indexKey(index),
    extent: productOf(extents),
    at: (position) => {
      const reduced = unravel(space, position, extents);
      let kept = 0;
      return shape.map((_, axis) => (axes.includes(axis) ? reduced[axes.indexOf(axis)] : index[kept++]));
    },
  };
}
