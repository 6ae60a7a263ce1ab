/**
 * Places that are data of a program: where slices, pads and periods begin. A loop over the columns of a table, or one that
 * writes its i-th result into a vector, would need a program for every position. When the form of a graph has come back with
 * several positions, the program reads them from memory, like numbers that change (given-numbers.ts): each is a constant
 * among the given nodes, with a note of the movement and the axis it belongs to. runtime/program-table.ts decides which.
 */
import { isComplex } from "../../core/dtype.js";
import { sizeOf } from "../../core/shape.js";
import { makeNode } from "../../graph/build.js";
import type { Node } from "../../graph/node.js";
import type { Beginning } from "../../graph/primitive.js";
import { constant } from "../../graph/primitives/leaf.js";
import { g } from "../../graph/vocabulary.js";

/** The beginning along an axis of a movement's result. */
interface Place {
  readonly movement: Node;
  readonly axis: number;
}

/** Beginnings by movement and axis, as nodes. */
export type Places = ReadonlyMap<Node, ReadonlyMap<number, Node>>;

/** Positions are i32. What lies around a result is at most three times as long as the result and the input. */
const LONGEST_AXIS = 2 ** 29;

/** The beginning of a node's result, where that may be data; null where it is part of the program. */
export function beginningOf({ primitive, shape, dtype, inputs }: Node): Beginning | null {
  if (primitive.kind !== "movement" || !primitive.begins) return null;
  // Complex numbers are taken apart before movements are looked at.
  if (isComplex(dtype) || sizeOf(shape) === 0 || sizeOf(inputs[0].shape) === 0) return null;
  const isShort = (extent: number) => extent <= LONGEST_AXIS;
  return shape.every(isShort) && inputs[0].shape.every(isShort) ? primitive.begins : null;
}

/** A beginning as a number that is given to a program. */
export const numberAt = (movement: Node, axis: number, value: number): Node =>
  makeNode(
    constant,
    [],
    { value, dtype: "i32", shape: [], place: { movement, axis } satisfies Place },
    movement.device,
  );

/** The place that a given number is; null for other numbers. */
export const placeOf = ({ params }: Node): Place | null => (params.place as Place | undefined) ?? null;

/** The result of a movement that begins where memory says, along these axes. */
export function begunAt(node: Node, input: Node, given: ReadonlyMap<number, Node>): Node {
  const begins = beginningOf(node) as Beginning;
  const { shape } = node;
  const around = begins.around(g, node, input);
  const isGiven = shape.map((_, axis) => given.has(axis));
  const fixed = g.slice(
    around,
    shape.map((_, axis) => (isGiven[axis] ? 0 : begins.at(node, axis))),
    shape.map((extent, axis) => (isGiven[axis] ? around.shape[axis] : extent)),
    shape.map((_, axis) => (isGiven[axis] ? 1 : begins.step(node, axis))),
  );
  return [...given].reduce((result, [axis, first]) => {
    const distances = g.mul(g.counting([shape[axis]], 0, first), begins.step(node, axis));
    return g.take(result, g.add(g.broadcast(g.reshape(first, [1]), [shape[axis]]), distances), axis);
  }, fixed);
}
