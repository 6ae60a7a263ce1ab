/** What minimisers and root finders take and give: options that end an iteration, and results as tensors. */
import { checkWhole, type OptionKinds } from "../../core/arguments.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { formatShape } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { isTensor, type Tensor } from "../../tensor/index.js";
import { valueAndGrad } from "../../transforms/grad.js";
import type { Ravelled } from "../../transforms/ravel.js";

/** A minimum that was found. All but `x` are scalars. */
export interface Minimum<T> {
  readonly x: T;
  readonly value: Tensor;
  /** The largest absolute element of the gradient. */
  readonly gradientNorm: Tensor;
  /** i32. */
  readonly iterations: Tensor;
  /** bool: the tolerance was reached. */
  readonly converged: Tensor;
}

/** When an iteration ends. */
export interface StopOptions {
  /** Rounds at most. */
  readonly maxIter?: number;
  /** The precision at which the search ends; each function says of what. */
  readonly tol?: number;
}

export const STOP: OptionKinds<StopOptions> = { maxIter: "number", tol: "number" };

export function checkStop(operation: string, { maxIter = 1, tol = 0 }: StopOptions): void {
  checkWhole(operation, "maxIter", maxIter, 0);
  if (tol >= 0 && Number.isFinite(tol)) return;
  throw new ArgumentError(`${operation}: tol is ${shown(tol)}; it is a number, zero or more.`);
}

/** A place, the value and the gradient there. */
export interface Point {
  readonly x: Tensor;
  readonly value: Tensor;
  readonly gradient: Tensor;
}

/** f as a function of vectors with a scalar result. */
export function scalarFunction<T>(
  operation: string,
  f: (x: T) => Tensor,
  { restore }: Ravelled<T>,
): (x: Tensor) => Tensor {
  return (x) => {
    const value = f(restore(x));
    if (isTensor(value) && value.size === 1) return value.reshape([]).cast(x.dtype) as Tensor;
    const found = isTensor(value) ? `a tensor of shape ${formatShape(value.shape)}` : shown(value);
    throw new ShapeError(`${operation}: the function gives one number in a tensor, not ${found}.`);
  };
}

/** f with its gradient, of vectors. */
export function evaluatorOf<T>(operation: string, f: (x: T) => Tensor, flat: Ravelled<T>): (x: Tensor) => Point {
  const whole = scalarFunction(operation, f, flat);
  return (x) => {
    const [value, gradient] = valueAndGrad(whole)(x);
    return { x, value, gradient };
  };
}

/** The relative spacing of floats of a tensor's dtype. */
export const spacingOf = ({ dtype }: Tensor): number => (dtype === "f64" ? 2 ** -52 : 2 ** -23);
