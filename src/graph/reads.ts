/**
 * The elements of its inputs that an element of a node depends on, as index expressions: the one walk over movement,
 * elementwise operations and reductions. The scheduler, the lowering, fused scans, functions of a thread and the printers of
 * programs use it before anything is computed.
 *
 * `forEachRead` is for elementwise operations and movement, `reductionAt` for reductions, `productAt` for products of
 * matrices. `readingsAt` gives each reading of a movement by itself, with its conditions.
 */
import { type Bound, type IndexExpr, type IndexSpace, keyOf, unravel } from "../core/index-expr.js";
import { productOf } from "../core/shape.js";
import type { Node } from "./node.js";
import type { MovementPrimitive, Reading } from "./primitive.js";
import type { ReduceOp } from "./reduction.js";

export const indexKey = (index: readonly IndexExpr[]): string => index.map(keyOf).join(";");

// ------------------------------------------------------------------------------------------------ element by element

/** An element of an input. `isBounded`: it is read only inside bounds that must be checked at run time. */
type VisitRead = (input: Node, index: readonly IndexExpr[], isBounded: boolean) => void;

/**
 * Visits the elements from which an element of an elementwise operation or a movement is computed; other nodes have none. An
 * element that serves as an index is visited before the element that it selects.
 */
export function forEachRead(space: IndexSpace, node: Node, index: readonly IndexExpr[], visit: VisitRead): void {
  const { primitive, inputs } = node;
  if (primitive.kind === "elementwise") {
    for (const input of inputs) visit(input, index, false);
  } else if (primitive.kind === "movement") {
    const anywhere: ElementAt = (_node, _index, extent) => space.computed(0, Math.max(0, extent - 1));
    for (const reading of readings(space, node, primitive, index)) {
      for (const part of reading.index) if (!("terms" in part)) visit(inputs[part.input], part.index, false);
      visit(inputs[reading.input], indexOf(node, reading, anywhere), reading.bounds.some(isOpen));
    }
  }
}

/** The index along an axis whose position is an element of another node: that node, its index, the extent of the axis. */
export type ElementAt = (node: Node, index: readonly IndexExpr[], extent: number) => IndexExpr;

/** One place where a movement reads. The first whose bounds hold counts. */
export interface PlacedReading {
  readonly source: Node;
  /** Bounds that do not follow from the ranges of the indices. */
  readonly tests: readonly Bound[];
  /** Some bound is never met. */
  readonly isNever: boolean;
  index(elementAt: ElementAt): IndexExpr[];
}

/** The readings of a movement for one index of its result. */
export function readingsAt(
  space: IndexSpace,
  node: Node,
  primitive: MovementPrimitive,
  index: readonly IndexExpr[],
): PlacedReading[] {
  return readings(space, node, primitive, index).map((reading) => {
    const tests = reading.bounds.filter(isOpen);
    return {
      source: node.inputs[reading.input],
      tests,
      isNever: tests.some(({ value, low, high }) => value.max < low || value.min >= high),
      index: (elementAt) => indexOf(node, reading, elementAt),
    };
  });
}

/** Whether an expression may be out of bounds, as far as its range tells. */
const isOpen = ({ value, low, high }: Bound): boolean => value.min < low || value.max >= high;

const readings = (
  space: IndexSpace,
  node: Node,
  primitive: MovementPrimitive,
  index: readonly IndexExpr[],
): readonly Reading[] => primitive.read(space, index, node);

function indexOf({ inputs }: Node, { input, index }: Reading, elementAt: ElementAt): IndexExpr[] {
  const { shape } = inputs[input];
  return index.map((part, axis) => ("terms" in part ? part : elementAt(inputs[part.input], part.index, shape[axis])));
}

/** The element that movements of one whole input read for an element of theirs. `moves`: takes those movements, the last first. */
export function movedTo(
  space: IndexSpace,
  start: Node,
  from: readonly IndexExpr[],
  isLoaded: (node: Node) => boolean,
  moves: Node[] = [],
): { readonly node: Node; readonly index: readonly IndexExpr[] } {
  let [node, index] = [start, from];
  while (node.primitive.kind === "movement" && node.inputs.length === 1 && !isLoaded(node)) {
    const readings = readingsAt(space, node, node.primitive, index);
    if (readings.length !== 1 || readings[0].tests.length > 0) break;
    moves.push(node);
    index = readings[0].index(() => space.computed(0, 0));
    node = readings[0].source;
  }
  return { node, index };
}

// ------------------------------------------------------------------------------------------------ over a range

/** A reduction at one index of its result. */
export interface Reduction {
  readonly node: Node;
  readonly op: ReduceOp;
  readonly index: readonly IndexExpr[];
  /** Extents of the axes that are reduced, and of all of them together. */
  readonly extents: readonly number[];
  readonly extent: number;
  /** The index in the input, for one position that counts through all reduced axes, or for a position along each of them. */
  at(position: IndexExpr): readonly IndexExpr[];
  atEach(positions: readonly IndexExpr[]): readonly IndexExpr[];
}

export function reductionAt(space: IndexSpace, node: Node, op: ReduceOp, index: readonly IndexExpr[]): Reduction {
  const axes = node.params.axes as readonly number[];
  const { shape } = node.inputs[0];
  const extents = axes.map((axis) => shape[axis]);
  const atEach = (positions: readonly IndexExpr[]) => {
    let next = 0;
    return shape.map((_, axis) => (axes.includes(axis) ? positions[axes.indexOf(axis)] : index[next++]));
  };
  return {
    node,
    op,
    index,
    extents,
    extent: productOf(extents),
    at: (position) => atEach(unravel(space, position, extents)),
    atEach,
  };
}

/** The two elements that a product of matrices multiplies for an element of its result, at a position of the summation. */
export function productAt(
  { inputs: [a, b] }: Node,
  [batch, row, column]: readonly IndexExpr[],
  position: IndexExpr,
): { readonly node: Node; readonly index: readonly IndexExpr[] }[] {
  return [
    { node: a, index: [batch, row, position] },
    { node: b, index: [batch, position, column] },
  ];
}
