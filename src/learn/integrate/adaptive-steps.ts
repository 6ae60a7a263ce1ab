/**
 * Steps whose lengths follow from their errors: a loop on the device that runs until the last time is reached. States at the asked
 * times come from the continuous solution of the step around them.
 *
 * Derivatives are those of the steps that were taken, with their lengths held fixed: exact for the numbers that were computed.
 * Forward they run through the same loop. Backward the loop runs again and keeps the state before each step; a second loop then goes
 * back over these, one step at a time. A `whileLoop` has no reverse derivative by itself, so `customGradient` says this.
 */
import { arange, full, fullLike, type Tensor, where, zeros, zerosLike } from "../../tensor/index.js";
import type { OpenFunction } from "../../transforms/closed.js";
import { whileLoop } from "../../transforms/control.js";
import { customGradient } from "../../transforms/custom.js";
import { jvp, stopGradient, vjp } from "../../transforms/grad.js";
import { type Method, rootMeanSquare, type System, statesAt } from "./method.js";

/** How an integration ended. -1 while it runs. */
export const STATUS = { reached: 0, tooManySteps: 1, stepTooSmall: 2, notFinite: 3 } as const;

interface AdaptiveSettings {
  readonly rtol: number;
  readonly atol: number;
  readonly firstStep: number | undefined;
  readonly maxStep: number;
  readonly maxSteps: number;
}

/** States at the times, [m, n], and how it went: i32 scalars. */
interface AdaptiveStates {
  readonly states: Tensor;
  readonly status: Tensor;
  readonly steps: Tensor;
  readonly rejections: Tensor;
}

/** Accepted steps: starts, lengths, states before, [maxSteps] and [maxSteps, n]. */
interface Taken {
  readonly t: Tensor;
  readonly h: Tensor;
  readonly y: Tensor;
}

interface Progress {
  readonly t: Tensor;
  readonly y: Tensor;
  readonly slope: Tensor;
  readonly h: Tensor;
  readonly lastError: Tensor;
  readonly wasRejected: Tensor;
  readonly states: Tensor;
  readonly status: Tensor;
  readonly steps: Tensor;
  readonly rejections: Tensor;
  readonly taken: Taken | null;
}

const SAFETY = 0.9;
const [LEAST_FACTOR, MOST_FACTOR] = [0.2, 10];

/** States at rising times, the first of which is the start. */
export function adaptiveStates(
  method: Method,
  open: OpenFunction,
  y0: Tensor,
  times: Tensor,
  settings: AdaptiveSettings,
): AdaptiveStates {
  const systemWith =
    (captured: readonly Tensor[]): System =>
    (t, y) =>
      open.apply(captured, [t, y])[0];
  const forward = (y: Tensor, at: Tensor, captured: readonly Tensor[]): AdaptiveStates => {
    const { states, status, steps, rejections } = stepped(method, systemWith(captured), y, at, settings, false);
    return { states, status, steps, rejections };
  };
  const solve = customGradient(forward, {
    jvp: (tangents, ...args) => jvp(forward, args, tangents as typeof args)[1] as AdaptiveStates,
    vjp: (cotangent, result, y, at, captured) => {
      const { taken, steps } = stepped(method, systemWith(captured), y, at, settings, true);
      const back = backward(method, systemWith, cotangent.states, taken as Taken, steps, y, at, captured);
      // States that were not reached have no derivative.
      const known = (x: Tensor): Tensor => where(result.status.equal(STATUS.reached), x, Number.NaN) as Tensor;
      return [known(back.y), known(back.times), back.captured.map((each) => each && known(each))];
    },
  });
  return solve(y0, times, open.captured);
}

// ------------------------------------------------------------------------------------------------ forward

function stepped(
  method: Method,
  system: System,
  y0: Tensor,
  times: Tensor,
  settings: AdaptiveSettings,
  keeps: boolean,
): Progress {
  const [t0, end] = [times.at(0), times.at(-1)] as [Tensor, Tensor];
  const { device, dtype } = y0;
  const count = (): Tensor => full([], 0, { device, dtype: "i32" }) as Tensor;
  const slope = system(t0, y0);
  const { maxStep, maxSteps } = settings;
  const room = (shape: readonly number[]): Tensor => zeros([maxSteps, ...shape], { device, dtype }) as Tensor;
  const isThere = times.equal(t0).expandDims(1);
  const start: Progress = {
    t: t0,
    y: y0,
    slope,
    h: atMost(firstLength(method, system, t0, y0, slope, end, settings), maxStep),
    lastError: zerosLike(t0).add(1) as Tensor,
    wasRejected: full([], false, { device, dtype: "bool" }) as Tensor,
    states: where(isThere, y0.expandDims(0), Number.NaN) as Tensor,
    status: where(end.greater(t0), -1, STATUS.reached).cast("i32") as Tensor,
    steps: count(),
    rejections: count(),
    taken: keeps ? { t: room([]), h: room([]), y: room([y0.size]) } : null,
  };
  return whileLoop(
    ({ status }) => status.less(0) as Tensor,
    (now) => advanced(method, system, times, end, settings, now),
    start,
    { maxRounds: maxSteps + 1 },
  );
}

/** One step tried: taken, or tried again shorter. */
function advanced(
  method: Method,
  system: System,
  times: Tensor,
  end: Tensor,
  { rtol, atol, maxStep, maxSteps }: AdaptiveSettings,
  now: Progress,
): Progress {
  const { t, y, slope, steps, rejections, taken } = now;
  const left = end.sub(t);
  const isLast = now.h.greaterEqual(left) as Tensor;
  const h = stopGradient(where(isLast, left, now.h)) as Tensor;
  const step = method.step(system, t, y, h, slope);
  const allowed = y.abs().maximum(step.next.abs()).mul(rtol).add(atol) as Tensor;
  const error = stopGradient(method.errorOf(step, allowed)) as Tensor;
  const hasValues = error.isFinite().logicalAnd(step.next.isFinite().all()) as Tensor;
  const isTaken = hasValues.logicalAnd(error.lessEqual(1)) as Tensor;
  const pick = (yes: Tensor, no: Tensor): Tensor => where(isTaken, yes, no) as Tensor;
  const wanted = nextLength(method, h, where(hasValues, error, 1e6) as Tensor, now, isTaken);
  const next = atMost(wanted, maxStep);
  const to = t.add(h) as Tensor;
  const found = statesAt(method, { t, y, h, isLast }, step, times);
  const isRow = arange(0, maxSteps, 1, { dtype: "i32", device: y.device }).equal(steps).logicalAnd(isTaken);
  const tried = steps.add(rejections).add(1);
  const status = where(
    isTaken.logicalAnd(isLast),
    STATUS.reached,
    where(
      isTaken.logicalNot().logicalAnd(next.less(leastLength(t, end))),
      where(hasValues, STATUS.stepTooSmall, STATUS.notFinite),
      where(tried.greaterEqual(maxSteps), STATUS.tooManySteps, -1),
    ),
  );
  return {
    t: pick(to, t),
    y: pick(step.next, y),
    slope: pick(step.slope ?? system(to, step.next), slope),
    h: next,
    lastError: pick(error.maximum(1e-4) as Tensor, now.lastError),
    wasRejected: isTaken.logicalNot() as Tensor,
    states: where(isTaken.logicalAnd(found.isInside).expandDims(1), found.states, now.states) as Tensor,
    status: status.cast("i32") as Tensor,
    steps: steps.add(isTaken.cast("i32")) as Tensor,
    rejections: rejections.add(isTaken.logicalNot().cast("i32")) as Tensor,
    taken: taken && {
      t: where(isRow, t, taken.t) as Tensor,
      h: where(isRow, h, taken.h) as Tensor,
      y: where(isRow.expandDims(1), y.expandDims(0), taken.y) as Tensor,
    },
  };
}

/** The next length from the errors of this step and of the one before; after a rejection it does not grow. */
function nextLength({ order, control }: Method, h: Tensor, error: Tensor, now: Progress, isTaken: Tensor): Tensor {
  const size = error.maximum(1e-10);
  const steady = size
    .pow(-control[0])
    .mul(now.lastError.pow(control[1]))
    .mul(SAFETY)
    .minimum(where(now.wasRejected, 1, MOST_FACTOR))
    .maximum(LEAST_FACTOR);
  const shorter = size
    .pow(-1 / order)
    .mul(SAFETY)
    .maximum(LEAST_FACTOR);
  return h.mul(where(isTaken, steady, shorter)) as Tensor;
}

const atMost = (h: Tensor, most: number): Tensor => (Number.isFinite(most) ? h.minimum(most) : h) as Tensor;

/** Steps shorter than some roundings of the time lead nowhere. Near time 0 there is next to no rounding. */
const leastLength = (t: Tensor, end: Tensor): Tensor =>
  t
    .abs()
    .maximum(end.abs().mul(1e-12))
    .mul(t.dtype === "f64" ? 2e-15 : 1e-6) as Tensor;

/** The first length, from the sizes of the state, its slope and its curvature (Hairer, Nørsett and Wanner 1993, II.4). */
function firstLength(
  { order }: Method,
  system: System,
  t0: Tensor,
  y0: Tensor,
  slope: Tensor,
  end: Tensor,
  { rtol, atol, firstStep }: AdaptiveSettings,
): Tensor {
  if (firstStep !== undefined) return fullLike(t0, firstStep) as Tensor;
  const span = end.sub(t0) as Tensor;
  const scale = y0.abs().mul(rtol).add(atol);
  const size = (x: Tensor): Tensor => rootMeanSquare(x.div(scale) as Tensor);
  const [d0, d1] = [size(y0), size(slope)];
  const isSmall = d0.less(1e-5).logicalOr(d1.less(1e-5));
  const guess = where(isSmall, 1e-6, d0.div(where(isSmall, 1, d1)).mul(0.01)).minimum(span);
  const ahead = system(t0.add(guess) as Tensor, y0.add(slope.mul(guess)) as Tensor);
  const d2 = size(ahead.sub(slope) as Tensor).div(guess.maximum(1e-30));
  const most = d1.maximum(d2);
  const isFlat = most.lessEqual(1e-15);
  const fine = where(
    isFlat,
    guess.mul(1e-3).maximum(1e-6),
    where(isFlat, 1, most)
      .reciprocal()
      .mul(0.01)
      .pow(1 / (order + 1)),
  );
  const length = guess.mul(100).minimum(fine).minimum(span) as Tensor;
  return stopGradient(where(length.isFinite(), length, span.mul(1e-3))) as Tensor;
}

// ------------------------------------------------------------------------------------------------ backward

/** Cotangents of the first state, the times and what the system captured, from those of the states. */
function backward(
  method: Method,
  systemWith: (captured: readonly Tensor[]) => System,
  cotangent: Tensor,
  taken: Taken,
  steps: Tensor,
  y0: Tensor,
  times: Tensor,
  captured: readonly Tensor[],
) {
  const moves = captured.map(({ dtype }) => dtype.startsWith("f"));
  const sums = captured.filter((_, i) => moves[i]);
  const filled = (floats: readonly Tensor[]): Tensor[] => {
    let at = 0;
    return captured.map((each, i) => (moves[i] ? floats[at++] : each));
  };
  const last = steps.sub(1);
  const end = whileLoop(
    ({ i }) => i.greaterEqual(0) as Tensor,
    ({ i, y, t, at, own }) => {
      const h = taken.h.take(i) as Tensor;
      const isLast = i.equal(last) as Tensor;
      const replay = (y: Tensor, t: Tensor, at: Tensor, floats: readonly Tensor[]) => {
        const system = systemWith(filled(floats));
        const step = method.step(system, t, y, h, system(t, y));
        return [step.next, statesAt(method, { t, y, h, isLast }, step, at).states] as const;
      };
      const [, pull] = vjp(replay, taken.y.take(i, { axis: 0 }) as Tensor, taken.t.take(i) as Tensor, times, sums);
      const [byY, byT, byAt, byOwn] = pull([y, cotangent]) as [Tensor, Tensor, Tensor, Tensor[]];
      return {
        i: i.sub(1) as Tensor,
        y: byY,
        t: t.add(byT) as Tensor,
        at: at.add(byAt) as Tensor,
        own: own.map((each, k) => each.add(byOwn[k]) as Tensor),
      };
    },
    {
      i: last as Tensor,
      y: zerosLike(y0) as Tensor,
      t: zerosLike(times.at(0)) as Tensor,
      at: zerosLike(times) as Tensor,
      own: sums.map((each) => zerosLike(each) as Tensor),
    },
  );
  const isThere = times.equal(times.at(0)).expandDims(1);
  const isFirst = arange(0, times.size, 1, { dtype: "i32", device: times.device }).equal(0);
  let at = 0;
  return {
    y: end.y.add(where(isThere, cotangent, 0).sum({ axis: 0 })) as Tensor,
    times: end.at.add(where(isFirst, end.t, 0)) as Tensor,
    captured: moves.map((isMoving) => (isMoving ? end.own[at++] : null)),
  };
}
