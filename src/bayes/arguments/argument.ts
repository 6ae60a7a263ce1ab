/**
 * Arguments of distributions and constraints, as users write them: a number, a tensor (random variables are tensors
 * too), or a list of these. It stays as written until a tensor is at hand that says which dtype and device to use.
 */
import { isComplex, isFloat } from "../../core/dtype.js";
import { ArgumentError, DTypeError } from "../../core/errors.js";
import { resultType } from "../../core/promotion.js";
import type { Shape } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { scalarLike, stack, Tensor } from "../../tensor/index.js";

/** An argument of a distribution: a number, a tensor (such as another variable), or nested arrays of these. */
export type Argument = number | Tensor | readonly Argument[];

export const isArgument = (value: unknown): boolean =>
  typeof value === "number" || value instanceof Tensor || (Array.isArray(value) && value.every(isArgument));

const noArgument = (given: unknown): ArgumentError =>
  new ArgumentError(`An argument is a number, a tensor or a list of these, not ${shown(given)}.`);

export function shapeOfArgument(argument: Argument): Shape {
  if (typeof argument === "number") return [];
  if (argument instanceof Tensor) return [...argument.shape];
  if (!Array.isArray(argument) || argument.length === 0) throw noArgument(argument);
  return [argument.length, ...shapeOfArgument(argument[0])];
}

/** The argument as a tensor of the dtype and on the device of another. */
export function tensorOf(argument: Argument, like: Tensor): Tensor {
  if (typeof argument === "number") return scalarLike(like, argument);
  // A plain tensor even of a random variable, whose value is fixed by this.
  if (argument instanceof Tensor) {
    if (argument.dtype === like.dtype) return new Tensor(argument.node);
    if (!isComplex(argument.dtype)) return argument.cast(like.dtype);
    throw new DTypeError(`An argument is of real numbers, not ${argument.dtype}; take its .real() or .abs().`);
  }
  if (!Array.isArray(argument)) throw noArgument(argument);
  return stack((argument as readonly Argument[]).map((part) => tensorOf(part, like)));
}

export function tensorsIn(given: readonly Argument[]): Tensor[] {
  return given.flatMap((argument) => {
    if (argument instanceof Tensor) return [argument];
    return typeof argument === "number" ? [] : tensorsIn(argument);
  });
}

/** The float dtype of arguments; that of numbers and integers alone is f32 unless told. */
export function floatOf(given: readonly Argument[], otherwise: "f32" | "f64" = "f32"): "f32" | "f64" {
  const floats = tensorsIn(given).flatMap(({ dtype }) => (isFloat(dtype) ? [dtype] : []));
  if (floats.length === 0) return otherwise;
  return resultType(floats) === "f64" ? "f64" : "f32";
}

/** The device of the first tensor among arguments. */
export function deviceOf(given: readonly Argument[]): string | undefined {
  return tensorsIn(given)[0]?.device;
}
