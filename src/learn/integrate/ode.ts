/**
 * Ordinary differential equations, y′ = f(t, y) from a first state, as functions of it, of the times and of all tensors that f
 * captures. States are trees of floats.
 */
import { checkChoice, checkFunction, checkOptions, checkWhole, type OptionKinds } from "../../core/arguments.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { formatShape } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { checkOneDevice, full, isTensor, type Tensor, tensor, where } from "../../tensor/index.js";
import { withoutClosure } from "../../transforms/closed.js";
import { type Ravelled, ravel } from "../../transforms/ravel.js";
import { vmap } from "../../transforms/vmap.js";
import { adaptiveStates, STATUS } from "./adaptive-steps.js";
import { dopri8 } from "./dormand-prince-8.js";
import { explicitMethod } from "./explicit-step.js";
import { bosh3, dopri5, rk4, tsit5 } from "./explicit-tableaus.js";
import { fixedStates } from "./fixed-steps.js";
import type { Method, System } from "./method.js";
import { rodas5p } from "./rosenbrock-step.js";

/** How to step. `rodas5p` is for stiff systems, the others are explicit; `rk4` has fixed steps only. */
export type OdeMethod = "dopri5" | "tsit5" | "dopri8" | "bosh3" | "rk4" | "rodas5p";

/** Options of `odeSolve`. */
export interface OdeOptions {
  /** "dopri5" unless told. */
  readonly method?: OdeMethod;
  /** The allowed error of a step, relative to the state: 1e-6 unless told (1e-5 in f32). */
  readonly rtol?: number;
  /** The allowed error of a step, added to that: 1e-9 unless told (1e-7 in f32). */
  readonly atol?: number;
  /** The length tried first; found from the slopes unless told. */
  readonly firstStep?: number;
  /** The longest step; no limit unless told. A limit keeps steps from passing over short events in f. */
  readonly maxStep?: number;
  /** Steps at most, with those tried again: 4096. A gradient keeps the state of each. */
  readonly maxSteps?: number;
  /** That many equal steps between neighbouring times, without any control of errors: for models of `pumice/bayes`, and `rk4`. */
  readonly steps?: number;
}

/** The solution of an equation. */
export interface OdeSolution<T> {
  /** The states at the times, along a first axis. NaN at times that were not reached. */
  readonly y: T;
  /** i32: 0 the last time was reached, 1 `maxSteps` did not suffice, 2 the steps became too small, 3 a state was not finite. */
  readonly status: Tensor;
  /** i32: steps taken. */
  readonly steps: Tensor;
  /** i32: steps that were tried again shorter. */
  readonly rejections: Tensor;
}

const OPTIONS: OptionKinds<OdeOptions> = {
  method: "text",
  rtol: "number",
  atol: "number",
  firstStep: "number",
  maxStep: "number",
  maxSteps: "number",
  steps: "number",
};

const METHODS: Readonly<Record<OdeMethod, Method>> = {
  dopri5: explicitMethod(dopri5),
  tsit5: explicitMethod(tsit5),
  dopri8: explicitMethod(dopri8),
  bosh3: explicitMethod(bosh3),
  rk4: explicitMethod(rk4),
  rodas5p,
};

/**
 * The states at given times: `odeSolve((t, y) => y.neg(), y0, [0, 1, 2]).y`. The times rise or fall; the first one is that of `y0`.
 * f gives a tree like `y0`.
 */
export function odeSolve<T>(
  f: (t: Tensor, y: T) => T,
  y0: T,
  times: Tensor | readonly number[],
  options: OdeOptions = {},
): OdeSolution<T> {
  checkFunction("integrate.odeSolve", f);
  checkOdeOptions(options);
  const flat = ravel("integrate.odeSolve, the first state", y0);
  const at = timesBeside(flat.vector, times);
  const direction = at.at(-1).sub(at.at(0)).sign() as Tensor;
  // Falling times are rising ones of the equation run backwards.
  const forward = where(direction.less(0), -1, 1).cast(at.dtype) as Tensor;
  const system = systemOf(f, flat);
  const rising: System = (t, y) => system(t.mul(forward) as Tensor, y).mul(forward) as Tensor;
  const method = METHODS[options.method ?? "dopri5"];
  const found = solved(method, rising, flat.vector, at.mul(forward) as Tensor, options);
  return { ...found, y: vmap(flat.restore)(found.y) as T };
}

function solved(method: Method, system: System, y0: Tensor, times: Tensor, options: OdeOptions): OdeSolution<Tensor> {
  const { dtype, device } = y0;
  const isWide = dtype === "f64";
  const { rtol = isWide ? 1e-6 : 1e-5, atol = isWide ? 1e-9 : 1e-7, firstStep, steps } = options;
  const { maxStep = Number.POSITIVE_INFINITY, maxSteps = 4096 } = options;
  if (steps === undefined) {
    const open = withoutClosure("integrate.odeSolve", (t, y) => [system(t, y)], [times.at(0) as Tensor, y0]);
    const { states, ...rest } = adaptiveStates(method, open, y0, times, { rtol, atol, firstStep, maxStep, maxSteps });
    return { y: states, ...rest };
  }
  const y = fixedStates(method, system, y0, times, steps);
  const count = (value: number): Tensor => full([], value, { dtype: "i32", device }) as Tensor;
  return {
    y,
    status: where(y.isFinite().all(), STATUS.reached, STATUS.notFinite).cast("i32") as Tensor,
    steps: count(steps * (times.size - 1)),
    rejections: count(0),
  };
}

/** f as a function of vectors. */
function systemOf<T>(f: (t: Tensor, y: T) => T, { restore, vector }: Ravelled<T>): System {
  return (t, y) => {
    const slopes = ravel("integrate.odeSolve, the slopes", f(t, restore(y))).vector;
    if (slopes.size === vector.size) return slopes.cast(y.dtype) as Tensor;
    throw new ShapeError(
      `integrate.odeSolve: the state has ${vector.size} numbers and the function gives ${slopes.size}; it gives one slope for each.`,
    );
  };
}

function timesBeside(y0: Tensor, times: Tensor | readonly number[]): Tensor {
  const { dtype, device } = y0;
  const at = isTensor(times) ? times : (tensor(times as number[], { dtype, device }) as Tensor);
  if (isTensor(times)) checkOneDevice("integrate.odeSolve", [y0.node, times.node]);
  if (at.rank === 1 && at.size >= 2) {
    if (!isTensor(times)) checkInOrder(times, dtype === "f64" ? (time) => time : Math.fround);
    return at.cast(dtype) as Tensor;
  }
  throw new ShapeError(
    `integrate.odeSolve: times of shape ${formatShape(at.shape)}; they have one axis, with the time of the first state and others after it.`,
  );
}

/** Times in a list do not turn around, and different ones still are once they are rounded to the dtype of the state. */
function checkInOrder(times: readonly number[], rounded: (time: number) => number): void {
  const isFalling = (times.at(-1) as number) < (times[0] as number);
  times.forEach((time, i) => {
    if (i === 0) return;
    const before = times[i - 1] as number;
    if (!(isFalling ? time <= before : time >= before)) {
      throw new ArgumentError(
        `integrate.odeSolve: the times ${isFalling ? "fall" : "rise"} from ${shown(times[0])} to ${shown(times.at(-1))}, and ${shown(time)} ` +
          `at position ${i} comes after ${shown(before)}.`,
      );
    }
    if (time !== before && rounded(time) === rounded(before)) {
      throw new ArgumentError(
        `integrate.odeSolve: the times ${shown(before)} and ${shown(time)} are one number in f32; count from the first, or take a state of f64.`,
      );
    }
  });
}

function checkOdeOptions(options: OdeOptions): void {
  checkOptions("integrate.odeSolve", options, OPTIONS);
  const { method = "dopri5", rtol = 1, atol = 0, firstStep = 1, maxStep = 1, maxSteps = 1, steps } = options;
  checkChoice("integrate.odeSolve", "the option method", method, Object.keys(METHODS));
  checkWhole("integrate.odeSolve", "the option maxSteps", maxSteps, 1);
  if (steps !== undefined) checkWhole("integrate.odeSolve", "the option steps", steps, 1);
  else if (!METHODS[method].isAdaptive) {
    throw new ArgumentError(
      `integrate.odeSolve: ${method} has no estimate of its error; say how many steps it takes between times, as { steps: 20 }, or ` +
        'take "dopri5".',
    );
  }
  for (const [name, value] of Object.entries({ rtol, atol })) {
    if (value >= 0 && Number.isFinite(value)) continue;
    throw new ArgumentError(`integrate.odeSolve: ${name} is ${shown(value)}; it is a number, zero or more.`);
  }
  if (rtol === 0 && atol === 0) {
    throw new ArgumentError("integrate.odeSolve: rtol and atol are both 0; no step has no error at all.");
  }
  for (const [name, value] of Object.entries({ firstStep, maxStep })) {
    if (value > 0 && Number.isFinite(value)) continue;
    throw new ArgumentError(`integrate.odeSolve: ${name} is ${shown(value)}; it is a positive number.`);
  }
}
