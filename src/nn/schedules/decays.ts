/** Schedules that go one way: constant, linear, exponential, polynomial, inverse square root, piecewise. */
import { checkOptions, checkWhole } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { fullLike, type Tensor, where } from "../../tensor/index.js";
import { asFloat, checkValue, progressOf, type StepSchedule } from "./schedule.js";

/** The same value at every step. */
export function constant(value: number): StepSchedule {
  checkValue("constant", "the value", value);
  return (step) => fullLike(asFloat(step), value) as Tensor;
}

/** From one value to another along a line, in so many steps; the last value stays. */
export function linear(from: number, to: number, steps: number): StepSchedule {
  return powerOf("linear", from, to, steps, 1);
}

/** From one value to another: to + (from - to) · (1 - step / steps)^power; the last value stays. */
export function polynomial(
  from: number,
  to: number,
  steps: number,
  options: { readonly power?: number } = {},
): StepSchedule {
  checkOptions("polynomial", options, { power: "number" });
  return powerOf("polynomial", from, to, steps, options.power ?? 2);
}

function powerOf(operation: string, from: number, to: number, steps: number, power: number): StepSchedule {
  checkValue(operation, "the first value", from);
  checkValue(operation, "the last value", to);
  checkWhole(operation, "the number of steps", steps, 1);
  checkValue(operation, "the power", power, 0);
  return (step) => {
    const left = progressOf(step, steps).neg().add(1);
    return (power === 1 ? left : left.pow(power)).mul(from - to).add(to);
  };
}

/** Options of `exponential`. */
export interface ExponentialOptions {
  /** The value changes once in `steps` instead of at each step; false. */
  readonly staircase?: boolean;
  /** The value goes no lower; 0. */
  readonly floor?: number;
}

/** value · factor^(step / steps): `exponential(0.1, 0.5, 1000)` halves every thousand steps. */
export function exponential(
  value: number,
  factor: number,
  steps: number,
  options: ExponentialOptions = {},
): StepSchedule {
  checkValue("exponential", "the value", value);
  checkValue("exponential", "the factor", factor, 0);
  checkWhole("exponential", "the number of steps", steps, 1);
  checkOptions("exponential", options, { staircase: "flag", floor: "number" });
  const { staircase = false, floor = 0 } = options;
  return (step) => {
    const passed = asFloat(step).div(steps);
    const decayed = (staircase ? passed.floor() : passed).mul(Math.log(factor)).exp().mul(value);
    return floor > 0 ? decayed.maximum(floor) : decayed;
  };
}

/** Rises on a line to the value in `warmup` steps and falls as 1 / √step: the schedule of the first transformers. */
export function inverseSquareRoot(value: number, warmup: number): StepSchedule {
  checkValue("inverseSquareRoot", "the value", value);
  checkWhole("inverseSquareRoot", "the number of steps of the warm-up", warmup, 1);
  return (step) => {
    const count = asFloat(step).add(1);
    return count
      .div(warmup)
      .minimum(count.rsqrt().mul(Math.sqrt(warmup)))
      .mul(value);
  };
}

/** A value that changes at given steps: `piecewise(0.1, { 1000: 0.01, 2000: 0.001 })` is 0.01 from step 1000 on. */
export function piecewise(value: number, changes: Readonly<Record<number, number>>): StepSchedule {
  checkValue("piecewise", "the first value", value);
  if (typeof changes !== "object" || changes === null) {
    throw new ArgumentError(`piecewise: the changes are values by step, as in { 1000: 0.01 }, not ${shown(changes)}.`);
  }
  const steps = Object.keys(changes).map(Number);
  for (const step of steps) {
    checkWhole("piecewise", "the step of a change", step, 0);
    checkValue("piecewise", `the value from step ${step} on`, changes[step] as number);
  }
  steps.sort((a, b) => a - b);
  return (step) => {
    const now = asFloat(step);
    return steps.reduce(
      (found, at) => where(now.greaterEqual(at), changes[at] as number, found),
      now.mul(0).add(value),
    );
  };
}
