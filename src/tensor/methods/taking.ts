/** Methods of `Tensor`: elements at positions that are data, and positions as users write them. */
import { checkOptions, checkWhole, type OptionKinds, type Values } from "../../core/arguments.js";
import { DTYPES, type DType, isInteger, positionDType } from "../../core/dtype.js";
import { ArgumentError, DTypeError } from "../../core/errors.js";
import { normalizeAxis } from "../../core/shape.js";
import { KEPT_NUMBERS } from "../../core/shown.js";
import { encodeValues } from "../../core/storage.js";
import type { Node } from "../../graph/node.js";
import * as M from "../../graph/primitives/movement.js";
import { backendOf, checkOneDevice, makeNode, storedNode } from "../build.js";
import { flattenNested } from "../given-values.js";
import type { Tensor } from "../tensor.js";
import { isTensor } from "../tensor-checks.js";
import { positionsUsed } from "./noted-positions.js";
import { where } from "./where.js";

/** Positions along an axis: a tensor of integers, or numbers as they are written, in lists to any depth. */
export type Positions = Tensor | Values<number>;

export class TakingMethods<D extends DType> {
  /** The elements along an axis at integer positions; negative ones count from the end, others outside read the end. */
  take(this: Tensor, positions: Positions, options: { readonly axis?: number } = {}): Tensor<D> {
    checkOptions("take", options, { axis: "number" });
    const source = options.axis === undefined ? this.flatten() : this;
    const axis = normalizeAxis(options.axis ?? 0, source.rank, "take");
    const inside = positionsIn(source, positions, axis, "take");
    return this.tensorOf(makeNode(M.take, [source.node, inside], { axis }, backendOf(source.node)));
  }

  /**
   * For each position along an axis, the element there; the other axes go in step: `x.takeAlongAxis(order, { axis: 0 })`.
   */
  takeAlongAxis(this: Tensor, positions: Positions, options: { readonly axis: number }): Tensor<D> {
    const axis = checkAxisNamed("takeAlongAxis", options, { axis: "number" });
    const along = normalizeAxis(axis, this.rank, "takeAlongAxis");
    const inside = positionsIn(this, positions, along, "takeAlongAxis");
    return this.tensorOf(makeNode(M.takeAlongAxis, [this.node, inside], { axis: along }, backendOf(this.node)));
  }
}

/** The axis among the options of a method that has no axis unless told. */
export function checkAxisNamed<O extends { readonly axis: number }>(
  operation: string,
  options: O | undefined,
  known: OptionKinds<O>,
): number {
  if (options !== undefined) checkOptions(operation, options, known);
  if (options?.axis !== undefined) return options.axis;
  throw new ArgumentError(`${operation}: name the axis, as in { axis: 0 }.`);
}

/** Positions, or a mask, as a tensor: lists go to the device of `like`. */
export function positionTensor(operation: string, given: Positions | Values<boolean>, like: Tensor): Tensor {
  if (isTensor(given)) return given;
  const { values, shape } = flattenNested(given, operation);
  const device = backendOf(like.node);
  if (values.length > 0 && values.every((value) => typeof value === "boolean")) {
    return like.tensorOf(storedNode(device, encodeValues(values, "bool", operation), shape, "bool"));
  }
  for (const value of values) checkWhole(operation, "a position", value as number);
  const dtype = values.every((value) => Math.abs(value as number) < 2 ** 31) ? "i32" : "i64";
  return like.tensorOf(storedNode(device, encodeValues(values, dtype, operation), shape, dtype));
}

/** Advice for a number of a jitted function that stands where positions belong; empty for others. */
export const remedyForNumber = ({ node }: Tensor): string => (node.isWeak ? KEPT_NUMBERS : "");

/** Positions counted from the front; they may lie outside. */
function positionsIn(x: Tensor, given: Positions, axis: number, operation: string): Node {
  const positions = positionTensor(operation, given, x);
  if (!isInteger(positions.dtype)) {
    throw new DTypeError(`${operation}: positions are integers, not ${positions.dtype}.${remedyForNumber(positions)}`);
  }
  checkOneDevice(operation, [x.node, positions.node]);
  positionsUsed(operation, positions, x.node.shape[axis]);
  // Positions that the counting dtype does not hold are outside in any case; wrapping must not bring them back in.
  const extent = x.node.shape[axis];
  const counting = positionDType(extent);
  const { bits, signed } = DTYPES[positions.dtype as DType];
  const mayWrap = counting === "i64" ? positions.dtype === "u64" : bits > 32 || positions.dtype === "u32";
  const clamped = mayWrap ? (signed ? positions.maximum(-extent - 1) : positions).minimum(extent) : positions;
  const wide: Tensor = clamped.cast(counting);
  return where(wide.less(0), wide.add(extent), wide).node;
}
