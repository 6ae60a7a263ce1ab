/** Schedules with a turn: cosines, with restarts too, one cycle, and a warm-up before any schedule. */
import { checkFunction, checkOptions, checkWhole } from "../../core/arguments.js";
import { isInteger } from "../../core/dtype.js";
import { ArgumentError } from "../../core/errors.js";
import { isTensor, type Tensor, tensor, where } from "../../tensor/index.js";
import { asFloat, checkValue, progressOf, type Schedule, type StepSchedule } from "./schedule.js";

/** From 1 to 0 along half a cosine, for a share from 0 to 1. */
const falling = (share: Tensor): Tensor => share.mul(Math.PI).cos().add(1).mul(0.5);

/** From a value to `floor` (0) along half a cosine, in so many steps; the last value stays. */
export function cosine(value: number, steps: number, options: { readonly floor?: number } = {}): StepSchedule {
  checkValue("cosine", "the value", value);
  checkWhole("cosine", "the number of steps", steps, 1);
  checkOptions("cosine", options, { floor: "number" });
  const { floor = 0 } = options;
  return (step) =>
    falling(progressOf(step, steps))
      .mul(value - floor)
      .add(floor);
}

/** Options of `cosineRestarts`. */
export interface CosineRestartsOptions {
  /** The last value of a period; 0. */
  readonly floor?: number;
  /** Each period is so many times as long as the one before; 1. */
  readonly growth?: number;
  /** Each period begins at so much of the first value of the one before; 1. */
  readonly decay?: number;
}

/** Cosines that begin again: SGDR. The first period has so many steps. */
export function cosineRestarts(value: number, steps: number, options: CosineRestartsOptions = {}): StepSchedule {
  checkValue("cosineRestarts", "the value", value);
  checkWhole("cosineRestarts", "the number of steps", steps, 1);
  checkOptions("cosineRestarts", options, { floor: "number", growth: "number", decay: "number" });
  const { floor = 0, growth = 1, decay = 1 } = options;
  if (!(growth >= 1)) throw new ArgumentError(`cosineRestarts: the option growth is 1 or more, not ${growth}.`);
  const periodOf = growth === 1 && steps < MOST_STEPS ? equalPeriods(steps) : growingPeriods(steps, growth);
  return (step) => {
    const { period, share } = periodOf(step);
    const peak = decay === 1 ? value : period.cast(share.dtype).mul(Math.log(decay)).exp().mul(value);
    return falling(share)
      .mul(decay === 1 ? value - floor : (peak as Tensor).sub(floor))
      .add(floor);
  };
}

/** The number of a period, and the share of it that lies behind. Whole steps are counted in integers: in f32, places late in a run lose digits. */
type PeriodOf = (step: Tensor | number) => { readonly period: Tensor; readonly share: Tensor };

/** A step as an integer, and what is left of a step between two. */
function wholeStep(step: Tensor | number): { readonly whole: Tensor; readonly rest: Tensor } {
  if (isTensor(step) && isInteger(step.dtype)) return { whole: step.cast("i32"), rest: asFloat(step).mul(0) };
  if (typeof step === "number") {
    const floor = Math.floor(step);
    return { whole: tensor(floor, { dtype: "i32" }) as Tensor, rest: tensor(step - floor, { dtype: "f32" }) as Tensor };
  }
  const floor = asFloat(step).floor();
  return { whole: floor.cast("i32"), rest: asFloat(step).sub(floor) };
}

function equalPeriods(steps: number): PeriodOf {
  return (step) => {
    const { whole, rest } = wholeStep(step);
    const place = whole.mod(steps).cast(rest.dtype);
    return { period: whole.floorDivide(steps), share: place.add(rest).div(steps) };
  };
}

/** The steps that integers of 32 bits count, and the periods that are written down for them. */
const MOST_STEPS = 2 ** 31;
const MOST_PERIODS = 2 ** 16;

/** Periods from a table of where they begin. */
function growingPeriods(steps: number, growth: number): PeriodOf {
  const [firsts, offsets, lengths]: [number[], number[], number[]] = [[], [], []];
  for (let [begin, length] = [0, steps]; begin <= MOST_STEPS - 1; [begin, length] = [begin + length, length * growth]) {
    const nearest = Math.round(begin);
    // Sums of lengths that are not whole may land just above a whole number.
    const first = Math.abs(begin - nearest) <= 1e-12 * begin ? nearest : Math.ceil(begin);
    if (firsts.length === MOST_PERIODS) {
      throw new ArgumentError(
        `cosineRestarts: the option growth, ${growth}, makes more than ${MOST_PERIODS} periods; give 1, or a larger one.`,
      );
    }
    firsts.push(Math.min(first, MOST_STEPS - 1));
    offsets.push(first - begin);
    lengths.push(length);
  }
  return (step) => {
    const { whole, rest } = wholeStep(step);
    const { dtype } = rest;
    const { device } = whole;
    const begins = tensor(firsts, { dtype: "i32", device });
    const period = begins.searchSorted(whole, { side: "right" }).sub(1).maximum(0) as Tensor;
    const of = (values: readonly number[]) => tensor([...values], { dtype, device }).take(period) as Tensor;
    const place = whole.sub(begins.take(period)).cast(dtype);
    return { period, share: place.add(rest).add(of(offsets)).div(of(lengths)).clip(0, 1) };
  };
}

/** Options of `oneCycle`. */
export interface OneCycleOptions {
  /** The share of steps in which the value rises; 0.3. */
  readonly rising?: number;
  /** The first value is the peak divided by this; 25. */
  readonly start?: number;
  /** The last value is the first one divided by this; 10,000. */
  readonly end?: number;
}

/** Up to a peak and down again, on cosines (Smith & Topin 2019), with the numbers of PyTorch's OneCycleLR. */
export function oneCycle(peak: number, steps: number, options: OneCycleOptions = {}): StepSchedule {
  checkValue("oneCycle", "the peak", peak);
  checkWhole("oneCycle", "the number of steps", steps, 2);
  checkOptions("oneCycle", options, { rising: "number", start: "number", end: "number" });
  const { rising = 0.3, start = 25, end = 1e4 } = options;
  if (!(rising > 0 && rising < 1)) {
    throw new ArgumentError(`oneCycle: the option rising lies between 0 and 1, not at ${rising}.`);
  }
  const [first, last] = [peak / start, peak / start / end];
  const top = rising * steps - 1;
  if (!(top > 0)) throw new ArgumentError(`oneCycle: ${steps} steps are too few to rise in a share of ${rising}.`);
  return (step) => {
    const now = asFloat(step);
    const up = falling(now.div(top).clip(0, 1))
      .mul(first - peak)
      .add(peak);
    const down = falling(
      now
        .sub(top)
        .div(steps - 1 - top)
        .clip(0, 1),
    )
      .mul(peak - last)
      .add(last);
    return where(now.lessEqual(top), up, down);
  };
}

/** Rises from `from` (0) on a line for so many steps; the schedule, or the constant value, begins after them. */
export function warmup(steps: number, then: Schedule | number, options: { readonly from?: number } = {}): StepSchedule {
  checkWhole("warmup", "the number of steps", steps, 1);
  if (typeof then !== "number") checkFunction("warmup", then, "the schedule that follows");
  checkOptions("warmup", options, { from: "number" });
  const { from = 0 } = options;
  const after: Schedule = typeof then === "number" ? () => then : then;
  return (step) => {
    const now = asFloat(step);
    // The schedule's own first value is the one that the line leads to.
    const first = after(now.mul(0));
    const rise = now.div(steps);
    const rising = typeof first === "number" ? rise.mul(first - from).add(from) : first.sub(from).mul(rise).add(from);
    return where(now.less(steps), rising, after(now.sub(steps).maximum(0)));
  };
}
