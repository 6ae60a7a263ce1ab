/**
 * A schedule: a number, as a learning rate, for each step of the training. The step is a tensor and counts from 0, so that a
 * schedule is part of the compiled program; a tensor of many steps gives the numbers of all of them, to plot.
 */
import { checkNumber } from "../../core/arguments.js";
import { isFloat } from "../../core/dtype.js";
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { isTensor, type Tensor, tensor } from "../../tensor/index.js";

/** A number for each step, which counts from 0. One of the user's own may give a plain number. */
export type Schedule = (step: Tensor) => Tensor | number;

/** A schedule of `schedules`: it takes a step or a tensor of them, and gives a tensor of the same shape. */
export type StepSchedule = (step: Tensor | number) => Tensor;

/** The step as a float, in f32 if it was whole. */
export function asFloat(step: Tensor | number): Tensor {
  if (typeof step === "number") return tensor(step, { dtype: "f32" }) as Tensor;
  if (isTensor(step)) return isFloat(step.dtype) ? step : step.cast("f32");
  throw new ArgumentError(`A schedule takes a step, a number or a tensor, not ${shown(step)}.`);
}

/** The share of `steps` that lies behind, from 0 to 1. */
export const progressOf = (step: Tensor | number, steps: number): Tensor => asFloat(step).div(steps).clip(0, 1);

/** A finite number; `above` must lie below it. */
export function checkValue(operation: string, what: string, value: number, above = -Infinity): number {
  checkNumber(operation, what, value);
  if (Number.isFinite(value) && value > above) return value;
  const than = above === -Infinity ? "" : ` above ${above}`;
  throw new ArgumentError(`${operation}: ${what} is a finite number${than}, not ${shown(value)}.`);
}
