/**
 * L-BFGS (Liu & Nocedal 1989): a full-batch optimiser that learns the curvature from its last steps. It asks for the function
 * itself, since a line search evaluates it several times; all of that is one compiled program. All parameters lie in one
 * vector here. The state has the history (src/linalg/limited-memory.ts).
 */
import { checkFunction, checkOptions, checkWhole } from "../../core/arguments.js";
import type { DType } from "../../core/dtype.js";
import { ShapeError } from "../../core/errors.js";
import { formatShape } from "../../core/shape.js";
import { descentDirection, emptyHistory, type History, remembered } from "../../linalg/limited-memory.js";
import { full, isTensor, type Tensor, where, zeros } from "../../tensor/index.js";
import { whileLoop } from "../../transforms/control.js";
import { valueAndGrad } from "../../transforms/grad.js";
import { type Ravelled, ravel } from "../../transforms/ravel.js";
import { type FlatParams, flatParams, type OptimizerState, partOf, scalarDType } from "./optimizer.js";
import { checkNotNegative } from "./options.js";

/** Options of `lbfgs`. */
export interface LbfgsOptions {
  /** Steps that are remembered; 10. */
  readonly memory?: number;
  /** Evaluations in one line search, at most; 25. */
  readonly evaluations?: number;
}

/** Options of `minimize`. */
export interface MinimizeOptions {
  /** Steps at most; 100. */
  readonly steps?: number;
  /** The largest element of the gradient at which the search ends; 1e-5. */
  readonly tolerance?: number;
}

/** A minimum that `minimize` found. */
export interface Minimum<P> {
  readonly params: P;
  readonly value: Tensor;
  /** The largest element of the gradient there. */
  readonly slope: Tensor;
  /** Steps that it took. */
  readonly steps: Tensor;
}

/** L-BFGS, from `lbfgs`. */
export interface Lbfgs {
  init<P>(params: P): OptimizerState;
  /** One step on a function of the parameters: the new parameters, the state, and the value there. */
  step<P>(
    f: (params: P) => Tensor,
    params: P,
    state: OptimizerState,
  ): [params: P, state: OptimizerState, value: Tensor];
  /** Steps until the gradient is small: `lbfgs().minimize(loss, params)`. */
  minimize<P>(f: (params: P) => Tensor, params: P, options?: MinimizeOptions): Minimum<P>;
}

/** Shares of the line search: of the decrease that the slope promises, and of the slope that may be left. */
const [DECREASE, CURVATURE] = [1e-4, 0.9];

/** A place, the value and the gradient there. */
interface Point {
  readonly x: Tensor;
  readonly value: Tensor;
  readonly gradient: Tensor;
}

type Evaluate = (x: Tensor) => Point;

/** L-BFGS: a full-batch optimiser with a line search. */
export function lbfgs(options: LbfgsOptions = {}): Lbfgs {
  checkOptions("lbfgs", options, { memory: "number", evaluations: "number" });
  const { memory = 10, evaluations = 25 } = options;
  checkWhole("lbfgs", "the memory", memory, 1);
  checkWhole("lbfgs", "the number of evaluations", evaluations, 1);
  const next = (evaluate: Evaluate, from: Point, history: History): [Point, History] => {
    const direction = descentDirection(from.gradient, history);
    const to = searched(evaluate, from, direction, evaluations);
    return [to, remembered(history, to.x.sub(from.x), to.gradient.sub(from.gradient))];
  };
  return {
    init: (params) => ({ ...emptyHistoryFor(flatParams("lbfgs", params), memory) }),
    step<P>(f: (params: P) => Tensor, params: P, state: OptimizerState): [P, OptimizerState, Tensor] {
      checkFunction("lbfgs", f);
      const flat = flatParams("lbfgs", params);
      const history = historyOf(state, flat, memory);
      const evaluate = evaluator(f, params);
      const [to, after] = next(evaluate, evaluate(joined(params).vector), history);
      return [joined(params).restore(to.x), { ...after }, to.value];
    },
    minimize<P>(f: (params: P) => Tensor, params: P, minimizing: MinimizeOptions = {}): Minimum<P> {
      checkFunction("lbfgs", f);
      checkOptions("minimize", minimizing, { steps: "number", tolerance: "number" });
      const { steps = 100, tolerance = 1e-5 } = minimizing;
      checkWhole("minimize", "the number of steps", steps, 0);
      checkNotNegative("minimize", "tolerance", tolerance);
      const flat = flatParams("lbfgs", params);
      const evaluate = evaluator(f, params);
      const slopeAt = (point: Point) => point.gradient.abs().max();
      const first = evaluate(joined(params).vector);
      const start = {
        point: first,
        history: emptyHistoryFor(flat, memory),
        count: countAt(flat),
        isStuck: falseAt(flat),
      };
      const end = whileLoop(
        ({ point, count, isStuck }) =>
          count.less(steps).logicalAnd(slopeAt(point).greater(tolerance)).logicalAnd(isStuck.logicalNot()),
        ({ point, history, count }) => {
          const [to, after] = next(evaluate, point, history);
          // A search that found nothing, without a history to blame, will find nothing again.
          const isStuck = to.x.equal(point.x).all().logicalAnd(history.weights.equal(0).all());
          return { point: to, history: after, count: count.add(1), isStuck };
        },
        start,
      );
      const { point, count } = end;
      return { params: joined(params).restore(point.x), value: point.value, slope: slopeAt(point), steps: count };
    },
  };
}

const optionsOf = ({ leaves }: FlatParams): { readonly dtype: DType; readonly device: string | undefined } => ({
  dtype: scalarDType(leaves),
  device: leaves[0]?.device,
});

const countAt = (flat: FlatParams): Tensor => zeros([], { ...optionsOf(flat), dtype: "i32" }) as Tensor;
const falseAt = (flat: FlatParams): Tensor => full([], false, { ...optionsOf(flat), dtype: "bool" }) as Tensor;

const joined = <P>(params: P): Ravelled<P> => ravel("lbfgs, the parameters", params);

function evaluator<P>(f: (params: P) => Tensor, params: P): Evaluate {
  const { vector, restore } = joined(params);
  const { dtype } = vector;
  const whole = (x: Tensor) => {
    const value = f(restore(x));
    if (isTensor(value) && value.size === 1) return value.reshape([]).cast(dtype) as Tensor;
    const found = isTensor(value) ? `a tensor of shape ${formatShape(value.shape)}` : `${typeof value}`;
    throw new ShapeError(`lbfgs: the function gives one number in a tensor, not ${found}.`);
  };
  return (x) => {
    const [value, gradient] = valueAndGrad(whole)(x);
    return { x, value, gradient };
  };
}

const emptyHistoryFor = (flat: FlatParams, memory: number): History =>
  emptyHistory(
    memory,
    flat.leaves.reduce((sum, leaf) => sum + leaf.size, 0),
    optionsOf(flat),
  );

function historyOf(state: OptimizerState, flat: FlatParams, memory: number): History {
  const part = (name: string) => partOf("lbfgs", state, name) as Tensor;
  const history = { steps: part("steps"), changes: part("changes"), weights: part("weights") };
  const wanted = [memory, flat.leaves.reduce((sum, leaf) => sum + leaf.size, 0)];
  if (history.steps.shape.join() === wanted.join()) return history;
  throw new ShapeError(
    `lbfgs: the history of the state is ${formatShape(history.steps.shape)}, these parameters need ${formatShape(wanted)}.`,
  );
}

/**
 * A point along the direction that fulfils Wolfe's conditions, by halving and doubling (Lewis & Overton 2013). Where none is
 * found, the point of the last evaluation if it is lower (or as low, and flatter), else the point where the search began.
 */
function searched(evaluate: Evaluate, from: Point, direction: Tensor, evaluations: number): Point {
  const slope = from.gradient.mul(direction).sum();
  const at = (length: Tensor) => evaluate(from.x.add(direction.mul(length)));
  // Values that differ by a rounding count as equal: near a minimum the gradient still tells, and values no longer do.
  const level = from.value
    .abs()
    .mul(from.value.dtype === "f64" ? 2 ** -50 : 2 ** -21)
    .add(from.value);
  const isLow = (point: Point, length: Tensor) => point.value.lessEqual(slope.mul(length).mul(DECREASE).add(level));
  const isFlat = (point: Point) => point.gradient.mul(direction).sum().greaterEqual(slope.mul(CURVATURE));
  const one = slope.mul(0).add(1);
  const end = whileLoop(
    ({ point, length, count }) =>
      count.less(evaluations).logicalAnd(isLow(point, length).logicalAnd(isFlat(point)).logicalNot()),
    ({ point, length, low, high, count }) => {
      const isFine = isLow(point, length);
      const [nextLow, nextHigh] = [where(isFine, length, low), where(isFine, high, length)];
      const middle = where(nextHigh.isFinite(), nextLow.add(nextHigh).mul(0.5), nextLow.mul(2)) as Tensor;
      return {
        point: at(middle),
        length: middle,
        low: nextLow as Tensor,
        high: nextHigh as Tensor,
        count: count.add(1),
      };
    },
    {
      point: at(one),
      length: one,
      low: one.mul(0),
      high: one.mul(Infinity),
      count: one.mul(0).add(1).cast("i32") as Tensor,
    },
  );
  const isFlatter = end.point.gradient.square().sum().less(from.gradient.square().sum());
  const isBetter = end.point.value.less(from.value).logicalOr(end.point.value.lessEqual(level).logicalAnd(isFlatter));
  const chosen = (a: Tensor, b: Tensor) => where(isBetter, a, b) as Tensor;
  return {
    x: chosen(end.point.x, from.x),
    value: chosen(end.point.value, from.value),
    gradient: chosen(end.point.gradient, from.gradient),
  };
}
