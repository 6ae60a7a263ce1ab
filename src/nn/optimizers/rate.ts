/** Learning rates as users give them, a number, a schedule or a tensor, and arithmetic of numbers that may be known. */
import { checkNumber } from "../../core/arguments.js";
import type { DType } from "../../core/dtype.js";
import { ShapeError } from "../../core/errors.js";
import { formatShape } from "../../core/shape.js";
import { isTensor, type Tensor } from "../../tensor/index.js";
import type { Schedule } from "../schedules/schedule.js";

/** A learning rate: a number, a schedule, or a scalar tensor (an argument of the compiled step, for example). */
export type Rate = number | Schedule | Tensor;

/** A number that is part of the program, or a scalar on the device. */
export type Amount = number | Tensor;

export function checkRate(operation: string, rate: Rate): void {
  if (typeof rate === "function") return;
  if (!isTensor(rate)) checkNumber(operation, "the rate", rate);
  else if (rate.size !== 1) {
    throw new ShapeError(`${operation}: the rate is a scalar, not a tensor of shape ${formatShape(rate.shape)}.`);
  }
}

/** The rate of a step; `count` is 1 at the first. */
export function rateAt(rate: Rate, count: Tensor, dtype: DType): Amount {
  const found = typeof rate === "function" ? rate(count.sub(1)) : rate;
  if (!isTensor(found)) return found;
  const scalar = found.rank === 0 ? found : found.reshape([]);
  return scalar.dtype === dtype ? scalar : (scalar.cast(dtype) as Tensor);
}

export const negated = (a: Amount): Amount => (typeof a === "number" ? -a : a.neg());

export const times = (a: Amount, b: Amount): Amount =>
  typeof a === "number" ? (typeof b === "number" ? a * b : b.mul(a)) : a.mul(b);

/** 1 - decay^count, by expm1: no digits cancel. A moving average that began at zero is divided by it. */
export const reached = (decay: number, count: Tensor): Tensor =>
  decay === 0 ? count.mul(0).add(1) : count.mul(Math.log(decay)).expm1().neg();
