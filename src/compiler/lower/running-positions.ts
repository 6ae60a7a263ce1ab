/**
 * Positions of extremes, found in the same loop as the extremes.
 *
 * argmin is the least position at which an element equals the least one, or is NaN. Computed as written it goes over its elements twice. One
 * loop does both: an element that is less than the least so far, or NaN where that is not, takes its place, and so does its position. The
 * first of equal elements keeps it, as the definition wants.
 *
 * `Lowering` does this for the reductions that `runningPositions` finds, where a lane goes over all elements by itself.
 */
import { isFloat } from "../../core/dtype.js";
import { type IndexSpace, keyOf } from "../../core/index-expr.js";
import type { Node } from "../../graph/node.js";
import { equal, isNan, or, where } from "../../graph/primitives/elementwise.js";
import { constant, iota } from "../../graph/primitives/leaf.js";
import { indexKey, movedTo, type Reduction } from "../../graph/reads.js";
import type { CombineOp } from "../../graph/reduction.js";
import type { Value } from "../ir/ir.js";
import type { KernelBuilder } from "../ir/kernel-builder.js";

/** The position of the extreme that another reduction finds. */
export interface RunningPosition {
  readonly reduction: Reduction;
  readonly extreme: Reduction;
}

/** The positions among the reductions of a turn that can be found with those of the turn before, over the same extent. */
export function runningPositions(
  space: IndexSpace,
  before: readonly Reduction[],
  after: readonly Reduction[],
  isLoaded: (node: Node) => boolean,
): readonly RunningPosition[] {
  return after.flatMap((reduction) => {
    const extreme = before.find((each) => isPositionOf(space, each, reduction, isLoaded));
    return extreme ? [{ reduction, extreme }] : [];
  });
}

/** Whether a minimum is that of where((x = extreme) or NaN, position, more). */
function isPositionOf(
  space: IndexSpace,
  extreme: Reduction,
  { node, op, at, extent }: Reduction,
  isLoaded: (node: Node) => boolean,
): boolean {
  const [choice] = node.inputs;
  const isExtreme = extreme.op === "min" || extreme.op === "max";
  if (!isExtreme || op !== "min" || node.dtype !== "i32" || isLoaded(choice) || choice.primitive !== where)
    return false;
  const position = space.variable("position", extent);
  const index = at(position);
  const [elements] = extreme.node.inputs;
  const isElement = (each: Node) => each === elements && indexKey(extreme.at(position)) === indexKey(index);
  const isTotal = (each: Node) => {
    const { node: source, index: from } = movedTo(space, each, index, isLoaded);
    return source === extreme.node && indexKey(from) === indexKey(extreme.index);
  };
  const isFound = (each: Node): boolean => {
    if (isLoaded(each)) return false;
    const [a, b] = each.inputs;
    if (each.primitive === equal) return isElement(a) && isTotal(b) && !isFloat(elements.dtype);
    if (each.primitive !== or || isLoaded(a) || isLoaded(b) || a.primitive !== equal) return false;
    return isElement(a.inputs[0]) && isTotal(a.inputs[1]) && b.primitive === isNan && isElement(b.inputs[0]);
  };
  const [condition, positions, others] = choice.inputs;
  const counter = movedTo(space, positions, index, isLoaded);
  const more = movedTo(space, others, index, isLoaded).node;
  const isCounting = counter.node.primitive === iota && keyOf(counter.index[0]) === keyOf(position);
  const isBeyond = more.primitive === constant && Number(more.params.value) >= extent;
  return isCounting && isBeyond && isFound(condition);
}

/** Of two extremes and their positions, the position of the one that is the extreme of both. */
export type PositionOfBoth = (
  k: KernelBuilder,
  op: CombineOp,
  extremes: readonly [Value, Value],
  positions: readonly [Value, Value],
) => Value;

/** The second comes later: the first of equals, or of NaN, stays. */
export const laterPosition: PositionOfBoth = (k, op, extremes, [position, later]) =>
  // Positions rise, so the larger of the two is the later one, unless that is 0: this takes fewer instructions than a choice.
  k.binary("max", position, k.select(isAsGood(k, op, extremes), k.constant("i32", 0), later));

/** Neither comes later: of equals, or of NaN, the one at the lesser position stays. */
export const eitherPosition: PositionOfBoth = (k, op, [a, b], [position, other]) => {
  const isBehind = k.binary("and", isAsGood(k, op, [b, a]), k.compare("lt", other, position));
  return k.select(k.binary("and", isAsGood(k, op, [a, b]), k.unary("not", isBehind)), position, other);
};

/** Whether the first of two is at least as extreme as the second. Nothing is more extreme than NaN. */
function isAsGood(k: KernelBuilder, op: CombineOp, [a, b]: readonly [Value, Value]): Value {
  const isOrdered = k.compare(op === "min" ? "le" : "ge", a, b);
  return a.type === "f32" || a.type === "f64" ? k.binary("or", isOrdered, k.compare("ne", a, a)) : isOrdered;
}
