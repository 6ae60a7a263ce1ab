/**
 * Which elements of its inputs an element of a node is computed from, as index expressions. The scheduler, the lowering and
 * the printers of programs ask here before anything is computed.
 */
import { type IndexExpr, type IndexSpace, keyOf, unravel } from "../core/index-expr.js";
import { productOf } from "../core/shape.js";
import type { Node } from "./node.js";
import type { Reading } from "./primitive.js";
import type { ReduceOp } from "./reduction.js";

/** A reduction at one index. */
export interface Reduction {
  readonly node: Node;
  readonly op: ReduceOp;
  readonly key: string;
  readonly extent: number;
  /** Index of the input that is reduced, for a position in the stretch. */
  at(position: IndexExpr): readonly IndexExpr[];
}

export const indexKey = (index: readonly IndexExpr[]): string => index.map(keyOf).join(";");

/** The index of a reading where elements of inputs stand for themselves: what can be said before anything is computed. */
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
