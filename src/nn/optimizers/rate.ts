/** Learning rates as users give them, a number, a schedule or a tensor, and arithmetic of numbers that may be known. */
import type { DType } from "../../core/dtype.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { formatShape } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { isTensor, type Tensor } from "../../tensor/index.js";
import type { Schedule } from "../schedules/schedule.js";

/** A learning rate: a number, a schedule, or a scalar tensor (an argument of the compiled step, for example). */
export type Rate = number | Schedule | Tensor;

/** In the place of a rate: the direction comes out as it is, to be scaled by what follows in a chain. */
export const NO_RATE = Symbol("no rate");

export type MaybeRate = Rate | typeof NO_RATE;

/** A number that is part of the program, or a scalar on the device. */
export type Amount = number | Tensor;

/** Throws on what cannot be a rate. A factor, unlike a rate, may be negative. */
export function checkRate(operation: string, rate: Rate, isFactor = false): void {
  if (typeof rate === "function") return;
  const what = isFactor ? "the factor" : "the rate";
  if (isTensor(rate)) {
    if (rate.size === 1) return;
    throw new ShapeError(`${operation}: ${what} is a scalar, not a tensor of shape ${formatShape(rate.shape)}.`);
  }
  if (Number.isFinite(rate) && (isFactor || rate >= 0)) return;
  const range = isFactor ? "finite number" : "finite number from 0 on";
  throw new ArgumentError(`${operation}: ${what} is a ${range}, a schedule or a scalar tensor, not ${shown(rate)}.`);
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
