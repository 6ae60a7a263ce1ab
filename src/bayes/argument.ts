/**
 * What users write where a distribution or constraint takes numbers: a number, a tensor (random variables are tensors
 * too), or a list of these. It stays as written until a tensor is at hand that says which dtype and device to use.
 */
import { ArgumentError } from "../core/errors.js";
import type { Shape } from "../core/shape.js";
import { stack } from "../tensor/creation.js";
import { scalarLike } from "../tensor/methods/operands.js";
import { Tensor } from "../tensor/tensor.js";

export type Argument = number | Tensor | readonly Argument[];

export function shapeOfArgument(argument: Argument): Shape {
  if (typeof argument === "number") return [];
  if (argument instanceof Tensor) return [...argument.shape];
  if (!Array.isArray(argument) || argument.length === 0) {
    throw new ArgumentError(`An argument is a number, a tensor or a list of these, not ${String(argument)}.`);
  }
  return [argument.length, ...shapeOfArgument(argument[0])];
}

/** The argument as a tensor of the dtype and on the device of another. */
export function tensorOf(argument: Argument, like: Tensor): Tensor {
  if (typeof argument === "number") return scalarLike(like, argument);
  // A plain tensor even of a random variable, whose value is fixed by this.
  if (argument instanceof Tensor)
    return argument.dtype === like.dtype ? new Tensor(argument.node) : argument.cast(like.dtype);
  return stack((argument as readonly Argument[]).map((part) => tensorOf(part, like)));
}
