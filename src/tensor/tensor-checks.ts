/**
 * Tensors as the files of methods/ see them. `Tensor` is assembled from these, so that they cannot import the class: they
 * recognise tensors with `isTensor` and make them with `x.tensorOf(node)`.
 */
import type { Scalar } from "../core/dtype.js";
import { ArgumentError } from "../core/errors.js";
import { shown } from "../core/shown.js";
import type { Node } from "../graph/node.js";
import type { Operand, Tensor } from "./tensor.js";

/** A property of every tensor and of nothing else. */
export const TENSOR = Symbol("tensor");

export const isTensor = (value: unknown): value is Tensor =>
  (value as { readonly [TENSOR]?: true } | null | undefined)?.[TENSOR] === true;

/** The node of a tensor; a JavaScript value as it is. */
export const nodeOrScalar = (operand: Operand): Node | Scalar => (isTensor(operand) ? operand.node : operand);

/** Throws on what is no tensor: a number or a list stands where only a tensor can. */
export function checkTensor(operation: string, what: string, value: unknown): asserts value is Tensor {
  if (isTensor(value)) return;
  throw new ArgumentError(`${operation}: ${what} is a tensor, not ${shown(value)}; tensor() makes one.`);
}

/** A list of tensors, at least one. */
export function checkTensors(operation: string, values: unknown): asserts values is readonly Tensor[] {
  if (!Array.isArray(values) || values.length === 0) {
    throw new ArgumentError(`${operation}: takes a list of one or more tensors, not ${shown(values)}.`);
  }
  values.forEach((value, i) => {
    checkTensor(operation, `number ${i} of the list`, value);
  });
}
